// What a verification costs: one scenario, and one with nothing to do, from a cold start, with and
// without a launcher, against programs that do nothing; and many small scenarios in one job. Runs
// verify_rewrite, which stands beside this program, and itself under mpirun.
#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/mpi_session.h"
#include "verify/verify.h"

namespace hv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kScenarios = 1000;
constexpr int64_t kRanks = 8;
constexpr double kColdBar = 0.050, kRateBar = 500;     // seconds, scenarios per second
constexpr double kNothingBar = 0.010;                  // seconds
constexpr double kJobBar = 1.2, kNothingJobBar = 0.6;  // of a job that does nothing

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// All-reduce and slice against reduce-scatter, 2 to 8 devices, shard sizes 1 to 16.
Scenario MakeScenario(int64_t i) {
  const int64_t devices = 2 + i % 7, shard = 1 + i % 16;
  std::string group;
  for (int64_t d = 0; d < devices; ++d) group += (d > 0 ? "," : "") + std::to_string(d);
  const std::string head = fmt::format(
      "HloModule m{0}, num_partitions={1}\n"
      "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}\n"
      "ENTRY e {{\n  x = f32[{2}] parameter(0)\n",
      i, devices, devices * shard);
  Scenario scenario;
  scenario.name = "s" + std::to_string(i);
  scenario.before.label = scenario.after.label = "generated";
  scenario.before.text =
      head + fmt::format(
                 "  ar = f32[{0}] all-reduce(x), channel_id=1, replica_groups={{{{{1}}}}}, "
                 "use_global_device_ids=true, to_apply=sum\n"
                 "  p = u32[] partition-id()\n  s = u32[] constant({2})\n"
                 "  o = u32[] multiply(p, s)\n  ROOT d = f32[{2}] dynamic-slice(ar, o), "
                 "dynamic_slice_sizes={{{2}}}\n}}\n",
                 devices * shard, group, shard);
  scenario.after.text =
      head + fmt::format(
                 "  ROOT d = f32[{0}] reduce-scatter(x), channel_id=2, dimensions={{0}}, "
                 "replica_groups={{{{{1}}}}}, use_global_device_ids=true, to_apply=sum\n"
                 "}}\n",
                 shard, group);
  return scenario;
}

using Words = std::vector<std::string>;

// Wall seconds of a command, its output dropped.
double TimeOnce(Words words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fmt::print(stderr, "{} failed\n", fmt::join(words, " "));
    std::exit(kExitInternal);
  }
  return SecondsSince(start);
}

// The median of `runs` of each command; they take turns.
std::vector<double> TimeCommands(const std::vector<Words>& commands, size_t runs) {
  std::vector<std::vector<double>> seconds(commands.size());
  for (size_t run = 0; run < runs; ++run) {
    for (size_t c = 0; c < commands.size(); ++c) seconds[c].push_back(TimeOnce(commands[c]));
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : seconds) {
    std::sort(of_one.begin(), of_one.end());
    medians.push_back(of_one[runs / 2]);
  }
  return medians;
}

Words UnderMpirun(Words command) {
  Words words = {"mpirun", "--oversubscribe", "--allow-run-as-root", "-n", std::to_string(kRanks)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Under a launcher: one job verifies all; rank 0 prints the rate alone.
int RunMany() {
  auto session = StartSession();
  if (!session) return kExitInternal;
  std::vector<Scenario> scenarios;
  for (int64_t i = 0; i < kScenarios; ++i) scenarios.push_back(MakeScenario(i));
  (*session)->transport().Barrier();
  const auto start = Clock::now();
  const Report report = Verify(scenarios, {}, &(*session)->transport());
  const double rate = static_cast<double>(kScenarios) / SecondsSince(start);
  if ((*session)->IsFirst()) fmt::print("{}\n", rate);
  return report.exit_code;
}

int RunEmpty() { return StartSession() ? 0 : kExitInternal; }

// A program that sets nothing, as most are.
int RunDefaults() {
  MPI_Init(nullptr, nullptr);
  MPI_Finalize();
  return 0;
}

double RateUnderMpirun(const std::string& self) {
  std::string command;
  for (const std::string& word : UnderMpirun({self, "--many"})) command += "'" + word + "' ";
  FILE* pipe = popen(command.c_str(), "r");
  double rate = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &rate) != 1 || pclose(pipe) != 0) {
    std::exit(kExitInternal);
  }
  return rate;
}

void PrintTime(const char* what, double seconds, double limit) {
  fmt::print("{:<66}{:>9.1f} ms{:>9.1f} ms{:>9.2f}\n", what, seconds * 1e3, limit * 1e3,
             seconds / limit);
}

int Measure(const std::string& self, bool json) {
  const std::string program =
      (std::filesystem::path(self).parent_path() / "verify_rewrite").string();
  const std::string same = HV_SOURCE_DIR "/scenarios/hlo/swap_p2.hlo";
  const Words scenario = {program, HV_SOURCE_DIR "/scenarios/truth-01-single-group-p8.json"};
  const Words nothing = {program, same, same};
  const std::vector<double> alone = TimeCommands({{"/bin/true"}, scenario, nothing}, 21);
  const std::vector<double> jobs =
      TimeCommands({UnderMpirun({self, "--defaults"}), UnderMpirun({self, "--empty"}),
                    UnderMpirun(scenario), UnderMpirun(nothing)},
                   5);
  const double rate = RateUnderMpirun(self);
  if (json) {
    fmt::print(
        "{{\"cold_seconds\": {:.6f}, \"nothing_seconds\": {:.6f}, \"process_seconds\": {:.6f}, "
        "\"mpirun_seconds\": {:.4f}, \"mpirun_nothing_seconds\": {:.4f}, "
        "\"mpirun_empty_seconds\": {:.4f}, \"mpirun_defaults_seconds\": {:.4f}, "
        "\"scenarios_per_second\": {:.1f}}}\n",
        alone[1], alone[2], alone[0], jobs[2], jobs[3], jobs[1], jobs[0], rate);
    return 0;
  }
  fmt::print("{:<66}{:>12}{:>12}{:>9}\n", "", "measured", "limit", "ratio");
  PrintTime("one scenario, cold, no launcher", alone[1], kColdBar);
  PrintTime("  against a process that does nothing", alone[1], alone[0]);
  PrintTime("a module against itself, no launcher", alone[2], kNothingBar);
  PrintTime("one scenario, mpirun -n 8; limit: 1.2 of an empty job", jobs[2], kJobBar * jobs[1]);
  PrintTime("a module against itself, mpirun -n 8; limit: 0.6 of a default job", jobs[3],
            kNothingJobBar * jobs[0]);
  fmt::print("{:<66}{:>10.0f}/s{:>10.0f}/s{:>9.2f}\n", "1000 small scenarios, one mpirun -n 8",
             rate, kRateBar, rate / kRateBar);
  return 0;
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--many") return RunMany();
  if (mode == "--empty") return RunEmpty();
  if (mode == "--defaults") return RunDefaults();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return Measure(self, mode == "--json");
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main(argc, argv); }
