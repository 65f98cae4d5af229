// Speed of reading and printing HLO text on one core, as ratios to what the memory allows (finding
// every line, copying the text) in the same run, and to XLA's parser and printer as measured
// elsewhere. Texts: a real module, one generated in its style (--megabytes=N), files given.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "hlo/parser.h"
#include "hlo/printer.h"

namespace hv {
namespace {

// XLA's own: jaxlib 0.10.2 on the real module, measured once beside this program.
constexpr double kXlaParse = 20, kXlaPrint = 114;

struct Figures {
  std::string name;
  double megabytes = 0;
  double parse = 0, print = 0, scan = 0, copy = 0;  // MB/s
  double memory = 0;                                // multiple of the text
};

// Processor time of this thread: other load on the machine hardly matters.
double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Megabytes per second of work(prepare()), best of several runs of at least 0.3 s altogether.
template <class Prepare, class Work>
double Speed(size_t bytes, Prepare&& prepare, Work&& work) {
  double best = 1e30, total = 0;
  for (int run = 0; run < 3 || total < 0.3; ++run) {
    auto input = prepare();
    const double begin = Seconds();
    work(std::move(input));
    const double seconds = Seconds() - begin;
    best = std::min(best, seconds);
    total += seconds;
  }
  return static_cast<double>(bytes) / 1e6 / best;
}

// A module of about `bytes` bytes: the same layer of a sharded network over and over, with the
// attributes and metadata that real dumps carry.
std::string GenerateModule(size_t bytes) {
  std::string text =
      "HloModule generated, is_scheduled=true, num_partitions=8\n\n"
      "%sum (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
      "  ROOT %s = f32[] add(%x, %y)\n}\n\n"
      "ENTRY %main (p: f32[32,128]) -> f32[32,128] {\n  %out.0 = f32[32,128]{1,0} parameter(0)\n";
  size_t layer = 0;
  while (text.size() < bytes) {
    fmt::format_to(
        std::back_inserter(text),
        "  %weights.{1} = f32[128,128]{{1,0}} constant({{...}})\n"
        "  %gather.{1} = f32[128,128]{{1,0}} all-gather(%weights.{1}), channel_id={2}, "
        "replica_groups=[8,1]<=[8], dimensions={{0}}, use_global_device_ids=true, "
        "metadata={{op_name=\"jit(step)/layer_{1}/all_gather\" stack_frame_id={3}}}\n"
        "  %dot.{1} = f32[32,128]{{1,0}} dot(%out.{0}, %gather.{1}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}, metadata={{op_name=\"jit(step)/layer_{1}/dot_general\" "
        "stack_frame_id={3}}}, backend_config={{\"operation_queue_id\":\"0\"}}\n"
        "  %reduce.{1} = f32[32,128]{{1,0}} all-reduce(%dot.{1}), channel_id={2}, "
        "replica_groups={{{{0,1,2,3}},{{4,5,6,7}}}}, use_global_device_ids=true, to_apply=%sum, "
        "metadata={{op_name=\"jit(step)/layer_{1}/psum\" stack_frame_id={3}}}\n"
        "  %tanh.{1} = f32[32,128]{{1,0}} tanh(%reduce.{1}), "
        "metadata={{op_name=\"jit(step)/layer_{1}/tanh\" stack_frame_id={3}}}\n"
        "  %out.{1} = f32[32,128]{{1,0}} add(%tanh.{1}, %out.{0}), "
        "metadata={{op_name=\"jit(step)/layer_{1}/add\" stack_frame_id={3}}}\n",
        layer, layer + 1, layer % 97 + 1, layer % 50 + 1);
    ++layer;
  }
  fmt::format_to(std::back_inserter(text),
                 "  ROOT %result = f32[32,128]{{1,0}} copy(%out.{})\n}}\n", layer);
  return text;
}

Figures Measure(std::string name, const std::string& text) {
  Figures figures;
  figures.name = std::move(name);
  figures.megabytes = static_cast<double>(text.size()) / 1e6;
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  auto module = ParseModule(figures.name, text);
  if (!module) {
    fmt::print(stderr, "{}", FormatError(module.error()));
    std::exit(2);
  }
  const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  figures.memory = static_cast<double>(after - before) / static_cast<double>(text.size());
  const auto copy_text = [&text] { return text; };
  const auto nothing = [] { return 0; };
  figures.parse = Speed(text.size(), copy_text, [&](std::string input) {
    if (!ParseModule(figures.name, std::move(input))) std::exit(70);
  });
  const size_t printed = PrintModule(*module).size();
  figures.print = Speed(printed, nothing, [&](int) {
    if (PrintModule(*module).size() != printed) std::exit(70);
  });
  size_t lines = 0;
  figures.scan = Speed(text.size(), nothing, [&](int) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)))) !=
           nullptr) {
      ++at;
      ++lines;
    }
  });
  std::string copy;
  figures.copy = Speed(text.size(), nothing, [&](int) { copy = std::string(text); });
  if (lines == 0 || copy.size() != text.size()) std::exit(70);  // keeps the loops alive
  return figures;
}

void PrintTable(const std::vector<Figures>& rows) {
  fmt::print("{:<34}{:>8}{:>12}{:>8}{:>12}{:>8}{:>9}{:>12}{:>12}\n", "text", "MB", "parse MB/s",
             "x XLA", "print MB/s", "x XLA", "memory", "lines MB/s", "copy MB/s");
  for (const Figures& f : rows) {
    fmt::print("{:<34}{:>8.1f}{:>12.0f}{:>8.1f}{:>12.0f}{:>8.1f}{:>8.1f}x{:>12.0f}{:>12.0f}\n",
               f.name, f.megabytes, f.parse, f.parse / kXlaParse, f.print, f.print / kXlaPrint,
               f.memory, f.scan, f.copy);
  }
  fmt::print(
      "x XLA: against {} (parse) and {} (print) MB/s of jaxlib 0.10; memory: heap of the "
      "module per byte of text;\nlines, copy: memchr for line ends and a copy of the same "
      "text, the limits.\n",
      kXlaParse, kXlaPrint);
}

void PrintJson(const std::vector<Figures>& rows) {
  Figures worst = rows.front();
  for (const Figures& f : rows) {
    worst.parse = std::min(worst.parse, f.parse);
    worst.print = std::min(worst.print, f.print);
    worst.memory = std::max(worst.memory, f.memory);
  }
  fmt::print(
      "{{\"parse_mb_per_s\": {:.1f}, \"print_mb_per_s\": {:.1f}, "
      "\"memory_bytes_per_text_byte\": {:.2f}}}\n",
      worst.parse, worst.print, worst.memory);
}

int Main(std::span<char*> arguments) {
  bool json = false;
  size_t megabytes = 24;
  std::vector<std::string> paths = {HV_TEST_DATA
                                    "/real/modules/transformer_deep_fsdp_tp_late/module.hlo"};
  for (std::string_view argument : arguments) {
    if (argument == "--json") {
      json = true;
    } else if (argument.substr(0, 12) == "--megabytes=") {
      megabytes = std::strtoul(argument.data() + 12, nullptr, 10);
    } else if (argument.substr(0, 1) != "-") {
      paths.emplace_back(argument);
    } else {
      fmt::print(stderr, "usage: bench_parse [--json] [--megabytes=N] [file.hlo]...\n");
      return 2;
    }
  }
  std::vector<Figures> rows;
  for (const std::string& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    rows.push_back(Measure(std::filesystem::path(path).parent_path().filename(), text.str()));
  }
  rows.push_back(Measure("generated", GenerateModule(megabytes << 20)));
  if (json) {
    PrintJson(rows);
  } else {
    PrintTable(rows);
  }
  return 0;
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main({argv + 1, static_cast<size_t>(argc - 1)}); }
