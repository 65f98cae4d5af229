// What a proof costs: an all-reduce and slice against what the guarded pass makes of it, over
// devices, groups and sizes; and a training step of 40 000 instructions on 512 devices against the
// same, with and without a planted fault, through verify_rewrite, which stands beside this program.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/philox.h"
#include "bench/training_step.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "passes/registry.h"
#include "verify/prover.h"

namespace hv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr char kPass[] = "all_reduce_dynamic_slice_to_reduce_scatter";

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

enum class Groups : uint8_t { kSingle, kStrided, kAxis, kIrregular };

struct Line {
  const char* name;
  Groups groups;
  int64_t devices, shard;
  double limit;  // seconds; 0: none
};

std::string List(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

// Groups of eight (or one of all) as text, and every device's position in its group.
std::string GroupsOf(const Line& line, std::vector<int64_t>* position) {
  const int64_t d = line.devices, width = line.groups == Groups::kSingle ? d : 8;
  position->resize(static_cast<size_t>(d));
  std::vector<int64_t> ids(static_cast<size_t>(d));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  if (line.groups == Groups::kStrided) {
    for (int64_t i = 0; i < d; ++i) (*position)[static_cast<size_t>(i)] = i / (d / 8);
    return fmt::format("[{0},8]<=[8,{0}]T(1,0)", d / 8);
  }
  if (line.groups == Groups::kAxis) {  // the middle one of three axes
    for (int64_t i = 0; i < d; ++i) (*position)[static_cast<size_t>(i)] = i / 2 % 8;
    return fmt::format("[{},8]<=[{},8,2]T(0,2,1)", d / 8, d / 16);
  }
  if (line.groups == Groups::kIrregular) {
    const CounterRng rng(1, 0);
    for (size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[rng.Word(i) % i]);
  }
  std::string text = "{";
  for (int64_t g = 0; g < d; g += width) {
    const std::vector<int64_t> group(ids.begin() + g, ids.begin() + g + width);
    for (int64_t k = 0; k < width; ++k) {
      (*position)[static_cast<size_t>(group[static_cast<size_t>(k)])] = k;
    }
    text += (g > 0 ? ",{" : "{") + List(group) + "}";
  }
  return text + "}";
}

std::string ModuleOf(const Line& line) {
  std::vector<int64_t> position;
  const std::string groups = GroupsOf(line, &position);
  const int64_t width = line.groups == Groups::kSingle ? line.devices : 8;
  return fmt::format(
      "HloModule m, num_partitions={0}\n"
      "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}\n"
      "ENTRY e {{\n  x = f32[{1}] parameter(0)\n"
      "  ar = f32[{1}] all-reduce(x), channel_id=1, replica_groups={2}, "
      "use_global_device_ids=true, to_apply=sum\n"
      "  p = u32[] partition-id()\n  t = s64[{0}] constant({{{3}}})\n"
      "  e = s64[1] dynamic-slice(t, p), dynamic_slice_sizes={{1}}\n  k = s64[] reshape(e)\n"
      "  s = s64[] constant({4})\n  o = s64[] multiply(k, s)\n"
      "  ROOT d = f32[{4}] dynamic-slice(ar, o), dynamic_slice_sizes={{{4}}}\n}}\n",
      line.devices, width * line.shard, groups, List(position), line.shard);
}

// The best of three, in seconds of the processor: a proof is one thread.
bool MeasureLine(const Line& line, bool json) {
  auto before = ParseModule("generated", ModuleOf(line));
  const auto calls = ParsePasses(kPass);
  if (!before || !calls) return false;
  const Module after = RunPasses(*calls, *before, {1, line.devices}).module;
  double best = 1e9;
  ProofResult result;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    result = ProvePair(*before, after, {1, line.devices}, {});
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const bool good = result.outcome == ProofOutcome::kProved &&
                    after.Entry().Root().opcode == Opcode::kReduceScatter;
  const std::string key =
      fmt::format("{}_{}_devices_shard_{}", line.name, line.devices, line.shard);
  if (json) {
    fmt::print("\"{}_seconds\": {:.6f}, ", key, best);
  } else {
    fmt::print("{:<12}{:>8} devices  f32[{:>14}]{:>12.2f} ms{:>10} {}\n", line.name, line.devices,
               line.shard * (line.groups == Groups::kSingle ? line.devices : 8), best * 1e3,
               line.limit > 0 ? fmt::format("{:.2f}", best / line.limit) : "",
               good ? "" : "NOT PROVED: " + result.reason.substr(0, 60));
  }
  return good;
}

// In a process of its own, as a user's proof is: the heap is nobody's before.
bool MeasureApart(const Line& line, bool json) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = MeasureLine(line, json);
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

struct Cost {
  double seconds = 0, mebibytes = 0;
  int code = 0;
};

Cost RunProgram(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) execv(raw[0], raw.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  return {SecondsSince(start), static_cast<double>(usage.ru_maxrss) / 1024,
          WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

// One reduce-scatter in the middle gets the groups of the other axis.
std::string WithFault(const std::string& text) {
  const std::string right = "replica_groups=[8,64]<=[64,8]T(1,0)";
  size_t at = text.find("reduce-scatter(", text.size() / 2);
  at = text.find(right, at);
  if (at == std::string::npos) return text;
  std::string faulty = text;
  return faulty.replace(at, right.size(), "replica_groups=[8,64]<=[512]");
}

bool MeasureStep(const std::string& self, bool json) {
  TrainingStepSizes sizes;
  sizes.layers = 102;
  const std::string text = TrainingStep(sizes).Write();
  auto before = ParseModule("generated", text);
  const auto calls = ParsePasses(kPass);
  if (!before || !calls) return false;
  const size_t instructions = before->Entry().instructions.size();
  const std::string after = PrintModule(RunPasses(*calls, *before, {1, 512}).module);
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_proof.{}", getpid());
  fs::create_directories(folder);
  const auto write = [&](const char* name, const std::string& content) {
    std::ofstream(folder / name) << content;
    return (folder / name).string();
  };
  const std::string b = write("before.hlo", text), a = write("after.hlo", after),
                    f = write("faulty.hlo", WithFault(after));
  const std::string program = (fs::path(self).parent_path() / "verify_rewrite").string();
  const Cost good = RunProgram(program, {b, a}), bad = RunProgram(program, {b, f});
  fs::remove_all(folder);
  if (json) {
    fmt::print(
        "\"step_instructions\": {}, \"step_seconds\": {:.4f}, \"step_mebibytes\": {:.1f}, "
        "\"faulty_step_seconds\": {:.4f}",
        instructions, good.seconds, good.mebibytes, bad.seconds);
  } else {
    fmt::print("\n{} instructions on 512 devices, through verify_rewrite\n", instructions);
    fmt::print("{:<40}{:>9.2f} s (limit 2){:>9.0f} MiB (limit 1024), exit code {}\n",
               "  against the guarded pass", good.seconds, good.mebibytes, good.code);
    fmt::print("{:<40}{:>9.2f} s          {:>9.0f} MiB             , exit code {}\n",
               "  with one wrong group", bad.seconds, bad.mebibytes, bad.code);
  }
  return good.code == 0 && bad.code == 11;
}

int Main(int argc, char** argv) {
  const bool json = argc > 1 && std::string(argv[1]) == "--json";
  std::vector<Line> lines;
  for (int64_t devices = 8; devices <= 65536; devices *= 8) {
    const double limit = devices == 4096 ? 0.050 : 0;
    lines.push_back({"single", Groups::kSingle, devices, 1, limit});
    lines.push_back({"strided", Groups::kStrided, std::max<int64_t>(devices, 16), 1, limit});
    lines.push_back({"axis", Groups::kAxis, std::max<int64_t>(devices, 16), 1, limit});
  }
  lines.push_back({"single", Groups::kSingle, 65536, 1, 1.0});
  lines.push_back({"strided", Groups::kStrided, 65536, 1, 1.0});
  lines.push_back({"axis", Groups::kAxis, 65536, 1, 1.0});
  lines.push_back({"strided", Groups::kStrided, 4096, int64_t{1} << 37, 0.050});
  lines.push_back({"single", Groups::kSingle, 4096, int64_t{1} << 28, 0.050});
  lines.push_back({"irregular", Groups::kIrregular, 512, 1, 0});
  lines.push_back({"irregular", Groups::kIrregular, 4096, 1, 1.0});
  bool good = true;
  fmt::print("{}",
             json ? "{" : "groups       devices           array          time     of limit\n");
  for (const Line& line : lines) good = MeasureApart(line, json) && good;
  good = MeasureStep(std::filesystem::read_symlink("/proc/self/exe").string(), json) && good;
  if (json) fmt::print("}}\n");
  return good ? 0 : 10;
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main(argc, argv); }
