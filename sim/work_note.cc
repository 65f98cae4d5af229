#include "sim/work_note.h"

#include <mutex>

#include "hlo/op.h"

namespace hv {
namespace {

std::mutex reading;

}  // namespace

std::atomic<const Instruction*> WorkNote::current_{nullptr};

WorkNote::Run::~Run() {
  const std::lock_guard lock(reading);
  current_.store(nullptr, std::memory_order_relaxed);
}

std::string WorkNote::Text() {
  const std::lock_guard lock(reading);
  const Instruction* instruction = current_.load(std::memory_order_acquire);
  if (instruction == nullptr) return "";
  return std::string(instruction->name) + " (" + std::string(ToString(instruction->opcode)) + ")";
}

}  // namespace hv
