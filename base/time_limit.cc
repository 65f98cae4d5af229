#include "base/time_limit.h"

#include <fmt/format.h>

#include <utility>

namespace hv {
namespace {

using Clock = std::chrono::steady_clock;

thread_local TimeLimit::Span span{Clock::time_point::max(), 0};

}  // namespace

TimeLimit::TimeLimit(double seconds) : outer_(span) {
  constexpr double kLongest = 1e9;  // thirty years; more would not fit the clock
  if (seconds <= 0 || seconds > kLongest) return;
  const std::chrono::duration<double> length(seconds);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(length);
  if (end < outer_.end) span = {end, seconds};
}

TimeLimit::~TimeLimit() { span = outer_; }

bool TimeLimit::IsSet() { return span.end != Clock::time_point::max(); }

bool TimeLimit::IsOver() { return IsSet() && Clock::now() >= span.end; }

tl::unexpected<Error> OutOfTime(std::string message) {
  if (message.empty()) message = fmt::format("not finished within {:g} s", span.seconds);
  auto error = Invalid("time-limit", std::move(message));
  error.value().kind = ErrorKind::kTime;
  return error;
}

}  // namespace hv
