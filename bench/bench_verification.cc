// What a verification costs: one scenario from a cold start, with and without a launcher, against
// the cheapest program that does nothing; and many small scenarios in one job. Runs verify_rewrite,
// which stands beside this program, and itself under mpirun.
#include <fmt/format.h>
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
constexpr double kColdBar = 0.050, kRateBar = 500;  // seconds, scenarios per second

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

// Runs a command, its output dropped; wall seconds, the median of `runs`.
double TimeCommand(std::vector<std::string> words, int runs) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    const pid_t child = fork();
    if (child == 0) {
      if (std::freopen("/dev/null", "w", stdout) != nullptr) {
        execvp(arguments[0], arguments.data());
      }
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fmt::print(stderr, "{} failed\n", fmt::join(words, " "));
      std::exit(70);
    }
    seconds.push_back(SecondsSince(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

std::vector<std::string> UnderMpirun(std::vector<std::string> command) {
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "--allow-run-as-root", "-n",
                                    std::to_string(kRanks)};
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

int Measure(const std::string& self, const std::string& scenario, bool json) {
  const std::string program =
      (std::filesystem::path(self).parent_path() / "verify_rewrite").string();
  const double nothing = TimeCommand({"/bin/true"}, 21);
  const double cold = TimeCommand({program, scenario}, 21);
  const double empty_job = TimeCommand(UnderMpirun({self, "--empty"}), 5);
  const double job = TimeCommand(UnderMpirun({program, scenario}), 5);
  const double rate = RateUnderMpirun(self);
  if (json) {
    fmt::print(
        "{{\"cold_seconds\": {:.6f}, \"process_seconds\": {:.6f}, \"mpirun_seconds\": {:.4f}, "
        "\"mpirun_empty_seconds\": {:.4f}, \"scenarios_per_second\": {:.1f}}}\n",
        cold, nothing, job, empty_job, rate);
    return 0;
  }
  fmt::print("{:<52}{:>12}{:>12}{:>9}\n", "", "measured", "limit", "ratio");
  fmt::print("{:<52}{:>9.1f} ms{:>9.1f} ms{:>9.2f}\n", "one scenario, cold, no launcher",
             cold * 1e3, kColdBar * 1e3, cold / kColdBar);
  fmt::print("{:<52}{:>9.1f} ms{:>9.1f} ms{:>9.2f}\n", "  against a process that does nothing",
             cold * 1e3, nothing * 1e3, cold / nothing);
  fmt::print("{:<52}{:>9.1f} ms{:>9.1f} ms{:>9.2f}\n",
             "one scenario, mpirun -n 8, against an empty job", job * 1e3, empty_job * 1e3,
             job / empty_job);
  fmt::print("{:<52}{:>10.0f}/s{:>10.0f}/s{:>9.2f}\n", "1000 small scenarios, one mpirun -n 8",
             rate, kRateBar, rate / kRateBar);
  return 0;
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--many") return RunMany();
  if (mode == "--empty") return RunEmpty();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return Measure(self, HV_SOURCE_DIR "/scenarios/truth-01-single-group-p8.json", mode == "--json");
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main(argc, argv); }
