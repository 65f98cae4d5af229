// A timeline of a run in Chrome's trace format: one row per device, one bar per instruction.
// Source: the Trace Event Format, complete events ("ph": "X").
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "sim/run.h"

namespace hv {

class Trace {
 public:
  Trace() : begin_(std::chrono::steady_clock::now()) {}
  // To be given to RunOptions::observer; the trace must outlive the run.
  ValueObserver Observer();
  // Events of this rank, each followed by ",\n".
  const std::string& events() const { return events_; }
  // The document made of all ranks' events.
  static std::string Document(const std::string& events);

 private:
  std::chrono::steady_clock::time_point begin_;
  std::map<DeviceId, double> last_end_;  // microseconds
  std::string events_;
};

}  // namespace hv
