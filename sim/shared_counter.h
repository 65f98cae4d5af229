// A number in memory that processes share: one of them raises it, the others wait until it has
// reached a value. Waiting spins where every rank has a core of its own, then yields, then sleeps
// on a futex: the latency of yielding without burning a core while a peer computes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace hv {

struct SharedCounter {
  std::atomic<uint64_t> value{0};
  std::atomic<uint32_t> sleepers{0};

  bool Reached(uint64_t target) const { return value.load(std::memory_order_acquire) >= target; }
  // All that was written before is seen by whoever sees the new value. One process raises.
  void Raise(uint64_t to);
  // Those who sleep look again.
  void Wake();
};

class Waiter {
 public:
  // `spins`: looks at the counter before the first yield.
  explicit Waiter(int spins) : spins_(spins) {}
  // Called again and again while waiting; for work that others wait for in turn.
  void SetIdle(std::function<void()> idle) { idle_ = std::move(idle); }
  void Await(SharedCounter& counter, uint64_t target) const;
  // False as soon as `is_hopeless`, which is asked again and again.
  bool AwaitUnless(SharedCounter& counter, uint64_t target,
                   const std::function<bool()>& is_hopeless) const;

 private:
  int spins_;
  std::function<void()> idle_;
};

}  // namespace hv
