// Every module of the test data is valid, except the last module of each case marked invalid.
#include <gtest/gtest.h>

#include <filesystem>

#include "hlo/parser.h"
#include "hlo/validator.h"
#include "tests/unit/hlo/hlo_files.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

bool MustBeRefused(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string text = ReadFile(folder / "case.json");
  const bool last = file.filename() == "after.hlo" || !fs::exists(folder / "after.hlo");
  return last && text.find("\"expected\": \"invalid\"") != std::string::npos;
}

TEST(ValidateDataTest, EveryFileOfTheTestData) {
  size_t refused = 0;
  for (const fs::path& file : HloFiles()) {
    SCOPED_TRACE(file.string());
    auto module = ParseModule(file.filename().string(), ReadFile(file));
    const Status status = module ? Validate(*module) : Status(tl::make_unexpected(module.error()));
    if (MustBeRefused(file)) {
      ++refused;
      EXPECT_FALSE(status);
    } else {
      EXPECT_TRUE(status) << FormatError(status.error());
    }
  }
  EXPECT_EQ(refused, 6u);
}

}  // namespace
}  // namespace hv
