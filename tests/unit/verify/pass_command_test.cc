#include "verify/pass_command.h"

#include <gmock/gmock.h>

namespace hv {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& command, double timeout = 0) {
  auto output = RunPassCommand(command, "text", timeout);
  return output ? "succeeded" : FormatError(output.error());
}

TEST(PassCommand, PipesLargeText) {
  const std::string text(3 << 20, 'x');
  auto output = RunPassCommand("tr x y", text, 0);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(*output, std::string(3 << 20, 'y'));
}

TEST(PassCommand, MayIgnoreItsInput) {
  auto output = RunPassCommand("echo hello", std::string(1 << 20, 'x'), 0);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(*output, "hello\n");
}

TEST(PassCommand, FailuresAreNamed) {
  EXPECT_THAT(ErrorOf("echo why >&2; exit 3"), HasSubstr("failed with exit code 3"));
  EXPECT_THAT(ErrorOf("echo why >&2; exit 3"), HasSubstr("note: why"));
  EXPECT_THAT(ErrorOf("kill -9 $$"), HasSubstr("was killed by signal 9"));
  EXPECT_THAT(ErrorOf("nonexistent-command-x"), HasSubstr("exit code 127"));
}

TEST(PassCommand, IsKilledWithItsChildrenWhenItsTimeIsOver) {
  const auto output = RunPassCommand("sleep 30 | sleep 30", "text", 0.05);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().kind, ErrorKind::kTime);
  EXPECT_THAT(output.error().Message(), HasSubstr("ran out of time"));
}

}  // namespace
}  // namespace hv
