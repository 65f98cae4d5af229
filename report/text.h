// A report for people: one block per case that needs attention, one line for each that went as
// expected, and the totals.
#pragma once

#include <string>
#include <string_view>

#include "verify/report_model.h"

namespace hv {

enum class Verbosity { kQuiet, kNormal, kVerbose };

struct TextOptions {
  Verbosity verbosity = Verbosity::kNormal;
  bool color = false;
};

// kQuiet: cases that missed their expectation, and the totals. kNormal: those and a lone case as
// blocks, the others as lines. kVerbose: every case as a block, with decisions of passes.
std::string RenderText(const Report& report, const TextOptions& options);

// --color=auto|always|never. A launcher gives its ranks a pty, so auto means no under MPI.
bool WantsColor(std::string_view flag, bool is_terminal, bool under_launcher);

}  // namespace hv
