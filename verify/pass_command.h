// Pipes HLO text through an external optimiser, so that any compiler's pass can be put on trial.
#pragma once

#include <string>

#include "base/result.h"

namespace hv {

// Runs `command` with the shell, `input` on its standard input; its standard output. A command that
// cannot run, fails (exit status, signal) or prints too much is an error that quotes the tail of
// its standard error; one that takes longer than `timeout_seconds` (0: no limit) is killed, kTime.
Result<std::string> RunPassCommand(const std::string& command, const std::string& input,
                                   double timeout_seconds);

}  // namespace hv
