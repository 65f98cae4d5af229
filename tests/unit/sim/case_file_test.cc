// Case files: what must come out, and what is wrong with one.
#include "sim/case_file.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <fstream>

#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

Result<CaseFile> Read(const std::string& text, const std::string& key = "") {
  const std::string path =
      ::testing::TempDir() + "case_" + std::to_string(getpid()) + ".json";  // tests run in parallel
  std::ofstream(path) << text;
  return CaseFile::Read(path, key);
}

std::string ErrorOf(const std::string& text, const std::string& key = "") {
  const Result<CaseFile> file = Read(text, key);
  return file ? "" : file.error().Message();
}

TEST(CaseFile, OutcomeFollowsExpected) {
  using Outcome = CaseFile::Outcome;
  EXPECT_EQ(Read(R"({"inputs_all": [], "expected": {}})")->outcome(), Outcome::kValues);
  EXPECT_EQ(Read(R"({"inputs_all": [], "expected": "equivalent", "expected_outputs": {}})")->outcome(),
            Outcome::kValues);
  EXPECT_EQ(Read(R"({"expected": "equivalent"})")->outcome(), Outcome::kAny);
  EXPECT_EQ(Read(R"({"expected": {}})")->outcome(), Outcome::kAny) << "values of inputs not stated";
  EXPECT_EQ(Read(R"({"expected": "invalid"})")->outcome(), Outcome::kInvalid);
  EXPECT_EQ(Read(R"({"expected": "deadlock"})")->outcome(), Outcome::kDeadlock);
}

TEST(CaseFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf("[]"), ::testing::HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOf(R"({"replica_count": 0})"), ::testing::HasSubstr("/replica_count"));
  EXPECT_THAT(ErrorOf(R"({"tolerance": "1"})"), ::testing::HasSubstr("/tolerance"));
  EXPECT_THAT(ErrorOf("{}", "expected_outputs"), ::testing::HasSubstr("no key 'expected_outputs'"));
}

TEST(CaseFile, ReadsInputsOfADevice) {
  const Module module = ParseOrDie(R"(HloModule m, replica_count=2
ENTRY main { t = (s32[], f32[2]) parameter(0)  ROOT r = s32[] parameter(1) })");
  const Mesh mesh{2, 1};
  const Result<CaseFile> file =
      Read(R"({"inputs": {"0,0": [[7, [1, 2]], 8], "1,0": [[7], 8]}, "expected": {"0,0": [8]}})");
  ASSERT_TRUE(file);
  const Result<Value> tuple = file->Input(module, mesh, DeviceId(0), 0);
  ASSERT_TRUE(tuple) << FormatError(tuple.error());
  EXPECT_EQ(tuple->elements()[1].As<float>()[1], 2);
  EXPECT_EQ((*file->Expected(module, mesh, DeviceId(0)))[0].As<int32_t>()[0], 8);
  EXPECT_FALSE(file->Input(module, mesh, DeviceId(1), 0)) << "a tuple of two has two elements";
  EXPECT_THAT(file->Expected(module, mesh, DeviceId(1)).error().Message(),
              ::testing::HasSubstr("no entry for device 1,0"));
}

}  // namespace
}  // namespace hv
