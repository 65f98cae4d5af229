// What this process computes just now, for a thread that asks: ranks that wait too long for this
// one want to name it. One store per instruction.
#pragma once

#include <atomic>
#include <string>

#include "hlo/module.h"

namespace hv {

class WorkNote {
 public:
  // The instruction stays alive until the run ends.
  static void Set(const Instruction& instruction) {
    current_.store(&instruction, std::memory_order_release);
  }
  // Of a run; nobody reads a module that is gone.
  class Run {
   public:
    Run() = default;
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
  };
  // "%name (opcode)"; empty between runs.
  static std::string Text();

 private:
  static std::atomic<const Instruction*> current_;
};

}  // namespace hv
