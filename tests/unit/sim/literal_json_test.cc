// Literals in JSON: exact integers, special floats, round trips of every type, and what is refused.
#include "sim/literal_json.h"

#include <gmock/gmock.h>

#include <memory>

#include "hlo/module.h"
#include "sim/compare.h"
#include "sim/generated_inputs.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

class LiteralJson : public ::testing::Test {
 protected:
  Result<Value> Read(ElementType type, std::initializer_list<int64_t> dims, const std::string& text) {
    document_ = JsonDocument::Parse("test.json", text);
    return ReadLiteralJson((*document_)->root(), shapes_.Array(type, dims));
  }
  std::string RoundTrip(ElementType type, std::initializer_list<int64_t> dims,
                        const std::string& text) {
    const Result<Value> value = Read(type, dims, text);
    if (!value) return value.error().diagnostics[0].id;
    std::string out;
    AppendLiteralJson(*value, &out);
    return out;
  }

  ShapeTable shapes_;
  std::optional<Result<JsonDocument>> document_;
};

TEST_F(LiteralJson, KeepsEveryBit) {
  using T = ElementType;
  EXPECT_EQ(RoundTrip(T::kS64, {}, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(RoundTrip(T::kU64, {}, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(RoundTrip(T::kS4, {2}, "[-8, 7]"), "[-8, 7]");
  EXPECT_EQ(RoundTrip(T::kPred, {2}, "[true, false]"), "[true, false]");
  EXPECT_EQ(RoundTrip(T::kF32, {4}, R"([0.1, "nan", "-inf", -0.0])"), R"([0.1, "nan", "-inf", -0.0])");
  EXPECT_EQ(RoundTrip(T::kBF16, {2}, "[0.10009765625, 1]"), "[0.10009765625, 1]");
  EXPECT_EQ(RoundTrip(T::kC64, {1}, "[[1.5, -2]]"), "[[1.5, -2]]");
  EXPECT_EQ(RoundTrip(T::kF32, {2, 0}, "[[], []]"), "[[], []]");
}

// 1 + 2^-24 + 2^-60 lies just above the middle of two f32; by way of a double it would be rounded down.
TEST_F(LiteralJson, ReadsF32InOneRounding) {
  EXPECT_EQ(RoundTrip(ElementType::kF32, {}, "1.00000005960464477540"), "1.0000001");
}

TEST_F(LiteralJson, RefusesWhatIsNoValueOfTheType) {
  using T = ElementType;
  EXPECT_EQ(RoundTrip(T::kS8, {}, "128"), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kU2, {}, "4"), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kS32, {}, "1.0"), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kPred, {}, "1"), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kF32, {}, "\"infinity\""), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kF32, {2}, "[1]"), "bad-literal");
  EXPECT_EQ(RoundTrip(T::kF32, {1}, "1"), "bad-literal");
  const Result<Value> value = Read(T::kS32, {2, 2}, "[[1, 2], [3, true]]");
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().Message(), HasSubstr("/1/1"));
}

TEST_F(LiteralJson, GeneratedValuesReadBackTheSameBits) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    if (!IsArrayType(type)) continue;
    const Value value = GenerateInput(shapes_.Array(type, {3, 5}), {7, 1, DeviceId(2), 3});
    std::string text;
    AppendLiteralJson(value, &text);
    const Result<Value> back = Read(type, {3, 5}, text);
    ASSERT_TRUE(back) << ToString(type) << " " << text;
    EXPECT_TRUE(SameBits(value, *back)) << ToString(type) << " " << text;
  }
}

TEST_F(LiteralJson, GeneratedValuesDependOnTheKeyAlone) {
  const Shape* shape = shapes_.Array(ElementType::kF32, {64});
  const InputKey key{1, 0, DeviceId(0), 0};
  EXPECT_TRUE(SameBits(GenerateInput(shape, key), GenerateInput(shape, key)));
  for (const InputKey& other : {InputKey{2, 0, DeviceId(0), 0}, InputKey{1, 1, DeviceId(0), 0},
                                InputKey{1, 0, DeviceId(1), 0}, InputKey{1, 0, DeviceId(0), 1}}) {
    EXPECT_FALSE(SameBits(GenerateInput(shape, key), GenerateInput(shape, other)));
  }
}

TEST_F(LiteralJson, ComparesWithinTheTolerance) {
  const Value a = *Read(ElementType::kF32, {3}, R"([1, "nan", -0.0])");
  const Value b = *Read(ElementType::kF32, {3}, R"([1.01, "nan", 0])");
  EXPECT_FALSE(Compare(a, b, 0.02));
  const auto difference = Compare(a, b, 0);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->index, std::vector<int64_t>{0});
  EXPECT_EQ(difference->got, "1");
  EXPECT_EQ(difference->expected, "1.01");
  EXPECT_EQ(difference->count, 1);
  const Value c = *Read(ElementType::kS32, {}, "5");
  const Value d = *Read(ElementType::kS32, {}, "6");
  EXPECT_TRUE(Compare(c, d, 10)) << "integers have to be equal";
}

}  // namespace
}  // namespace hv
