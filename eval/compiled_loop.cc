// Code lives in pages of its own, written before they may be executed and never after.
#include "eval/compiled_loop.h"

#include <cstring>

#include "base/check.h"
#include "eval/vector_isa.h"

#if HV_X86 && defined(__linux__)
#define HV_TAKES_CODE 1
#include <sys/mman.h>
#else
#define HV_TAKES_CODE 0
#endif

namespace hv {

#if HV_TAKES_CODE
namespace {

// Memory that holds `code` and can no longer be written; null if the system refuses.
void* MakeExecutable(std::span<const uint8_t> code) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, code.data(), code.size());
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) == 0) return memory;
  munmap(memory, code.size());
  return nullptr;
}

}  // namespace

bool CompiledLoop::IsPossible() {
  static const bool system_lets = [] {
    const uint8_t code[1] = {0};
    void* const memory = MakeExecutable(code);
    if (memory != nullptr) munmap(memory, sizeof(code));
    return memory != nullptr;
  }();
  return system_lets && UsableIsa() >= Isa::kAvx2;
}

std::shared_ptr<const CompiledLoop> CompiledLoop::Compile(ElementType type,
                                                          std::span<const LoopStep> steps,
                                                          const LoopInterface& interface) {
  if (!IsPossible() || interface.size() > kMostPlaces) return nullptr;
  const std::vector<uint8_t> code = EmitLoop(type, steps, interface);
  void* const memory = code.empty() ? nullptr : MakeExecutable(code);
  if (memory == nullptr) return nullptr;
  return std::shared_ptr<const CompiledLoop>(
      new CompiledLoop(memory, code.size(), HostBytes(type)));
}

CompiledLoop::~CompiledLoop() { munmap(code_, code_bytes_); }

void CompiledLoop::Run(std::byte* const* memory, int64_t count) const {
  using Function = void (*)(int64_t zero, int64_t bytes, std::byte* const* memory);
  Function function;
  std::memcpy(&function, &code_, sizeof(function));
  function(0, count * element_bytes_, memory);
}
#else
bool CompiledLoop::IsPossible() { return false; }
std::shared_ptr<const CompiledLoop> CompiledLoop::Compile(ElementType, std::span<const LoopStep>,
                                                          const LoopInterface&) {
  return nullptr;
}
CompiledLoop::~CompiledLoop() = default;
void CompiledLoop::Run(std::byte* const*, int64_t) const { HV_CHECK(false, "no compiled loop"); }
#endif

}  // namespace hv
