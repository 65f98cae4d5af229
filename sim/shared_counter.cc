#include "sim/shared_counter.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <ctime>

namespace hv {
namespace {

constexpr int kYields = 200;
constexpr long kNapNanoseconds = 50'000'000, kBusyNapNanoseconds = 200'000;
constexpr long kDoubtfulNapNanoseconds = 2'000'000;  // for who is to wake it may have missed it

static_assert(std::endian::native == std::endian::little && sizeof(std::atomic<uint64_t>) == 8,
              "the futex word is the low half of the counter");

uint32_t* FutexWord(std::atomic<uint64_t>& value) { return reinterpret_cast<uint32_t*>(&value); }

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Until woken, or for `nanoseconds` at most.
void Sleep(SharedCounter& counter, uint64_t target, long nanoseconds) {
  counter.sleepers.fetch_add(1);
  const uint64_t seen = counter.value.load();
  if (seen < target) {
    const timespec limit{0, nanoseconds};
    syscall(SYS_futex, FutexWord(counter.value), FUTEX_WAIT, static_cast<uint32_t>(seen), &limit,
            nullptr, 0);
  }
  counter.sleepers.fetch_sub(1);
}

}  // namespace

// Either the sleeper sees the new value or this sees the sleeper: both sides write, then read.
void SharedCounter::Raise(uint64_t to) {
  value.store(to);
  Wake();
}

void SharedCounter::Wake() {
  if (sleepers.load() == 0) return;
  syscall(SYS_futex, FutexWord(value), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Waiter::Await(SharedCounter& counter, uint64_t target) const {
  AwaitUnless(counter, target, nullptr);
}

bool Waiter::AwaitUnless(SharedCounter& counter, uint64_t target,
                         const std::function<bool()>& is_hopeless) const {
  for (int i = 0; i < spins_; ++i) {
    if (counter.Reached(target)) return true;
    Pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (counter.Reached(target)) return true;
    if (is_hopeless && is_hopeless()) return false;
    if (idle_) idle_();
    sched_yield();
  }
  const long nap = idle_         ? kBusyNapNanoseconds
                   : is_hopeless ? kDoubtfulNapNanoseconds
                                 : kNapNanoseconds;
  while (!counter.Reached(target)) {
    if (is_hopeless && is_hopeless()) return false;
    Sleep(counter, target, nap);
    if (idle_) idle_();
  }
  return true;
}

}  // namespace hv
