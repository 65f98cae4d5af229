// Invariants of our own code. CHECK stays on in every build: a broken invariant prints where and in
// which context (rank, scenario, instruction) and exits with code 70. Input never triggers one.
#pragma once

#include <string>

namespace hv {

// What the process is doing now, printed by a failed CHECK. Nested scopes stack.
class CheckContext {
 public:
  explicit CheckContext(std::string what);
  ~CheckContext();
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;
};

// Called before the process leaves with code 70 (the MPI transport takes the job down here).
void SetInternalErrorHook(void (*hook)(int exit_code));

[[noreturn]] void CheckFailed(const char* file, int line, const std::string& message);

}  // namespace hv

#define HV_CHECK(condition, message)                                        \
  do {                                                                      \
    if (!(condition)) ::hv::CheckFailed(__FILE__, __LINE__, (message));     \
  } while (false)
