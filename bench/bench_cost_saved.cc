// What all-reduce + dynamic-slice -> reduce-scatter saves: modelled on machines (the headline) beside what
// this engine measures for the same two modules on the same transport, over sizes and devices. Measured
// and modelled for this-node must agree on which side is cheaper.
//
//   bench_cost_saved [--json] [-n RANKS] [--threads=N] [--machines=A,B] [--this-node=FILE] [--most=BYTES]
//                    [--csv=FILE] [--html=FILE]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/cost_saved_plot.h"
#include "sim/collective_timing.h"
#include "tools/command_line.h"
#include "tools/output_file.h"
#include "tools/program.h"
#include "verify/report_model.h"

namespace hv {
namespace {

constexpr int64_t kMostMeasured = int64_t{2} << 30;  // bytes of all operands and results
constexpr int kRounds = 7;
constexpr double kClear = 1.1;  // sides that differ by less have no order

struct Flags {
  std::string machines = "h100-8,h100-pod,trn2,tpu-v5p", this_node = "this-node", csv, html, json;
  int64_t most = 64 << 20, devices = 64;
};

constexpr TimedOp kSides[] = {TimedOp::kAllReduceSlice, TimedOp::kReduceScatter};

Result<CostSaved> Modelled(int64_t devices, int64_t bytes, const Machine& machine) {
  HV_ASSIGN(const double before, ModelledSeconds(kSides[0], devices, bytes, machine));
  HV_ASSIGN(const double after, ModelledSeconds(kSides[1], devices, bytes, machine));
  return CostSaved{before, after};
}

Result<std::vector<CostSavedRow>> Rows(const Flags& flags, const std::vector<Machine>& machines,
                                       const Machine& here, Transport* transport) {
  std::vector<CostSavedRow> rows;
  for (int64_t devices = 2; devices <= flags.devices; devices *= 2) {
    for (int64_t bytes = 1024; bytes <= flags.most; bytes *= 4) {
      CostSavedRow row{devices, bytes, {}, {}, {}};
      for (const Machine& machine : machines) {
        row.modelled.emplace_back();
        if (machine.capacity() < devices) continue;
        HV_ASSIGN(row.modelled.back(), Modelled(devices, bytes, machine));
      }
      HV_ASSIGN(row.here, Modelled(devices, bytes, here));
      if (2 * bytes * devices <= kMostMeasured) {
        HV_ASSIGN(const std::vector<double> seconds,
                  MeasuredSeconds(kSides, devices, bytes, kRounds, transport));
        row.measured = CostSaved{seconds[0], seconds[1]};
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string Cell(const std::optional<CostSaved>& saved) {
  if (!saved) return "-";
  return fmt::format("{:.1f} -> {:.1f} us (x {:.2f})", saved->before * 1e6, saved->after * 1e6,
                     saved->ratio());
}

std::string Table(const std::vector<CostSavedRow>& rows, const std::vector<Machine>& machines) {
  std::string text = "all-reduce + dynamic-slice -> reduce-scatter, modelled (ratio after / before)\n";
  text += fmt::format("{:>8}{:>10}", "devices", "bytes");
  for (const Machine& machine : machines) text += fmt::format("  {:>29}", machine.name);
  text += fmt::format("  {:>33}\n", "measured on this engine");
  for (const CostSavedRow& row : rows) {
    text += fmt::format("{:>8}{:>10}", row.devices, row.bytes);
    for (const auto& saved : row.modelled) text += fmt::format("  {:>29}", Cell(saved));
    text += fmt::format("  {:>33}\n", Cell(row.measured));
  }
  return text;
}

// Rows whose sides differ clearly when measured, and how many of them the model puts the right way round.
struct Order {
  int clear = 0, right = 0;
};
Order OrderOf(const std::vector<CostSavedRow>& rows) {
  Order order;
  for (const CostSavedRow& row : rows) {
    if (!row.measured) continue;
    const double ratio = row.measured->ratio();
    if (ratio < kClear && ratio > 1 / kClear) continue;
    ++order.clear;
    order.right += (ratio < 1) == (row.here->ratio() < 1);
  }
  return order;
}

std::string Csv(const std::vector<CostSavedRow>& rows, const std::vector<Machine>& machines) {
  std::string text = "devices,bytes,machine,before_seconds,after_seconds\n";
  const auto add = [&](const CostSavedRow& row, const std::string& name,
                       const std::optional<CostSaved>& saved) {
    if (!saved) return;
    text += fmt::format("{},{},{},{:.6g},{:.6g}\n", row.devices, row.bytes, name, saved->before,
                        saved->after);
  };
  for (const CostSavedRow& row : rows) {
    for (size_t m = 0; m < machines.size(); ++m) add(row, machines[m].name, row.modelled[m]);
    add(row, "modelled here", row.here);
    add(row, "measured here", row.measured);
  }
  return text;
}

std::string JsonText(const std::vector<CostSavedRow>& rows, const std::vector<Machine>& machines) {
  std::string text;
  const auto add = [&](const std::string& name, const CostSavedRow& row,
                       const std::optional<CostSaved>& saved) {
    if (!saved) return;
    text += fmt::format("{}\"{}_{}_devices_{}_bytes_ratio\": {:.4g}", text.empty() ? "" : ", ",
                        name, row.devices, row.bytes, saved->ratio());
  };
  for (const CostSavedRow& row : rows) {
    for (size_t m = 0; m < machines.size(); ++m) add(machines[m].name, row, row.modelled[m]);
    add("measured", row, row.measured);
  }
  const Order order = OrderOf(rows);
  return fmt::format("{{{}, \"order_clear\": {}, \"order_right\": {}}}\n", text, order.clear,
                     order.right);
}

Status Write(const Flags& flags, const std::vector<CostSavedRow>& rows,
             const std::vector<Machine>& machines) {
  if (!flags.csv.empty()) HV_RETURN_IF_ERROR(WriteOutput(flags.csv, Csv(rows, machines)));
  if (!flags.html.empty()) {
    std::vector<std::string> names;
    for (const Machine& machine : machines) names.push_back(machine.name);
    HV_RETURN_IF_ERROR(WriteOutput(flags.html, CostSavedPage(rows, names)));
  }
  if (!flags.json.empty()) return WriteOutput(flags.json, JsonText(rows, machines));
  const Order order = OrderOf(rows);
  return WriteOutput(
      "-", Table(rows, machines) +
               fmt::format("order predicted for this node: right in {} of {} rows that differ by "
                           "more than 10 % (goal 95 %)\n",
                           order.right, order.clear));
}

int Run(const Flags& flags, Session* session) {
  std::vector<Machine> machines;
  for (const std::string_view name : SplitText(flags.machines, ',')) {
    Result<Machine> machine = LoadMachine(std::string(name));
    if (!machine) return Fail(machine.error(), session->IsFirst());
    machines.push_back(std::move(*machine));
  }
  const Result<Machine> here = LoadMachine(flags.this_node);
  if (!here) return Fail(here.error(), session->IsFirst());
  const auto rows = Rows(flags, machines, *here, &session->transport());
  if (!rows) return Fail(rows.error(), session->IsFirst());
  if (!session->IsFirst()) return kExitOk;
  const Status written = Write(flags, *rows, machines);
  return written ? kExitOk : Fail(written.error(), true);
}

int Main(int argc, char** argv) {
  Flags flags;
  Workers workers;
  CommandLine line("bench_cost_saved", "What all-reduce + slice -> reduce-scatter saves.");
  workers.Declare(&line);
  line.Text("--machines", &flags.machines, "machines of the model, names or files");
  line.Text("--this-node", &flags.this_node, "machine of this engine, as calibrate writes it");
  line.Integer("--devices", &flags.devices, "largest number of devices (64)");
  line.Bytes("--most", &flags.most, "largest operand (64MiB)");
  line.OptionalText("--json", &flags.json, "print figures as one JSON object");
  line.Text("--csv", &flags.csv, "write the grid as a table");
  line.Text("--html", &flags.html, "write a page with a plot");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  return RunOnRanks(workers, {}, argc, argv, [&](Session* session) { return Run(flags, session); });
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  hv::PrepareStreams();
  return hv::Main(argc, argv);
}
