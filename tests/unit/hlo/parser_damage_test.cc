// Damaged texts: whatever the bytes, the parser returns, and what it accepts prints and parses
// again. Seeded, over modules of every kind in the test data.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/philox.h"
#include "hlo/parser.h"
#include "hlo/printer.h"

namespace hv {
namespace {

std::vector<std::string> Seeds() {
  std::vector<std::string> texts = {
      "HloModule m, replica_count=2, input_output_alias={ {0}: (0, {}, may-alias) }\n"
      "ENTRY e {\n  a = (f32[4], s8[2,2]{0,1:T(2,2)E(4)}) parameter(0)\n"
      "  b = f32[4] negate(a#0), sharding={devices=[2]<=[2] last_tile_dim_replicate}\n"
      "  s = ((f32[4]), f32[8], u32[]) all-to-all-start(b), replica_groups=mesh['x'=2] {'x'}\n"
      "  d = f32[8] all-to-all-done(s)\n  c = bf16[2,3] constant({{1,nan,-inf},{0,1e3,.5}})\n"
      "  ROOT t = (f32[8], c64[]) tuple(d, c64[] constant((1, -0.5)))\n}\n"};
  for (const char* path :
       {"real/modules/psum_slice_table/module.hlo",
        "real/modules/conv_strided_dilated_old/module.hlo",
        "real/modules/pipeline_stages/module.hlo", "real/modules/ring_attention/module.hlo"}) {
    std::ostringstream text;
    text << std::ifstream(std::filesystem::path(HV_TEST_DATA) / path).rdbuf();
    texts.push_back(text.str().substr(0, 6000));
    EXPECT_FALSE(texts.back().empty()) << path;
  }
  return texts;
}

// One random change of `text`.
std::string Damage(const std::string& text, const CounterRng& rng, uint64_t* next) {
  const auto below = [&](size_t n) { return static_cast<size_t>(rng.Word((*next)++) % n); };
  static const std::string kPieces[] = {"{",
                                        "}",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "\"",
                                        "'",
                                        "%",
                                        "#",
                                        ",",
                                        "=",
                                        "<=",
                                        "...",
                                        "->",
                                        "/*",
                                        "\\",
                                        "99999999999999999999",
                                        "-1",
                                        "4294967296",
                                        "1e999",
                                        "f32[",
                                        "tuple(",
                                        "constant({",
                                        "ROOT ",
                                        "ENTRY ",
                                        "nan(0x",
                                        "-start",
                                        "\n",
                                        "\0",
                                        "\xff",
                                        "replica_groups={{0},{1",
                                        "mesh['x'=9999999] {'x':(3)3}",
                                        "[2,2]<=[4]T(1,0)",
                                        "((((((((((((((((",
                                        "{{{{{{{{{{{{"};
  std::string damaged = text;
  const size_t at = below(text.size());
  switch (below(6)) {
    case 0:
      damaged.resize(at);
      break;
    case 1:
      damaged[at] = static_cast<char>(below(256));
      break;
    case 2:
      damaged.erase(at, 1 + below(20));
      break;
    case 3:
      damaged.insert(at, text.substr(below(text.size()), 1 + below(60)));
      break;
    case 4:
      damaged.insert(at, kPieces[below(std::size(kPieces))]);
      break;
    default:
      std::swap(damaged[at], damaged[below(text.size())]);
      break;
  }
  return damaged;
}

TEST(ParserDamageTest, AlwaysReturnsAndWhatIsAcceptedRoundTrips) {
  uint64_t next = 0;
  const CounterRng rng(20240229, 1);
  int accepted = 0, refused = 0;
  for (const std::string& seed : Seeds()) {
    for (int round = 0; round < 2500; ++round) {
      std::string text = seed;
      for (uint64_t changes = 1 + rng.Word(next++) % 3; changes > 0 && !text.empty(); --changes) {
        text = Damage(text, rng, &next);
      }
      auto module = ParseModule("damaged", text);
      if (!module) {
        ++refused;
        ASSERT_FALSE(module.error().diagnostics.empty());
        EXPECT_FALSE(FormatError(module.error()).empty());
        continue;
      }
      ++accepted;
      const std::string printed = PrintModule(*module);
      auto again = ParseModule("printed", printed);
      ASSERT_TRUE(again) << text << "\n" << FormatError(again.error());
      std::string why;
      EXPECT_TRUE(SameModule(*module, *again, &why)) << why << "\n" << text;
    }
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace hv
