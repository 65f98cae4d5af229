// Custom calls that get a definition: calls of a copied computation, chosen by shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/custom_call_definitions.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"

namespace hv {
namespace {

using testing::HasSubstr;

Module Parse(const std::string& file, const std::string& text) {
  auto module = ParseModule(file, "HloModule m\n" + text);
  EXPECT_TRUE(module) << FormatError(module.error());
  return std::move(*module);
}

CustomCallDefinition Square(const std::string& target, const std::string& shape) {
  return {target, Parse("square.hlo", "times { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                                      " ROOT r = f32[] multiply(a, b) }\n"
                                      "ENTRY main { x = " + shape + " parameter(0)\n"
                                      " ROOT y = " + shape + " map(x, x), to_apply=times }")};
}

const std::string kCaller =
    "times { a = f32[2] parameter(0)\n"
    " ROOT r = f32[2] custom-call(a), custom_call_target=\"my.square\", sharding={replicated},"
    " backend_config=\"x\" }\n"
    "ENTRY main { x = f32[2] parameter(0)\n y = f32[2] call(x), to_apply=times\n"
    " ROOT z = f32[2] custom-call(y), custom_call_target=\"my.square\" }";

TEST(CustomCallDefinitions, BecomeCallsOfOneCopy) {
  Module module = Parse("m.hlo", kCaller);
  {
    const CustomCallDefinition definitions[] = {Square("my.square", "f32[3]"),
                                                Square("my.square", "f32[2]")};
    ASSERT_TRUE(DefineCustomCalls(definitions, &module));
  }  // the module keeps what it took from the definitions
  const Status valid = Validate(module);
  EXPECT_TRUE(valid) << FormatError(valid.error());
  const std::string text = PrintModule(module);
  EXPECT_EQ(text.find("custom-call"), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("call(%a), to_apply=%my.square.main, sharding={replicated}"));
  EXPECT_THAT(text, HasSubstr("map(%x, %x), to_apply=%my.square.times"));
  EXPECT_EQ(module.computations.size(), 4u);
  EXPECT_EQ(module.Entry().name, "main");
  const auto again = ParseModule("printed", text);
  ASSERT_TRUE(again) << FormatError(again.error());
}

TEST(CustomCallDefinitions, OtherTargetsStay) {
  Module module = Parse("m.hlo", kCaller);
  const CustomCallDefinition definitions[] = {Square("another", "f32[2]")};
  ASSERT_TRUE(DefineCustomCalls(definitions, &module));
  EXPECT_EQ(module.computations.size(), 2u);
}

TEST(CustomCallDefinitions, ShapesMustAgree) {
  Module module = Parse("m.hlo", kCaller);
  const CustomCallDefinition definitions[] = {Square("my.square", "f32[3]")};
  const Status status = DefineCustomCalls(definitions, &module);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().diagnostics[0].id, "custom-call-definition");
  EXPECT_EQ(status.error().diagnostics[0].place.line, 3);
  EXPECT_EQ(status.error().Message(),
            "custom-call: parameter 0 of square.hlo is f32[3], not f32[2]");
}

TEST(CustomCallDefinitions, FlagsNameTargetAndFile) {
  const std::string bad[] = {"my.square"};
  const auto unreadable = ReadCustomCallDefinitions(bad);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().diagnostics[0].id, "custom-call-flag");
  const std::string missing[] = {"t=no/such.hlo"};
  EXPECT_FALSE(ReadCustomCallDefinitions(missing));
}

}  // namespace
}  // namespace hv
