// The command line of verify_rewrite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/text.h"
#include "tools/program.h"
#include "verify/flags.h"

namespace hv {

struct VerifyFlags {
  ScenarioFlags scenario;
  std::string json, junit, sarif, summary;  // files; "-": standard output; empty: not asked for
  std::string write_minimized;              // a folder for the modules of smaller failures
  Workers workers;
  FailOn fail_on = FailOn::kUnknown;
  std::string_view color = "auto";
  Verbosity verbosity = Verbosity::kNormal;
  bool self_test = false, print_schema = false, list_ops = false, list_passes = false;
};

// Nothing if the program goes on, else its exit code; then all has been said.
std::optional<int> ParseVerifyCommand(int argc, char** argv, VerifyFlags* flags);

}  // namespace hv
