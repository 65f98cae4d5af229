// Reads HLO text. Source: hlo_text.md.
#pragma once

#include <string>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// Parses `text` (a module, a module without header, or a single instruction). `file` is for
// diagnostics only. Syntax, names and literals are checked here; shapes and rules by Validate().
// Up to kMaxDiagnostics errors are collected where recovery is possible.
Result<Module> ParseModule(std::string file, std::string text);

// Reads the file ("-": standard input), refuses .pb, .gz and StableHLO by content with advice, and
// parses it.
Result<Module> ParseModuleFile(const std::string& path);

}  // namespace hv
