// calibrate: what `this-node` costs. Times collectives, additions and products on this engine over
// many sizes, fits a machine's latency, rates and cache to every second size by least squares, and
// says how well the machine predicts the sizes it was not fitted to. The machine goes to a file for
// --machine.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/calibration.h"
#include "sim/collective_timing.h"
#include "sim/timing.h"
#include "tools/command_line.h"
#include "tools/output_file.h"
#include "tools/program.h"
#include "verify/report_model.h"

namespace hv {
namespace {

constexpr double kGoal = 0.25;  // median error of sizes left out
constexpr int64_t kLeast = 1 << 10;
constexpr TimedOp kOps[] = {TimedOp::kAllReduce, TimedOp::kReduceScatter, TimedOp::kAllGather,
                            TimedOp::kAllToAll,  TimedOp::kPermute,       TimedOp::kAdd};

struct Flags {
  int64_t devices = 8, rounds = 9;
  int64_t most = 16 << 20;
  std::string output;
};

// A sample, and what the fitted machine says.
struct Line {
  Sample sample;
  bool held_out = false;
  double predicted = 0;
  double error() const { return std::abs(predicted / sample.seconds - 1); }
};

// Every op at every size; each second size is held out.
Result<std::vector<Line>> Measure(const Flags& flags, Transport* transport) {
  std::vector<Line> lines;
  bool held_out = false;
  for (int64_t bytes = kLeast; bytes <= flags.most; bytes *= 2, held_out = !held_out) {
    HV_ASSIGN(
        const std::vector<double> seconds,
        MeasuredSeconds(kOps, flags.devices, bytes, static_cast<int>(flags.rounds), transport));
    for (size_t k = 0; k < seconds.size(); ++k) {
      lines.push_back({{kOps[k], bytes, seconds[k]}, held_out, 0});
    }
  }
  return lines;
}

Status Predict(const Machine& machine, int64_t devices, std::vector<Line>* lines) {
  for (Line& line : *lines) {
    HV_ASSIGN(line.predicted, ModelledSeconds(line.sample.op, devices, line.sample.bytes, machine));
  }
  return {};
}

double MedianError(const std::vector<Line>& lines, bool held_out) {
  std::vector<double> errors;
  for (const Line& line : lines) {
    if (line.held_out == held_out) errors.push_back(line.error());
  }
  return MedianOf(std::move(errors));
}

std::string Table(const std::vector<Line>& lines) {
  std::string text = fmt::format("{:>12}  {:<20}{:>14}{:>14}{:>9}\n", "bytes", "", "measured",
                                 "predicted", "error");
  for (const Line& line : lines) {
    text +=
        fmt::format("{:>12}  {:<20}{:>11.2f} us{:>11.2f} us{:>7.0f} %{}\n", line.sample.bytes,
                    kTimedOpNames[static_cast<size_t>(line.sample.op)], line.sample.seconds * 1e6,
                    line.predicted * 1e6, 100 * line.error(), line.held_out ? "" : "  fitted");
  }
  const double error = MedianError(lines, true);
  return text + fmt::format(
                    "median error of the sizes fitted {:.0f} %, of those left out {:.0f} % "
                    "(goal {:.0f} %: {})\n",
                    100 * MedianError(lines, false), 100 * error, 100 * kGoal,
                    error <= kGoal ? "met" : "missed");
}

Status Calibrate(const Flags& flags, int64_t ranks, std::vector<Line> lines) {
  std::vector<Sample> fitted;
  for (const Line& line : lines) {
    if (!line.held_out) fitted.push_back(line.sample);
  }
  const Machine machine = FitMachine(fitted, flags.devices);
  HV_RETURN_IF_ERROR(Predict(machine, flags.devices, &lines));
  HV_RETURN_IF_ERROR(WriteOutput("-", Table(lines)));
  if (flags.output.empty()) return {};
  const std::string source =
      fmt::format("fitted by calibrate: {} devices on {}, fastest of {} rounds of each size",
                  flags.devices, CountOf(ranks, "rank"), flags.rounds);
  return WriteOutput(flags.output, MachineText(machine, source));
}

int Run(const Flags& flags, Session* session) {
  auto lines = Measure(flags, &session->transport());
  if (!lines) return Fail(lines.error(), session->IsFirst());
  if (!session->IsFirst()) return kExitOk;
  const Status done = Calibrate(flags, session->transport().size(), std::move(*lines));
  return done ? kExitOk : Fail(done.error(), true);
}

int Main(int argc, char** argv) {
  Flags flags;
  Workers workers;
  CommandLine line("calibrate", "Fits the machine this-node to times measured on this engine.");
  workers.Declare(&line);
  line.Integer("--devices", &flags.devices, "devices of the mesh (8)");
  line.Integer("--rounds", &flags.rounds, "runs of each size (9)");
  line.Bytes("--most", &flags.most, "largest array, e.g. 16MiB");
  line.Text("--output", &flags.output, "write the machine to this file");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  if (flags.devices < 2 || flags.devices > kLeast / 4 || flags.rounds < 1 ||
      flags.most < 16 * kLeast) {
    return Fail(Invalid("flag-value",
                        "--devices must be 2 to 256, --rounds positive, --most at "
                        "least 16KiB")
                    .value(),
                IsFirstLaunched());
  }
  return RunOnRanks(workers, {}, argc, argv, [&](Session* session) { return Run(flags, session); });
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  hv::PrepareStreams();
  return hv::Main(argc, argv);
}
