#include "sim/watchdog.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace hv {
namespace {

// Time is counted in ticks that this process lived through: one that was stopped itself, with all
// the others, has waited for nobody.
constexpr double kTickSeconds = 0.1;
constexpr double kStaggerSeconds = 1;  // ranks give up one after the other: the first speaks for all
// A launcher that sees a rank fail ends the job itself, and says with which signal or code.
constexpr double kLaunchersSeconds = 5;
constexpr int kInternalError = 70;

}  // namespace

Watchdog::Watchdog(Rank rank) : rank_(rank) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the thread that works
  thread_ = std::thread([this] { Watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::LimitWaits(double seconds) { limit_seconds_ = seconds; }

void Watchdog::Watch() {
  uint64_t seen = 0;
  double waited = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::duration<double>(kTickSeconds),
                         [this] { return stop_; })) {
    const uint64_t turns = turns_.load(std::memory_order_relaxed);
    const bool waits_on = turns == seen && turns % 2 == 1;
    waited = waits_on ? waited + kTickSeconds : 0;
    seen = turns;
    if (turns % 2 == 0 && at_work_) at_work_();
    const double limit = limit_seconds_;
    const double longest = kStaggerSeconds * static_cast<double>(rank_.value);
    if (limit > 0 && waited > limit + longest) GiveUp(waited);
    // What has been seen holds if this very wait goes on.
    if (waited > kLaunchersSeconds + longest && Whom().never_comes && turns_.load() == turns) {
      GiveUp(waited);
    }
  }
}

void Watchdog::GiveUp(double seconds) const {
  const Awaited whom = Whom();
  char waits[32] = "waits";
  if (!whom.never_comes) std::snprintf(waits, sizeof waits, "has waited %.0f s", seconds);
  std::fprintf(stderr, "error: rank %lld %s for %s\n", static_cast<long long>(rank_.value), waits,
               whom.in_words.empty() ? "another rank, which is stopped or hangs"
                                     : whom.in_words.c_str());
  std::fflush(stderr);
  _exit(kInternalError);
}

}  // namespace hv
