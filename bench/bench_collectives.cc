// What moving the data of collectives costs: every collective between ranks of one node, against
// Open MPI's own in the same job and against the memory floor (the same bytes moved by one rank on
// private memory, nobody waited for). All contestants of a row take turns; ranks are bound to
// cores; a figure is the median of the repeats, each the slowest rank's. Sizes are bytes of the
// full array per rank.
//
//   bench_collectives [--json] [-n RANKS] [--min=BYTES] [--max=BYTES] [--repeats=N]
// starts its ranks itself
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/collective_contest.h"
#include "sim/mpi_session.h"

namespace hv {
namespace {

// The goals: at least so many times faster than what Open MPI does, from one size to another.
struct Goal {
  const char* ours;
  const char* peer;
  int64_t from, to;
  double least;
};

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr Goal kGoals[] = {
    {"reduce-scatter", "mpi reduce-scatter", kKiB, kKiB, 3},
    {"reduce-scatter", "mpi reduce-scatter", 16 * kKiB, kMiB, 7},
    {"reduce-scatter", "mpi reduce-scatter", 4 * kMiB, 4 * kMiB, 8},
    {"reduce-scatter", "mpi reduce-scatter", 16 * kMiB, 64 * kMiB, 5},
    {"reduce-scatter", "mpi reduce-scatter, untuned", 16 * kMiB, 64 * kMiB, 10},
    {"reduce-scatter", "floor of reducing", kMiB, kMiB, 1 / 1.6},
    {"reduce-scatter", "floor of reducing", 64 * kMiB, 64 * kMiB, 1 / 1.25},
    {"all-reduce", "mpi all-reduce", kKiB, kKiB, 2},
    {"all-reduce", "mpi all-reduce", 16 * kKiB, 256 * kKiB, 5},
    {"all-reduce", "mpi all-reduce", kMiB, kMiB, 4},
    {"all-reduce", "mpi all-reduce", 4 * kMiB, 4 * kMiB, 2.7},
    {"all-reduce", "mpi all-reduce", 64 * kMiB, 64 * kMiB, 2.5},
    {"all-reduce, result shared", "mpi all-reduce", 16 * kKiB, 64 * kMiB, 7},
    {"all-gather", "mpi all-gather", 16 * kKiB, kMiB, 2.7},
    {"all-gather", "mpi all-gather", 64 * kMiB, 64 * kMiB, 1.25},
    {"all-gather", "floor of copying", 64 * kMiB, 64 * kMiB, 1 / 1.2},
    {"all-to-all", "mpi all-to-all", 16 * kKiB, kMiB, 2.7},
    {"all-to-all", "mpi all-to-all", 64 * kMiB, 64 * kMiB, 1.25},
    {"all-to-all", "floor of copying", 64 * kMiB, 64 * kMiB, 1 / 1.2},
    {"permute", "mpi permute", 16 * kKiB, kMiB, 2.7},
    {"permute", "mpi permute", 64 * kMiB, 64 * kMiB, 1.25},
    {"permute", "floor of copying", 64 * kMiB, 64 * kMiB, 1 / 1.2},
    {"reduce-scatter by messages", "mpi reduce-scatter", 256 * kKiB, 256 * kKiB, 1.1},
    {"reduce-scatter by messages", "mpi reduce-scatter", 4 * kMiB, 64 * kMiB, 1.6},
    {"reduce-scatter by messages", "mpi reduce-scatter, untuned", 64 * kMiB, 64 * kMiB, 4},
    {"barrier and signature", "mpi barrier", 0, 0, 2},
    {"barrier and signature", "barrier", 0, 0, 1 / 1.05},
    {"reduce-scatter, 2 ranks", "reduce-scatter", kKiB, kKiB, 10},
};

std::string SizeName(int64_t bytes) {
  if (bytes >= kMiB) return fmt::format("{}MiB", bytes / kMiB);
  return bytes >= kKiB ? fmt::format("{}KiB", bytes / kKiB) : "empty";
}

std::string JsonName(const std::string& contestant, int64_t bytes) {
  std::string name;
  for (const char c : contestant) {
    if (c != ',') name += c == ' ' || c == '-' ? '_' : c;
  }
  return name + "_" + SizeName(bytes) + "_us";
}

void PrintRow(const ContestRow& row) {
  fmt::print("{}\n", SizeName(row.bytes));
  for (const auto& [name, seconds] : row.seconds) {
    fmt::print("  {:<34}{:>12.2f} us\n", name, seconds * 1e6);
  }
}

void PrintGoals(const std::vector<ContestRow>& rows) {
  fmt::print("\n{:<10}{:<62}{:>8}{:>8}\n", "size", "how many times as fast", "goal", "here");
  for (const Goal& goal : kGoals) {
    for (const ContestRow& row : rows) {
      const double ours = row.Of(goal.ours), peer = row.Of(goal.peer);
      if (row.bytes < goal.from || row.bytes > goal.to || ours == 0 || peer == 0) continue;
      const double ratio = peer / ours;
      fmt::print("{:<10}{:<62}{:>8.2f}{:>8.2f}  {}\n", SizeName(row.bytes),
                 fmt::format("{} than {}", goal.ours, goal.peer), goal.least, ratio,
                 ratio >= goal.least
                     ? "met"
                     : fmt::format("missed by {:.0f} %", 100 * (1 - ratio / goal.least)));
    }
  }
}

void PrintJson(const std::vector<ContestRow>& rows) {
  std::string document;
  for (const ContestRow& row : rows) {
    for (const auto& [name, seconds] : row.seconds) {
      document += fmt::format("{}\"{}\": {:.3f}", document.empty() ? "" : ", ",
                              JsonName(name, row.bytes), seconds * 1e6);
    }
  }
  fmt::print("{{{}}}\n", document);
}

bool ReadNumber(std::string_view text, std::string_view flag, int64_t* number) {
  if (!text.starts_with(flag)) return false;
  text.remove_prefix(flag.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number > 0;
}

// Becomes mpirun with this program on `ranks` ranks; returns only if that fails.
int Launch(int64_t ranks, int argc, char** argv) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"}) {
    setenv(name, "1", 0);
  }
  std::string count = std::to_string(ranks);
  char launcher[] = "mpirun", quiet[] = "--quiet", ranks_flag[] = "-n";
  std::vector<char*> words{launcher, quiet, ranks_flag, count.data()};
  words.insert(words.end(), argv, argv + argc);
  words.push_back(nullptr);
  execvp("mpirun.openmpi", words.data());
  execvp("mpirun", words.data());
  fmt::print(stderr, "error: mpirun was not found\n");
  return 2;
}

int Main(int argc, char** argv) {
  bool json = false;
  int64_t ranks = 8, least = kKiB, most = 64 * kMiB, repeats = 7;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      json = true;
    } else if (word == "-n" && i + 1 < argc && ReadNumber(argv[i + 1], "", &ranks)) {
      ++i;
    } else if (!ReadNumber(word, "--min=", &least) && !ReadNumber(word, "--max=", &most) &&
               !ReadNumber(word, "--repeats=", &repeats)) {
      fmt::print(stderr, "usage: {} [--json] [-n RANKS] [--min=BYTES] [--max=BYTES] [--repeats=N]\n", argv[0]);
      return 2;
    }
  }
  if (LaunchedRanks() == 0) return Launch(ranks, argc, argv);
  auto session = StartSession();
  if (!session || (*session)->transport().node() == nullptr) {
    fmt::print(stderr, "the ranks share no memory\n");
    return 2;
  }
  std::vector<ContestRow> rows = {
      RaceBarriers(&(*session)->transport(), static_cast<int>(repeats))};
  const bool speaks = (*session)->IsFirst();
  if (speaks && !json) PrintRow(rows[0]);
  for (int64_t bytes = kKiB; bytes <= most; bytes *= bytes == kMiB / 4 ? 4
                                                     : bytes < kMiB    ? 16
                                                                       : 4) {
    if (bytes < least) continue;
    rows.push_back(RaceCollectives(&(*session)->transport(), bytes, static_cast<int>(repeats)));
    if (speaks && !json) PrintRow(rows.back());
    std::fflush(stdout);
  }
  if (speaks) json ? PrintJson(rows) : PrintGoals(rows);
  return 0;
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main(argc, argv); }
