#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace hv {
namespace {

std::vector<std::string>& ContextStack() {
  thread_local std::vector<std::string> stack;
  return stack;
}

void (*internal_error_hook)(int) = nullptr;

}  // namespace

CheckContext::CheckContext(std::string what) { ContextStack().push_back(std::move(what)); }

CheckContext::~CheckContext() { ContextStack().pop_back(); }

void SetInternalErrorHook(void (*hook)(int exit_code)) { internal_error_hook = hook; }

void CheckFailed(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s\n", file, line, message.c_str());
  for (auto it = ContextStack().rbegin(); it != ContextStack().rend(); ++it) {
    std::fprintf(stderr, "  while %s\n", it->c_str());
  }
  std::fflush(nullptr);
  if (internal_error_hook != nullptr) internal_error_hook(70);
  std::_Exit(70);
}

}  // namespace hv
