#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace hv {
namespace {

constexpr int64_t kRangesPerThread = 4;  // evens out a thread that gets its core late
constexpr int kSpins = 4000;             // about 50 us: shorter than it takes to wake a thread

thread_local bool inside_body = false;

// One call of ParallelFor. Whoever has a hand free claims the next range.
struct Work {
  parallel::Body body;
  void* context;
  int64_t count;
  int64_t range;  // elements of each range but the last
  std::atomic<int64_t> next{0};

  void Help() {
    inside_body = true;
    for (int64_t begin; (begin = next.fetch_add(range, std::memory_order_relaxed)) < count;) {
      body(context, begin, std::min(begin + range, count));
    }
    inside_body = false;
  }
};

// Workers wait for a new round, help with its work, and say when they are through.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int k = 0; k < workers; ++k) threads_.emplace_back([this] { Serve(); });
  }
  ~Pool() {
    Open(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }

  int workers() const { return static_cast<int>(threads_.size()); }

  void Run(Work* work) {
    busy_.store(workers(), std::memory_order_relaxed);
    Open(work);
    work->Help();
    for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
      if (spins > kSpins) std::this_thread::yield();
    }
  }

 private:
  void Open(Work* work) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work_ = work;
      round_.fetch_add(1, std::memory_order_release);
    }
    opened_.notify_all();
  }

  void Serve() {
    for (uint64_t seen = 0;;) {
      seen = AwaitRoundAfter(seen);
      if (work_ == nullptr) return;
      work_->Help();
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  uint64_t AwaitRoundAfter(uint64_t seen) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (const uint64_t now = round_.load(std::memory_order_acquire); now != seen) return now;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
    return round_.load(std::memory_order_acquire);
  }

  std::mutex mutex_;
  std::condition_variable opened_;
  Work* work_ = nullptr;  // of the round; null: the pool closes
  std::atomic<uint64_t> round_{0};
  std::atomic<int> busy_{0};  // workers not yet through with the round
  std::vector<std::thread> threads_;
};

int thread_count = 1;

// Started by the first work that wants it.
Pool& ThePool() {
  static std::unique_ptr<Pool> pool;
  if (pool == nullptr || pool->workers() != thread_count - 1) {
    pool.reset();
    pool = std::make_unique<Pool>(thread_count - 1);
  }
  return *pool;
}

// Cores' worth of time the control group grants, from "quota period" in microseconds; 0: no limit.
int QuotaCores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  int64_t period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return static_cast<int>(std::max<int64_t>(1, (std::stoll(quota) + period - 1) / period));
}

}  // namespace

int AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int cores = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                  ? CPU_COUNT(&allowed)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = QuotaCores(); quota > 0) cores = std::min(cores, quota);
  return std::max(cores, 1);
}

int ThreadCount() { return thread_count; }

void SetThreadCount(int count) {
  HV_CHECK(count >= 1, "a process has at least one thread");
  thread_count = count;
}

void parallel::Run(int64_t count, int64_t grain, Body body, void* context) {
  if (inside_body) return body(context, 0, count);
  const int64_t grains = (count + grain - 1) / grain;
  const int64_t ranges = std::min(grains, kRangesPerThread * thread_count);
  Work work{body, context, count, (grains + ranges - 1) / ranges * grain};
  ThePool().Run(&work);
}

}  // namespace hv
