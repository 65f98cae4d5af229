// Folding many streams in one pass has the bits of folding them two at a time, for every element
// type, reducer, number of streams and number of threads.
#include "eval/stream_fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/philox.h"
#include "eval/combiner.h"
#include "eval/scalar_op.h"
#include "hlo/parser.h"

namespace hv {
namespace {

using Bytes = std::vector<std::byte>;

// A module whose computation 0 is `body` over scalars a and b of `type`.
Module ReducerOf(const std::string& type, const std::string& body) {
  const std::string text = "HloModule m\nr { a = " + type + "[] parameter(0)\n b = " + type +
                           "[] parameter(1)\n " + body + " }\nENTRY e { x = " + type +
                           "[1] parameter(0)\n ROOT y = " + type +
                           "[1] all-reduce(x), replica_groups={}, to_apply=r }";
  return *ParseModule("m", text);
}

// The exponent bits of a float that is stored in 16 bits or more.
uint64_t ExponentBits(ElementType type) {
  switch (type) {
    case ElementType::kF16: return 0x7C00;
    case ElementType::kBF16: return 0x7F80;
    case ElementType::kF32: return 0x7F800000;
    case ElementType::kF64: return 0x7FF0000000000000;
    default: return 0;
  }
}

// Integers of all bits; floats of all magnitudes, zeros of both signs, infinities and NaNs.
Bytes RandomStream(ElementType type, uint64_t number, size_t count) {
  const CounterRng rng(7, number);
  const ElementType part = ComponentType(type);
  if (part != type) count *= 2;
  Bytes bytes(count * static_cast<size_t>(HostBytes(part)));
  std::vector<double> reals(count);
  std::vector<int64_t> integers(count);
  for (size_t i = 0; i < count; ++i) {
    integers[i] = static_cast<int64_t>(rng.Word(i));
    const int exponent = static_cast<int>(rng.Word(i) % 300) - 150;
    reals[i] = std::ldexp(static_cast<double>(integers[i] % 1000), exponent / 10 * (exponent % 3));
  }
  const bool real = IsFloat(part);
  const std::byte* const in[1] = {real ? reinterpret_cast<const std::byte*>(reals.data())
                                       : reinterpret_cast<const std::byte*>(integers.data())};
  ScalarOp::Convert(real ? ElementType::kF64 : ElementType::kS64, part)->Run(in, bytes.data(), count);
  const uint64_t exponent = real ? ExponentBits(part) : 0;
  const size_t width = static_cast<size_t>(HostBytes(part));
  for (size_t i = number % 3; exponent != 0 && i < count; i += 3) {
    const uint64_t nan = rng.Word(count + i) | exponent;
    std::memcpy(bytes.data() + i * width, &nan, width);
  }
  return bytes;
}

Bytes TwoAtATime(const Module& module, ElementType type, const std::vector<Bytes>& streams,
                 size_t count) {
  Bytes folded = streams[0];
  const auto combiner = MakeNativeCombiner(module, 0, {&type, 1});
  for (size_t k = 1; k < streams.size(); ++k) {
    std::byte* const out = folded.data();
    const std::byte* const term = streams[k].data();
    EXPECT_TRUE((*combiner)->Combine({&out, 1}, {&term, 1}, count));
  }
  return folded;
}

Bytes AtOnce(const Module& module, ElementType type, const std::vector<Bytes>& streams,
             size_t count, bool wide = false) {
  std::vector<const std::byte*> in;
  for (const Bytes& stream : streams) in.push_back(stream.data());
  Bytes out(streams[0].size());
  StreamFold::Make(module, 0, type, wide)->Run(in, out.data(), count);
  return out;
}

std::vector<Bytes> RandomStreams(ElementType type, size_t streams, size_t count) {
  std::vector<Bytes> all;
  for (size_t k = 0; k < streams; ++k) all.push_back(RandomStream(type, k, count));
  return all;
}

TEST(StreamFold, IsTheFoldTwoAtATimeForEveryTypeAndFunction) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (!IsArrayType(type)) continue;
    for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor", "subtract"}) {
      const bool bitwise = std::string_view("and or xor").find(op) != std::string_view::npos;
      if ((IsFloat(type) || IsComplex(type)) && bitwise) continue;
      if (IsComplex(type) && std::string_view(op).substr(1) == "aximum") continue;
      const Module module = ReducerOf(std::string(ToString(type)),
                                      "ROOT c = " + std::string(ToString(type)) + "[] " + op +
                                          "(a, b)");
      if (!StreamFold::Make(module, 0, type)) continue;  // not defined on this type
      for (const size_t streams : {1, 2, 3, 4, 5, 8, 9, 17}) {
        const size_t count = 1029;
        const std::vector<Bytes> in = RandomStreams(type, streams, count);
        EXPECT_TRUE(AtOnce(module, type, in, count) == TwoAtATime(module, type, in, count))
            << ToString(type) << ' ' << op << " of " << streams;
      }
    }
  }
}

TEST(StreamFold, DoesNotDependOnTheNumberOfThreads) {
  const size_t count = 100'003;
  for (const char* body : {"ROOT c = bf16[] add(a, b)", "ROOT c = bf16[] subtract(b, a)"}) {
    const Module module = ReducerOf("bf16", body);
    const std::vector<Bytes> in = RandomStreams(ElementType::kBF16, 6, count);
    for (const bool wide : {false, true}) {
      SetThreadCount(1);
      const Bytes one = AtOnce(module, ElementType::kBF16, in, count, wide);
      SetThreadCount(3);
      EXPECT_EQ(AtOnce(module, ElementType::kBF16, in, count, wide), one);
      SetThreadCount(1);
    }
  }
}

TEST(StreamFold, SumsWideOnDemand) {
  const Module module = ReducerOf("bf16", "ROOT c = bf16[] add(a, b)");
  const uint16_t one = 0x3F80, tiny = 0x3B80;  // 1 and 2^-8, which vanishes beside it
  std::vector<Bytes> in(3, Bytes(2));
  std::memcpy(in[0].data(), &one, 2);
  for (const size_t k : {1, 2}) std::memcpy(in[k].data(), &tiny, 2);
  EXPECT_EQ(AtOnce(module, ElementType::kBF16, in, 1), in[0]);
  EXPECT_EQ(AtOnce(module, ElementType::kBF16, in, 1, true)[0], std::byte{0x81});
}

}  // namespace
}  // namespace hv
