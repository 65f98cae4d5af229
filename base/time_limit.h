// How long a piece of work may take. Work that goes in small steps asks before each of them: the
// simulator before every step of a device. What is one long step is not interrupted.
#pragma once

#include <chrono>

#include "base/result.h"

namespace hv {

// Limits what this thread does while the object lives; limits nest, the nearest end counts.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);  // 0: no limit of its own
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  static bool IsSet();
  static bool IsOver();

  struct Span {
    std::chrono::steady_clock::time_point end;
    double seconds;
  };

 private:
  Span outer_;
};

// The error of work that met its limit; without a message it says how long that was.
tl::unexpected<Error> OutOfTime(std::string message = "");

}  // namespace hv
