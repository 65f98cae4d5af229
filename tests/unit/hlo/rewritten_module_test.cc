// Mistakes that only a rewritten module can have, and: every diagnostic id of the rules has a test.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "hlo/parser.h"
#include "hlo/validator.h"

namespace hv {
namespace {

// The parser lets none of these through.
class RewrittenModuleTest : public testing::Test {
 protected:
  RewrittenModuleTest() {
    auto module = ParseModule("m.hlo", R"(HloModule m
      callee { ROOT a = f32[4] parameter(0) }
      ENTRY main {
        x = f32[4] parameter(0)
        i = s32[4] iota(), iota_dimension=0
        c = f32[] constant(1)
        y = f32[4] call(x), to_apply=callee
        ROOT z = f32[4] add(x, y), control-predecessors={i}
      })");
    EXPECT_TRUE(module);
    module_ = std::move(*module);
    EXPECT_TRUE(Validate(module_));
  }

  Computation& entry() { return module_.computations.back(); }
  Instruction& at(size_t i) { return entry().instructions[i]; }
  void ExpectId(const std::string& id) {
    const Status status = Validate(module_);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().diagnostics.front().id, id) << FormatError(status.error());
  }

  Module module_;
};

TEST_F(RewrittenModuleTest, AttributeMissing) {
  at(1).attributes = {};
  ExpectId("attribute-missing");
}

TEST_F(RewrittenModuleTest, AttributeUnknown) {
  at(4).attributes = at(1).attributes;
  ExpectId("attribute-unknown");
}

TEST_F(RewrittenModuleTest, ConstantWithoutLiteral) {
  at(2).literal = nullptr;
  ExpectId("constant-literal");
}

TEST_F(RewrittenModuleTest, OperandAfterUser) {
  std::swap(at(3), at(4));
  ExpectId("operand-order");
}

TEST_F(RewrittenModuleTest, ControlPredecessorAfter) {
  std::swap(at(1), at(4));
  at(1).operands = at(1).operands.first(0);
  ExpectId("control-order");
}

TEST_F(RewrittenModuleTest, CalleeAfterCaller) {
  std::swap(module_.computations[0], module_.computations[1]);
  module_.entry = 0;
  ExpectId("callee-order");
}

TEST_F(RewrittenModuleTest, NoRoot) {
  entry().root = 7;
  ExpectId("root-missing");
}

TEST_F(RewrittenModuleTest, NoEntry) {
  module_.entry = 2;
  ExpectId("entry-missing");
}

TEST_F(RewrittenModuleTest, ParameterNumbers) {
  entry().parameters = {1};
  ExpectId("parameter-numbers");
}

TEST_F(RewrittenModuleTest, NoShape) {
  at(1).shape = nullptr;
  ExpectId("shape-needed");
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Ids that appear in a call of the error functions in the sources, against ids named in tests.
TEST(ValidatorCoverageTest, EveryIdHasATest) {
  std::string tests;
  for (const char* file :
       {"rewritten_module_test.cc", "op_rules_test.cc", "device_rules_test.cc"}) {
    tests += ReadFile(std::string(HV_SOURCE_DIR "/tests/unit/hlo/") + file);
  }
  const std::regex call("\\b(?:Wrong|Fail|Add)\\([^\";)]*\"([a-z]+(?:-[a-z]+)*)\"");
  std::set<std::string> ids;
  for (const char* file : {"rules", "window_rules", "ops_alias", "ops_async", "ops_binary",
                           "ops_collective", "ops_contract", "ops_convolution", "ops_dynamic",
                           "ops_gather", "ops_movement", "ops_opaque", "ops_reduce", "ops_region",
                           "ops_source", "ops_unary", "validator", "validator_async",
                           "validator_devices", "validator_sharding", "validator_structure"}) {
    const std::string source = ReadFile(std::string(HV_SOURCE_DIR "/hlo/") + file + ".cc");
    ASSERT_FALSE(source.empty()) << file;
    for (std::sregex_iterator match(source.begin(), source.end(), call), end; match != end;
         ++match) {
      ids.insert((*match)[1]);
    }
  }
  EXPECT_GT(ids.size(), 60u);
  for (const std::string& id : ids) {
    EXPECT_NE(tests.find("\"" + id + "\""), std::string::npos) << "no test for " << id;
  }
}

}  // namespace
}  // namespace hv
