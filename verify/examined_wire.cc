#include "verify/examined_wire.h"

#include "verify/wire.h"

namespace hv {

// One line per type: the fields that travel, in order.
template <class A>
void Fields(A& a, Evidence& v) {
  a(v.method, v.detail, v.miss_bound);
}
template <class A>
void Fields(A& a, InputElement& v) {
  a(v.device, v.parameter, v.parameter_name, v.index, v.value);
}
template <class A>
void Fields(A& a, Counterexample& v) {
  a(v.device, v.device_id, v.output, v.index, v.before, v.after, v.inputs, v.elements,
    v.explanation, v.first_diverging_before, v.first_diverging_after, v.reproduce);
}
template <class A>
void Fields(A& a, SuspectReport& v) {
  a(v.before, v.after, v.difference, v.counterexample, v.before_hlo, v.after_hlo);
}
template <class A>
void Fields(A& a, SmallerFailure& v) {
  a(v.replicas, v.partitions, v.devices, v.closed, v.remade, v.counterexample, v.cycle,
    v.before_hlo, v.after_hlo);
}
template <class A>
void Fields(A& a, WaitingDevice& v) {
  a(v.device, v.instruction, v.signature, v.waits_for);
}
template <class A>
void Fields(A& a, LevelBytes& v) {
  a(v.level, v.bytes);
}
template <class A>
void Fields(A& a, CollectiveLine& v) {
  a(v.instruction, v.opcode, v.turns, v.seconds, v.algorithm, v.next_best, v.next_best_seconds);
}
template <class A>
void Fields(A& a, CostSide& v) {
  a(v.seconds, v.compute_seconds, v.collective_seconds, v.messages, v.bytes, v.levels,
    v.collectives);
}
template <class A>
void Fields(A& a, CostReport& v) {
  a(v.machine, v.before, v.after);
}
template <class A>
void Fields(A& a, MeasuredCost& v) {
  a(v.before, v.after, v.rounds, v.private_results);
}
template <class A>
void Fields(A& a, PassDecision& v) {
  a(v.pass, v.instruction, v.fired, v.reason);
}
template <class A>
void Fields(A& a, SourcePlace& v) {
  a(v.file, v.line, v.column);
}
template <class A>
void Fields(A& a, Diagnostic& v) {
  a(v.id, v.message, v.place, v.source_line, v.notes);
}
template <class A>
void Fields(A& a, CaseReport& v) {
  a(v.name, v.file, v.verdict, v.level, v.precision, v.reason, v.expect, v.as_expected, v.missed,
    v.replicas, v.partitions, v.counterexample, v.suspect, v.smaller, v.evidence, v.assumptions,
    v.notes, v.normal_forms, v.stalled, v.waiting, v.cycle, v.cost, v.measured, v.decisions,
    v.diagnostics, v.invalid_from_pass,
    v.unsupported, v.seconds);
}
template <class A>
void Fields(A& a, Proof& v) {
  a(v.level, v.precision, v.method);
}
template <class A>
void Fields(A& a, Findings& v) {
  a(v.proof, v.precision, v.stalled, v.confirmed, v.inconsistent, v.suspected_drift, v.suspicion,
    v.cannot_run, v.unsupported, v.all_discarded, v.evidence);
}
template <class A>
void Fields(A& a, Demand& v) {
  a(v.expect, v.min_level, v.max_cost_ratio, v.fired);
}
template <class A>
void Fields(A& a, InputAssumptions& v) {
  a(v.claims, v.shared);
}
template <class A>
void Fields(A& a, NativeInput& v) {
  a(v.values, v.seed, v.trial, v.limit, v.fixed, v.base, v.active, v.dictionary,
    v.control);
}
template <class A>
void Fields(A& a, OutputPlace& v) {
  a(v.device.value, v.output, v.element);
}
template <class A>
void Fields(A& a, NativeDifference& v) {
  a(v.place, v.before, v.after);
}
template <class A>
void Fields(A& a, Refutation& v) {
  a(v.input, v.difference);
}
template <class A>
void Fields(A& a, Examined& v) {
  a(v.report, v.findings, v.demand, v.assumptions, v.refutation, v.rewritten, v.smaller);
}

std::string ToWire(std::vector<Examined>& cases) {
  WireWriter writer;
  writer(cases);
  return writer.Take();
}

std::vector<Examined> FromWire(const std::string& bytes) {
  std::vector<Examined> cases;
  WireReader reader(bytes);
  reader(cases);
  HV_CHECK(reader.AtEnd(), "message between ranks is too long");
  return cases;
}

}  // namespace hv
