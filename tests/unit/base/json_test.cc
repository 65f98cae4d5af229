#include "base/json.h"

#include <gmock/gmock.h>

namespace hv {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JsonDocument MustParse(std::string text) {
  auto document = JsonDocument::Parse("t.json", std::move(text));
  EXPECT_TRUE(document.has_value()) << FormatError(document.error());
  return *document;
}

std::string ErrorOf(std::string text) {
  auto document = JsonDocument::Parse("t.json", std::move(text));
  return document ? "parsed" : FormatError(document.error());
}

TEST(Json, KeepsEveryKindOfValue) {
  const JsonDocument d = MustParse(R"({"a": [1, -2, 18446744073709551615, 2.50, "x\"\u00e9"],
      "b": {"c": null, "d": true}})");
  const std::span<const Json> a = d.root().Find("a")->items();
  EXPECT_EQ(a[0].integer(), 1);
  EXPECT_EQ(a[1].integer(), -2);
  EXPECT_TRUE(a[2].Is(Json::Kind::kUnsigned));
  EXPECT_EQ(static_cast<uint64_t>(a[2].integer()), UINT64_MAX);
  EXPECT_EQ(a[3].real(), 2.5);
  EXPECT_EQ(a[3].NumberText(), "2.50");
  EXPECT_EQ(a[4].string(), "x\"\xC3\xA9");
  EXPECT_TRUE(d.root().Find("b")->Find("d")->boolean());
  EXPECT_TRUE(d.root().Find("b")->Find("c")->Is(Json::Kind::kNull));
}

TEST(Json, IntegersAndRealsStayApart) {
  const JsonDocument d = MustParse("[3, 3.0, 99999999999999999999]");
  EXPECT_TRUE(d.root().items()[0].IsInteger());
  EXPECT_FALSE(d.root().items()[1].IsInteger());
  EXPECT_FALSE(d.root().items()[2].IsInteger());
}

TEST(Json, NodesKnowPlaceAndPath) {
  const JsonDocument d = MustParse("{\"a\": [\n  {\"b,:]\": \"}\"},\n  7]}");
  const Json& seven = d.root().Find("a")->items()[1];
  EXPECT_EQ(seven.Path(), "/a/1");
  const Diagnostic diagnostic = seven.MakeDiagnostic("id", "wrong");
  EXPECT_EQ(FormatDiagnostic(diagnostic), "t.json:3:3: error: /a/1: wrong\n    7]}\n    ^\n");
}

TEST(Json, RefusesWithPlace) {
  EXPECT_THAT(ErrorOf("{\"a\": 1,\n \"a\": 2}"), HasSubstr("t.json:2:7: error: duplicate key 'a'"));
  EXPECT_THAT(ErrorOf("[1,\n 2,,]"), HasSubstr("t.json:2:4: error: "));
  EXPECT_THAT(ErrorOf(""), HasSubstr("unexpected end of input"));
  EXPECT_THAT(ErrorOf("[\"\xFF\"]"), HasSubstr("UTF-8"));
  EXPECT_THAT(ErrorOf("[1e999]"), HasSubstr("number overflow"));
  EXPECT_THAT(ErrorOf("{} x"), HasSubstr("t.json:1:4"));
  EXPECT_THAT(ErrorOf(std::string(200, '[')), HasSubstr("nested too deeply"));
}

TEST(Json, ReaderCollectsAllErrors) {
  const JsonDocument d = MustParse(
      R"({"trials": 3.7, "seed": -1, "modus": "auto", "mode": "aut", "list": [1, "x"], "name": 1})");
  JsonErrors errors;
  ObjectReader reader(d.root(), &errors);
  constexpr std::string_view kModes[] = {"auto", "prove"};
  EXPECT_EQ(reader.Integer("trials", 4, 0, 10), 4);
  EXPECT_EQ(reader.Integer("seed", 1, 0, 10), 1);
  EXPECT_EQ(reader.Word("mode", kModes, 1), 1);
  EXPECT_THAT(reader.Integers("list", 0, 9), ElementsAre(1));
  EXPECT_EQ(reader.String("name", "n"), "n");
  reader.Require("version");
  reader.Finish();
  const std::string text = FormatError(std::move(errors).ToStatus().error());
  EXPECT_THAT(text, HasSubstr("t.json:1:12: error: /trials: expected an integer, not a number"));
  EXPECT_THAT(text, HasSubstr("/seed: -1 is not between 0 and 10"));
  EXPECT_THAT(text, HasSubstr("/mode: 'aut' is none of 'auto', 'prove' (did you mean 'auto'?)"));
  EXPECT_THAT(text, HasSubstr("/modus: unknown key 'modus' (did you mean 'mode'?)"));
  EXPECT_THAT(text, HasSubstr("/list/1: expected an integer between 0 and 9"));
  EXPECT_THAT(text, HasSubstr("/name: expected a string, not an integer"));
  EXPECT_THAT(text, HasSubstr("key 'version' is missing"));
}

TEST(Json, MissingFileIsAnError) {
  auto document = JsonDocument::ParseFile("/nonexistent/x.json");
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(FormatError(document.error()), "/nonexistent/x.json: error: cannot read the file\n");
}

}  // namespace
}  // namespace hv
