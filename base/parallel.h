// Work spread over the threads of this process. Threads share one piece of work at a time; what is
// computed must not depend on how it is cut, so that results are the same for every thread count.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hv {

// Cores this process may use: its affinity, cut by the CPU quota of its control group; at least 1.
int AllowedCores();

// Threads that ParallelFor uses, this one included: 1 until set. Set by the main thread only.
int ThreadCount();
void SetThreadCount(int count);

namespace parallel {
using Body = void (*)(void* context, int64_t begin, int64_t end);
void Run(int64_t count, int64_t grain, Body body, void* context);
}  // namespace parallel

// Calls body(begin, end) for ranges that cover [0, count) once, each but the last a multiple of
// `grain` long, on up to ThreadCount() threads; returns when all are done. Other threads must not
// make, drop or count Values: give them plain memory. A call from within a body runs there at once.
template <class F>
void ParallelFor(int64_t count, int64_t grain, F&& body) {
  if (count <= grain || ThreadCount() == 1) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  using Callable = std::remove_reference_t<F>;
  parallel::Run(
      count, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<Callable*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace hv
