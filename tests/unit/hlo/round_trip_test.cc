// Every HLO file of the test data parses, prints, and parses back to the same module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hlo/parser.h"
#include "hlo/printer.h"
#include "tests/unit/hlo/hlo_files.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

// Cases marked invalid may be refused by the parser already.
bool MayBeRefused(const fs::path& file) {
  const std::string text = ReadFile(file.parent_path() / "case.json");
  return text.find("\"expected\": \"invalid\"") != std::string::npos;
}

TEST(RoundTripTest, EveryFileOfTheTestData) {
  const std::vector<fs::path> files = HloFiles();
  EXPECT_GT(files.size(), 1000u);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    auto module = ParseModule(file.filename().string(), ReadFile(file));
    if (!module) {
      EXPECT_TRUE(MayBeRefused(file)) << FormatError(module.error());
      continue;
    }
    const std::string printed = PrintModule(*module);
    auto again = ParseModule("printed", printed);
    ASSERT_TRUE(again) << FormatError(again.error());
    std::string why;
    EXPECT_TRUE(SameModule(*module, *again, &why)) << why;
    EXPECT_EQ(PrintModule(*again), printed);
  }
}

}  // namespace
}  // namespace hv
