// The table of ops is complete and consistent, documented in docs/ops.md, and every op has a golden
// module that parses, validates and prints back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hlo/op.h"
#include "hlo/op_listing.h"
#include "hlo/op_rounding.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class OpTest : public testing::TestWithParam<int> {
 protected:
  const OpDef& def() const { return Definition(static_cast<Opcode>(GetParam())); }
};

TEST_P(OpTest, RowIsConsistent) {
  EXPECT_EQ(def().opcode, static_cast<Opcode>(GetParam()));
  EXPECT_THAT(std::string(def().doc), testing::MatchesRegex(".+\\. \\(.+\\)"));
  EXPECT_FALSE(TypesOf(def()).empty());
  EXPECT_FALSE(RoundingOf(def()).empty());
  EXPECT_EQ(LibraryUlpsOf(def().opcode).has_value(),
            def().exactness == Exactness::kLibrary && RoundingOf(def()).starts_with("<="));
  EXPECT_EQ(DomainsOf(def()) == "none", def().kernel == KernelKind::kRefused);
  EXPECT_TRUE(def().max_operands < 0 || def().max_operands == def().min_operands);
  const bool reads = def().kernel == KernelKind::kScalar || def().opcode == Opcode::kBitcast;
  EXPECT_EQ(reads, def().scalar != ScalarFn::kNone);
  EXPECT_EQ(def().kernel == KernelKind::kView, def().view != nullptr);
  const bool unrepeatable =
      def().kernel == KernelKind::kRefused || def().kernel == KernelKind::kHidden;
  EXPECT_EQ(unrepeatable,
            def().exactness == Exactness::kNone && def().opcode != Opcode::kCustomCall);
  // Somebody says what the result shape is.
  const bool free = def().opcode == Opcode::kParameter;
  EXPECT_TRUE(free || def().infer != nullptr || def().rule != nullptr);
  EXPECT_TRUE(def().infer != nullptr || def().shape_required);
}

TEST_P(OpTest, AttributesAreDistinctAndNotCommon) {
  std::vector<Attr> keys;
  for (const AttrSpec& spec : def().attributes) {
    EXPECT_LT(spec.key, Attr::kSharding) << Row(spec.key).text;
    keys.push_back(spec.key);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST_P(OpTest, GoldenModule) {
  const std::string name(ToString(def().opcode));
  const std::string text = ReadFile(fs::path(HV_SOURCE_DIR) / "tests/golden" / (name + ".hlo"));
  ASSERT_FALSE(text.empty()) << "no golden module for " << name;
  auto module = ParseModule(name + ".hlo", text);
  ASSERT_TRUE(module) << FormatError(module.error());
  const Status valid = Validate(*module);
  EXPECT_TRUE(valid) << FormatError(valid.error());
  const bool present = std::any_of(
      module->computations.begin(), module->computations.end(), [&](const Computation& c) {
        return std::any_of(c.instructions.begin(), c.instructions.end(),
                           [&](const Instruction& i) { return i.opcode == def().opcode; });
      });
  EXPECT_TRUE(present);
  auto again = ParseModule("printed", PrintModule(*module));
  ASSERT_TRUE(again) << FormatError(again.error());
  std::string why;
  EXPECT_TRUE(SameModule(*module, *again, &why)) << why;
}

INSTANTIATE_TEST_SUITE_P(All, OpTest, testing::Range(0, kOpcodeCount), [](const auto& op) {
  std::string name(ToString(static_cast<Opcode>(op.param)));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(OpTableTest, SortedAndCounted) {
  EXPECT_EQ(kOpcodeCount, 133);
  EXPECT_TRUE(std::is_sorted(std::begin(kOpcodeNames), std::end(kOpcodeNames)));
}

TEST(OpTableTest, DocumentIsTheTable) {
  EXPECT_EQ(ReadFile(fs::path(HV_SOURCE_DIR) / "docs/ops.md"), OpTableMarkdown())
      << "docs/ops.md is not what run_hlo --list-ops prints";
}

TEST(OpTableTest, GoldenModulesAreAboutOps) {
  for (const auto& entry : fs::directory_iterator(fs::path(HV_SOURCE_DIR) / "tests/golden")) {
    if (entry.path().extension() != ".hlo") continue;
    EXPECT_TRUE(ParseOpcode(entry.path().stem().string())) << entry.path();
  }
}

TEST(OpTableTest, PlainOpcodes) {
  EXPECT_EQ(PlainOpcode(Opcode::kAllReduceStart), Opcode::kAllReduce);
  EXPECT_EQ(PlainOpcode(Opcode::kAllGatherStart), Opcode::kAllGather);
  EXPECT_EQ(PlainOpcode(Opcode::kCollectivePermuteStart), Opcode::kCollectivePermute);
  EXPECT_EQ(PlainOpcode(Opcode::kAllToAll), Opcode::kAllToAll);
  EXPECT_TRUE(IsCollective(Opcode::kSend));
  EXPECT_FALSE(IsCollective(Opcode::kAllReduceDone));
}

}  // namespace
}  // namespace hv
