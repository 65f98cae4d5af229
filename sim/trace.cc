#include "sim/trace.h"

#include <fmt/format.h>

namespace hv {

// A bar reaches from the device's previous value to this one, so waiting shows as a long bar.
ValueObserver Trace::Observer() {
  return [this](DeviceId device, const Module& module, ComputationIndex computation,
                InstructionIndex instruction, int64_t execution, const Value&) {
    const double now = std::chrono::duration<double, std::micro>(
                           std::chrono::steady_clock::now() - begin_).count();
    double& last = last_end_[device];
    const Computation& owner = module.At(computation);
    const Instruction& done = owner.At(instruction);
    events_ += fmt::format(
        R"({{"name": "{}", "cat": "{}", "ph": "X", "pid": 0, "tid": {}, "ts": {:.3f}, )"
        R"("dur": {:.3f}, "args": {{"computation": "{}", "execution": {}}}}},)"
        "\n",
        done.name, ToString(done.opcode), device.value, last, now - last, owner.name, execution);
    last = now;
  };
}

std::string Trace::Document(const std::string& events) {
  const size_t end = events.rfind(',');
  return "{\"traceEvents\": [\n" + events.substr(0, end == std::string::npos ? 0 : end) +
         "\n], \"displayTimeUnit\": \"ms\"}\n";
}

}  // namespace hv
