// Texts in, decisions and modules out: what the tests of the passes share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "hlo/parser.h"
#include "hlo/printer.h"
#include "passes/registry.h"
#include "tests/unit/changed_text.h"

namespace hv {

inline Module ParseOrDie(const std::string& text) {
  Result<Module> module = ParseModule("test.hlo", text);
  EXPECT_TRUE(module) << FormatError(module.error()) << text;
  return *module;
}

inline Module ReadOrDie(const std::string& path) {
  Result<Module> module = ParseModuleFile(path);
  EXPECT_TRUE(module) << path << "\n" << FormatError(module.error());
  return *module;
}

// Runs a list of passes on valid HLO; the mesh is the module's.
inline PipelineResult RunOn(const Module& module, std::string_view passes) {
  const Result<std::vector<PassCall>> calls = ParsePasses(passes);
  EXPECT_TRUE(calls) << passes;
  const DeviceCounts counts = DeduceCounts(module);
  const Status valid = Validate(module, counts);
  EXPECT_TRUE(valid) << FormatError(valid.error());
  return RunPasses(*calls, module, counts);
}
inline PipelineResult RunOn(const std::string& text, std::string_view passes) {
  return RunOn(ParseOrDie(text), passes);
}

// The reason given for `instruction`; "fired: ..." if it was replaced.
inline std::string ReasonFor(const PipelineResult& result, std::string_view instruction) {
  for (const RewriteDecision& decision : result.decisions) {
    if (decision.instruction != instruction) continue;
    return (decision.fired ? "fired: " : "") + decision.reason;
  }
  return "no candidate";
}

// The result is valid and reads back as the same module.
inline void ExpectReadsBack(const PipelineResult& result) {
  ASSERT_EQ(result.broken_by, "") << FormatError(result.broken);
  const std::string text = PrintModule(result.module);
  const Result<Module> again = ParseModule("again.hlo", text);
  ASSERT_TRUE(again) << FormatError(again.error()) << text;
  std::string why;
  EXPECT_TRUE(SameModule(result.module, *again, &why)) << why << "\n" << text;
}

inline int CountOf(const Module& module, Opcode opcode) {
  int count = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      count += instruction.opcode == opcode ? 1 : 0;
    }
  }
  return count;
}

inline const Instruction* Named(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.name == name) return &instruction;
    }
  }
  return nullptr;
}

}  // namespace hv
