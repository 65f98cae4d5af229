// Ends a process that waits for another that has ended, or for longer than it should: what it waits
// for is stopped or hangs, and no message can tell. The launcher then takes the other processes down.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/strong_id.h"

namespace hv {

// How long a rank waits for others that may work apart for `limit` seconds; 0 for 0, which is no
// limit. Work is not interrupted within one step, so it may end late.
constexpr double PatienceFor(double limit) {
  constexpr double kLateSeconds = 5;
  return limit > 0 ? 2 * limit + kLateSeconds : 0;
}

class Watchdog {
 public:
  explicit Watchdog(Rank rank);  // starts the thread that watches
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void LimitWaits(double seconds);  // 0: waits may take for ever
  // Who is waited for and what is known of them.
  struct Awaited {
    std::string in_words;    // empty: nobody knows
    bool never_comes = false;  // it has ended without doing what is waited for
  };
  // Before any wait.
  void SetWhom(std::function<Awaited()> whom) {
    const std::lock_guard lock(mutex_);  // the thread looks at it already
    whom_ = std::move(whom);
  }
  // Called every now and then while the process works; before any wait.
  void SetAtWork(std::function<void()> at_work) {
    const std::lock_guard lock(mutex_);
    at_work_ = std::move(at_work);
  }

  // A stretch of waiting; `watchdog` may be null.
  class Wait {
   public:
    explicit Wait(Watchdog* watchdog) : watchdog_(watchdog) { Turn(); }
    ~Wait() { Turn(); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    void Turn() {
      if (watchdog_ != nullptr) watchdog_->turns_.fetch_add(1, std::memory_order_relaxed);
    }
    Watchdog* watchdog_;
  };

 private:
  void Watch();
  Awaited Whom() const { return whom_ ? whom_() : Awaited(); }
  [[noreturn]] void GiveUp(double seconds) const;

  const Rank rank_;
  std::atomic<uint64_t> turns_{0};  // odd while the process waits
  std::atomic<double> limit_seconds_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::function<Awaited()> whom_;
  std::function<void()> at_work_;
  std::thread thread_;
};

}  // namespace hv
