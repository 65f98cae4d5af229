// One case for each diagnostic of the reader and parser, with its place; and a check that the list
// is complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "hlo/parser.h"

namespace hv {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Case {
  std::string id;
  int line;
  int column;
  std::string text;
};

// `body` as the only computation of a module; its first line is line 2 of the text.
std::string Entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "\n}\n"; }

// An instruction with attributes on a parameter, line 4.
std::string With(const std::string& instruction) {
  return Entry("p = f32[4] parameter(0)\n" + instruction);
}

std::vector<Case> Cases() {
  return {
      {"empty-text", 1, 1, ""},
      {"no-computation", 2, 1, "HloModule m\n"},
      {"syntax", 3, 15, Entry("x = f32[] add a, b)")},
      {"integer-range", 3, 21, Entry("x = f32[] parameter(99999999999999999999)")},
      {"integer-range", 3, 9, Entry("x = f32[-2] parameter(0)")},
      {"number-range", 3, 20, Entry("x = f64[] constant(1e999)")},
      {"open-string", 3, 40, Entry("x = f32[] parameter(0), backend_config=\"oops")},
      {"bad-escape", 3, 40, Entry("x = f32[] parameter(0), backend_config=\"\\q\"")},
      {"open-brace", 3, 34, Entry("x = f32[] parameter(0), metadata={{{")},
      {"open-comment", 3, 25, Entry("x = f32[] parameter(0)  /* never closed")},
      {"nesting", 1, 1, ""},  // built below
      {"two-entries", 3, 7,
       "ENTRY a { p = f32[] parameter(0) }\n\nENTRY b { p = f32[] parameter(0) }"},
      {"repeated-header-attribute", 1, 31, "HloModule m, replica_count=2, replica_count=2\n"},
      {"unknown-header-attribute", 1, 14, "HloModule m, colour=2\n"},
      {"stack-frame", 3, 1, "HloModule m\nFileNames\n2 \"a\"\n"},
      {"device-count", 1, 28, "HloModule m, replica_count=0\n"},
      // Shapes.
      {"unknown-type", 3, 5, Entry("x = f33[] parameter(0)")},
      {"shape-dimensions", 3, 5, Entry("x = token[2] parameter(0)")},
      {"shape-size", 3, 5, Entry("x = f32[99999999,99999999] parameter(0)")},
      {"shape-rank", 1, 1, ""},
      {"layout", 3, 12, Entry("x = f32[2]{1} parameter(0)")},
      {"layout", 3, 14, Entry("x = f32[2,2]{1} parameter(0)")},
      // Names.
      {"illegal-name", 3, 1, Entry("f32 = f32[] parameter(0)")},
      {"illegal-name", 3, 1, Entry("%s32 = f32[] parameter(0)")},
      {"illegal-name", 3, 1, Entry("__x = f32[] parameter(0)")},
      {"illegal-name", 3, 1, Entry("replicated = f32[] parameter(0)")},
      {"attached-equals", 3, 2, Entry("x=f32[] parameter(0)")},
      {"duplicate-name", 4, 1, With("p = f32[4] negate(p)")},
      {"duplicate-computation", 2, 1, "a { p = f32[] parameter(0) }\na { p = f32[] parameter(0) }"},
      {"undefined-name", 4, 19, With("r = f32[4] negate(q)")},
      {"undefined-computation", 4, 30, With("r = f32[4] call(p), to_apply=f")},
      // Computations.
      {"open-computation", 1, 3, "e { p = f32[] parameter(0)\n"},
      {"empty-computation", 2, 9, "HloModule m\nENTRY e { }"},
      {"two-roots", 4, 6, Entry("ROOT p = f32[] parameter(0)\nROOT q = f32[] parameter(1)")},
      {"parameter-number", 3, 1, Entry("p = f32[] parameter(1)")},
      {"signature-result", 2, 7,
       "HloModule m\nENTRY e (p: f32[]) -> s32[] { p = f32[] parameter(0) }"},
      // Instructions.
      {"unknown-opcode", 4, 12, With("r = f32[4] negatte(p)")},
      {"unknown-opcode", 4, 12, With("r = f32[4] send-start(p)")},
      {"unknown-attribute", 4, 23, With("r = f32[4] negate(p), dimensions={0}")},
      {"repeated-attribute", 4, 40, With("r = f32[4] reverse(p), dimensions={0}, dimensions={0}")},
      {"missing-attribute", 4, 22, With("r = f32[4] reverse(p)")},
      {"operand-count", 4, 1, With("r = add(p)")},
      {"operand-shape", 4, 26, With("r = f32[4] negate(f32[5] p)")},
      {"shape-required", 4, 1, With("r = all-reduce(p), to_apply={ROOT a = f32[] parameter(0)}")},
      {"shape-required", 3, 13, Entry("x = constant(1)")},
      {"tuple-index", 4, 21, With("r = f32[4] negate(p#0)")},
      {"nested-attributes", 4, 26, With("r = f32[4] negate(f32[4] reverse(p))")},
      {"nested-async", 4, 19, With("r = f32[4] negate(negate-start(p))")},
      {"async-shape", 4, 1, With("r = f32[4] negate-start(p)")},
      {"async-mismatch", 5, 1,
       With("s = ((f32[4]), f32[4], u32[]) negate-start(p)\nr = f32[4] abs-done(s)")},
      // Attribute values.
      {"unknown-word", 4, 38, With("r = pred[4] compare(p, p), direction=XX")},
      {"repeated-key", 3, 45,
       Entry("p = f32[] parameter(0), frontend_attributes={a=\"1\",a=\"2\"}")},
      {"window-rank", 5, 57,
       With("z = f32[] constant(0)\nr = f32[4] reduce-window(p, z), "
            "window={size=2 stride=1x1}, to_apply={ROOT a = f32[] parameter(0)}")},
      {"dim-labels", 4, 42, With("r = f32[4] convolution(p, p), dim_labels=b0f_0io->b1f")},
      {"iota-size", 4, 58,
       With("r = f32[4] all-to-all(p), dimensions={0}, replica_groups=[2,2]<=[8]")},
      {"iota-groups", 4, 58,
       With("r = f32[4] all-to-all(p), dimensions={0}, replica_groups=[4]<=[4]")},
      {"iota-transpose", 4, 70,
       With("r = f32[4] all-to-all(p), dimensions={0}, replica_groups=[2,2]<=[2,2]T(0,0)")},
      {"mesh-axis", 4, 71,
       With("r = f32[4] all-to-all(p), dimensions={0}, replica_groups=mesh['x'=2] {'y'}")},
      {"sharding", 3, 35, Entry("p = f32[] parameter(0), sharding={colourful}")},
      // Literals.
      {"literal-count", 3, 21, Entry("x = s32[3] constant({1,2})")},
      {"literal-count", 3, 26, Entry("x = s32[2] constant({1,2,3})")},
      {"literal-count", 3, 33, Entry("x = s8[70368744177664] constant({1})")},
      {"literal-scalar", 3, 21, Entry("x = s32[2] constant(7)")},
      {"literal-word", 3, 20, Entry("x = s32[] constant(true)")},
      {"literal-integer", 3, 20, Entry("x = s32[] constant(1.5)")},
      {"literal-range", 3, 19, Entry("x = u8[] constant(256)")},
      {"literal-range", 3, 20, Entry("x = f16[] constant(65520)")},
      {"literal-type", 3, 22, Entry("x = token[] constant(1)")},
      {"nan-payload", 3, 24, Entry("x = f16[] constant(nan(0x400))")},
      // What is no HLO text at all.
      {"gzip-input", 1, 1, "\x1f\x8b\x08 and so on"},
      {"protobuf-input", 1, 1, std::string("\n\x04name\x12\x00", 8)},
      {"stablehlo-input", 1, 1, "module @jit_f {\n}"},
      {"nul-byte", 1, 11, std::string("HloModule \0m", 12)},
      {"not-utf8", 1, 11, "HloModule \xff"},
  };
}

std::string Built(const Case& c) {
  if (c.id == "nesting") {
    return Entry("x = " + std::string(100000, '(') + "f32[]");
  }
  if (c.id == "shape-rank") {
    std::string dims = "1";
    for (int i = 0; i < 100; ++i) dims += ",1";
    return Entry("x = f32[" + dims + "] parameter(0)");
  }
  return c.text;
}

TEST(ParserDiagnosticsTest, EachMistakeHasItsIdAndPlace) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.id + ": " + c.text);
    auto module = ParseModule("test.hlo", Built(c));
    ASSERT_FALSE(module);
    const Diagnostic& first = module.error().diagnostics.front();
    EXPECT_EQ(first.id, c.id) << FormatError(module.error());
    if (Built(c) != c.text) continue;
    EXPECT_EQ(first.place.line, c.line) << FormatError(module.error());
    EXPECT_EQ(first.place.column, c.column) << FormatError(module.error());
  }
}

TEST(ParserDiagnosticsTest, EveryIdOfTheSourcesIsTested) {
  std::set<std::string> tested = {"too-large"};  // needs 4 GiB of text
  for (const Case& c : Cases()) tested.insert(c.id);
  tested.insert("no-file");  // below
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HV_SOURCE_DIR "/hlo")) {
    const std::string name = entry.path().filename().string();
    if (!std::regex_search(name, std::regex("reader|parser|async_sugar|input_check|module_file"))) {
      continue;
    }
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (const char* call : {"Fail(", "FailHere(", "Refuse(", "Invalid("}) {
      for (size_t at = source.find(call); at != std::string::npos; at = source.find(call, at + 1)) {
        // The id is the first string of the call.
        const size_t open = source.find_first_of("\";", at);
        if (open == std::string::npos || source[open] == ';') continue;
        const std::string id = source.substr(open + 1, source.find('"', open + 1) - open - 1);
        EXPECT_THAT(tested, Contains(id)) << name;
        ++found;
      }
    }
  }
  EXPECT_GT(found, 80u);
}

TEST(ParserDiagnosticsTest, MissingFile) {
  auto module = ParseModuleFile("/nonexistent/x.hlo");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().diagnostics.front().id, "no-file");
  EXPECT_THAT(FormatError(module.error()), HasSubstr("/nonexistent/x.hlo: error: cannot open"));
}

TEST(ParserDiagnosticsTest, GoesOnAfterAMistake) {
  auto module = ParseModule("t.hlo",
                            "HloModule m\n"
                            "f {\n"
                            "  a = f32[4] parametre(0)\n"
                            "  b = f32[4] negate(a)\n"  // uses what was reported: silent
                            "  c = f32[4] broken(b), dimensions={0}\n"
                            "  ROOT d = f32[4] negate(nowhere)\n"
                            "}\n"
                            "ENTRY e {\n"
                            "  p = f32[4] parameter(0)\n"
                            "  q = f32[4] call(p), to_apply=f\n"  // f is known, though damaged
                            "  ROOT r = f32[4] constant({1,2,3})\n"
                            "}\n");
  ASSERT_FALSE(module);
  std::vector<std::pair<std::string, int>> found;
  for (const Diagnostic& d : module.error().diagnostics) found.emplace_back(d.id, d.place.line);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, int>>{{"unknown-opcode", 3},
                                                             {"unknown-opcode", 5},
                                                             {"undefined-name", 6},
                                                             {"literal-count", 11}}));
  EXPECT_EQ(FormatDiagnostic(module.error().diagnostics[0]),
            "t.hlo:3:14: error: unknown opcode 'parametre'\n"
            "    a = f32[4] parametre(0)\n"
            "               ^\n");
}

TEST(ParserDiagnosticsTest, AtMostTwenty) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "x" + std::to_string(i) + " = f32[] nonsense()\n";
  auto module = ParseModule("t.hlo", Entry(body));
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().diagnostics.size(), 20u);
}

}  // namespace
}  // namespace hv
