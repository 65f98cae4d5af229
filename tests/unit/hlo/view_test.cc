// The pieces of every View op against its index formula, element by element, on random shapes and
// attributes. The cases are texts, so shape inference and validation are checked along the way.
#include "hlo/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/philox.h"
#include "hlo/op.h"
#include "hlo/parser.h"
#include "hlo/validator.h"
#include "hlo/view_ops.h"

namespace hv {
namespace {

using Index = std::vector<int64_t>;

class Random {
 public:
  explicit Random(uint32_t seed) : seed_(seed) {}
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(Philox4x32({seed_, 7}, {count_++, 0, 0, 0})[0] %
                                static_cast<uint64_t>(n));
  }
  int64_t Between(int64_t lo, int64_t hi) { return lo + Below(hi - lo + 1); }
  bool Coin() { return Below(2) == 0; }
  Index Dims(int64_t max_rank, int64_t max_size = 4) {
    Index dims(static_cast<size_t>(Below(max_rank + 1)));
    for (int64_t& d : dims) d = Below(12) == 0 ? 0 : Between(1, max_size);
    return dims;
  }
  Index Permutation(size_t n) {
    Index p(n);
    std::iota(p.begin(), p.end(), 0);
    for (size_t i = n; i > 1; --i) std::swap(p[i - 1], p[static_cast<size_t>(Below(int64_t(i)))]);
    return p;
  }

 private:
  uint32_t seed_, count_ = 0;
};

int64_t Linear(const Index& index, std::span<const int64_t> dims) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + index[d];
  return at;
}

Index Delinear(int64_t at, std::span<const int64_t> dims) {
  Index index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
  return index;
}

// Where an element of the result comes from.
struct Source {
  int operand;
  int64_t element;
  friend bool operator==(const Source&, const Source&) = default;
};
// The index formula of an op: result index -> operand and index in it.
using Formula = std::function<std::pair<int, Index>(const Index&)>;

void CheckForm(const Piece& piece) {
  for (size_t i = 0; i < piece.digits.size(); ++i) {
    EXPECT_GT(piece.digits[i].extent, 1);
    EXPECT_GT(piece.digits[i].out_stride, 0);
    if (i == 0) continue;
    const Digit &a = piece.digits[i - 1], &b = piece.digits[i];
    EXPECT_GT(a.out_stride, b.out_stride);
    EXPECT_FALSE(a.out_stride == b.extent * b.out_stride && a.in_stride == b.extent * b.in_stride);
  }
}

std::vector<Source> Apply(const Pieces& pieces, int64_t count) {
  std::vector<Source> result(static_cast<size_t>(count), Source{-2, -1});
  for (const Piece& piece : pieces) {
    CheckForm(piece);
    const std::function<void(size_t, int64_t, int64_t)> walk = [&](size_t k, int64_t in,
                                                                   int64_t out) {
      if (k == piece.digits.size()) {
        result.at(static_cast<size_t>(out)) = {piece.operand, in};
        return;
      }
      const Digit& digit = piece.digits[k];
      for (int64_t i = 0; i < digit.extent; ++i) {
        walk(k + 1, in + i * digit.in_stride, out + i * digit.out_stride);
      }
    };
    walk(0, piece.in_base, piece.out_base);
  }
  return result;
}

struct Parsed {
  Module module;
  const Instruction* root = nullptr;
  std::vector<const Shape*> operands;
};

Parsed Parse(const std::string& entry) {
  auto module = ParseModule("m.hlo", "HloModule m\nENTRY e {\n" + entry + "\n}\n");
  EXPECT_TRUE(module) << entry << "\n" << FormatError(module.error());
  const Status valid = Validate(*module);
  EXPECT_TRUE(valid) << FormatError(valid.error());
  Parsed parsed{std::move(*module), nullptr, {}};
  parsed.root = &parsed.module.Entry().Root();
  for (const InstructionIndex operand : parsed.root->operands) {
    parsed.operands.push_back(parsed.module.Entry().At(operand).shape);
  }
  return parsed;
}

void Compare(const std::string& entry, const Formula& formula, const Index& starts = {}) {
  SCOPED_TRACE(entry);
  const Parsed parsed = Parse(entry);
  const Pieces pieces = Definition(*parsed.root).view(*parsed.root, parsed.operands, starts);
  const Shape& shape = *parsed.root->shape;
  const std::vector<Source> found = Apply(pieces, shape.element_count);
  for (int64_t at = 0; at < shape.element_count; ++at) {
    const auto [operand, index] = formula(Delinear(at, shape.dims));
    const Source expected{operand, Linear(index, parsed.operands[size_t(operand)]->dims)};
    ASSERT_EQ(found[static_cast<size_t>(at)], expected) << "element " << at;
  }
}

std::string F32(const Index& dims) { return fmt::format("f32[{}]", fmt::join(dims, ",")); }
std::string Operand(const Index& dims) { return fmt::format("x = {} parameter(0)\n", F32(dims)); }

class ViewTest : public testing::TestWithParam<int> {
 protected:
  Random random_{static_cast<uint32_t>(GetParam())};
};

TEST_P(ViewTest, Broadcast) {
  const Index result = random_.Dims(4);
  Index mapping = random_.Permutation(result.size());
  mapping.resize(static_cast<size_t>(random_.Below(int64_t(mapping.size()) + 1)));
  Index dims;
  for (const int64_t d : mapping) dims.push_back(result[size_t(d)]);
  Compare(Operand(dims) + fmt::format("ROOT r = {} broadcast(x), dimensions={{{}}}", F32(result),
                                      fmt::join(mapping, ",")),
          [&](const Index& o) {
            Index i;
            for (const int64_t d : mapping) i.push_back(o[size_t(d)]);
            return std::pair(0, i);
          });
}

TEST_P(ViewTest, Reshape) {
  const Index dims = random_.Dims(4);
  Index result(dims);
  if (result.size() > 1) {  // fuse two neighbours, add a dimension of 1
    result[0] *= result[1];
    result.erase(result.begin() + 1);
  }
  result.insert(result.begin() + random_.Below(int64_t(result.size()) + 1), 1);
  Compare(Operand(dims) + fmt::format("ROOT r = {} reshape(x)", F32(result)), [&](const Index& o) {
    return std::pair(0, Delinear(Linear(o, result), dims));
  });
}

TEST_P(ViewTest, Transpose) {
  const Index dims = random_.Dims(5, 3);
  const Index permutation = random_.Permutation(dims.size());
  Compare(Operand(dims) + fmt::format("ROOT r = transpose(x), dimensions={{{}}}",
                                      fmt::join(permutation, ",")),
          [&](const Index& o) {
            Index i(o.size());
            for (size_t k = 0; k < o.size(); ++k) i[size_t(permutation[k])] = o[k];
            return std::pair(0, i);
          });
}

TEST_P(ViewTest, Slice) {
  const Index dims = random_.Dims(3, 7);
  Index low, stride, size;
  std::vector<std::string> bounds;
  for (const int64_t n : dims) {
    low.push_back(random_.Between(0, n));
    const int64_t high = random_.Between(low.back(), n);
    stride.push_back(random_.Between(1, 3));
    size.push_back((high - low.back() + stride.back() - 1) / stride.back());
    bounds.push_back(fmt::format("[{}:{}:{}]", low.back(), high, stride.back()));
  }
  Compare(Operand(dims) + fmt::format("ROOT r = {} slice(x), slice={{{}}}", F32(size),
                                      fmt::join(bounds, ", ")),
          [&](const Index& o) {
            Index i(o.size());
            for (size_t d = 0; d < o.size(); ++d) i[d] = low[d] + o[d] * stride[d];
            return std::pair(0, i);
          });
}

TEST_P(ViewTest, Pad) {
  Index dims = random_.Dims(3, 4);
  if (dims.empty()) dims.push_back(3);  // padding needs a number
  Index low, interior;
  std::vector<std::string> edges;
  for (const int64_t n : dims) {
    interior.push_back(random_.Below(3));
    const int64_t inner = n + std::max<int64_t>(n - 1, 0) * interior.back();
    low.push_back(random_.Between(-inner, 3));
    const int64_t high = random_.Between(-std::max<int64_t>(low.back() + inner, 0), 3);
    edges.push_back(fmt::format("{}_{}_{}", low.back(),
                                std::max(high, -(low.back() + inner)), interior.back()));
  }
  Compare(Operand(dims) + "v = f32[] parameter(1)\n" +
              fmt::format("ROOT r = pad(x, v), padding={}", fmt::join(edges, "x")),
          [&](const Index& o) {
            Index i(o.size());
            for (size_t d = 0; d < o.size(); ++d) {
              const int64_t from = o[d] - low[d], step = interior[d] + 1;
              if (from < 0 || from % step != 0 || from / step >= dims[d]) {
                return std::pair(1, Index());
              }
              i[d] = from / step;
            }
            return std::pair(0, i);
          });
}

TEST_P(ViewTest, Concatenate) {
  Index dims = random_.Dims(3, 3);
  if (dims.empty()) dims.push_back(2);
  const auto along = static_cast<size_t>(random_.Below(int64_t(dims.size())));
  std::string entry, names;
  Index sizes;
  for (int k = 0; k < 3; ++k) {
    dims[along] = random_.Below(4);
    sizes.push_back(dims[along]);
    entry += fmt::format("x{} = {} parameter({})\n", k, F32(dims), k);
    names += fmt::format("{}x{}", k == 0 ? "" : ", ", k);
  }
  Compare(entry + fmt::format("ROOT r = concatenate({}), dimensions={{{}}}", names, along),
          [&](const Index& o) {
            Index i = o;
            int k = 0;
            while (i[along] >= sizes[size_t(k)]) i[along] -= sizes[size_t(k++)];
            return std::pair(k, i);
          });
}

TEST_P(ViewTest, Reverse) {
  const Index dims = random_.Dims(4);
  Index reversed = random_.Permutation(dims.size());
  reversed.resize(static_cast<size_t>(random_.Below(int64_t(reversed.size()) + 1)));
  Compare(Operand(dims) +
              fmt::format("ROOT r = reverse(x), dimensions={{{}}}", fmt::join(reversed, ",")),
          [&](const Index& o) {
            Index i = o;
            for (const int64_t d : reversed) i[size_t(d)] = dims[size_t(d)] - 1 - o[size_t(d)];
            return std::pair(0, i);
          });
}

// Start operands and their names in the list of operands.
std::string Starts(size_t rank, size_t first, std::string* names) {
  std::string entry;
  for (size_t d = 0; d < rank; ++d) {
    entry += fmt::format("i{} = s32[] parameter({})\n", d, first + d);
    *names += fmt::format(", i{}", d);
  }
  return entry;
}

TEST_P(ViewTest, DynamicSlice) {
  const Index dims = random_.Dims(3, 5);
  Index sizes, starts;
  for (const int64_t n : dims) {
    sizes.push_back(random_.Between(0, n));
    starts.push_back(random_.Between(-2, n + 2));
  }
  std::string names = "x";
  const std::string entry = Operand(dims) + Starts(dims.size(), 1, &names);
  Compare(entry + fmt::format("ROOT r = {} dynamic-slice({}), dynamic_slice_sizes={{{}}}",
                              F32(sizes), names, fmt::join(sizes, ",")),
          [&](const Index& o) {
            Index i(o.size());
            for (size_t d = 0; d < o.size(); ++d) {
              i[d] = std::min(std::max<int64_t>(starts[d], 0), dims[d] - sizes[d]) + o[d];
            }
            return std::pair(0, i);
          },
          ClampStarts(dims, sizes, starts));
}

TEST_P(ViewTest, DynamicUpdateSlice) {
  const Index dims = random_.Dims(3, 5);
  Index sizes, starts;
  for (const int64_t n : dims) {
    sizes.push_back(random_.Between(0, n));
    starts.push_back(random_.Between(-2, n + 2));
  }
  std::string names = "x, u";
  const std::string entry = Operand(dims) + fmt::format("u = {} parameter(1)\n", F32(sizes)) +
                            Starts(dims.size(), 2, &names);
  Compare(entry + fmt::format("ROOT r = {} dynamic-update-slice({})", F32(dims), names),
          [&](const Index& o) {
            Index i(o.size());
            for (size_t d = 0; d < o.size(); ++d) {
              i[d] = o[d] - std::min(std::max<int64_t>(starts[d], 0), dims[d] - sizes[d]);
              if (i[d] < 0 || i[d] >= sizes[d]) return std::pair(0, o);
            }
            return std::pair(1, i);
          },
          ClampStarts(dims, sizes, starts));
}

// Address of an element in memory.
int64_t Address(const Index& index, const Index& dims, const Index& minor_to_major) {
  int64_t address = 0;
  for (size_t k = dims.size(); k-- > 0;) {
    const auto d = static_cast<size_t>(minor_to_major[k]);
    address = address * dims[d] + index[d];
  }
  return address;
}

TEST_P(ViewTest, Bitcast) {
  const Index dims = random_.Dims(3);
  Index result;
  for (const int64_t p : random_.Permutation(dims.size())) {
    const int64_t size = dims[size_t(p)];
    const bool split = size % 2 == 0 && random_.Coin();
    if (split) result.push_back(2);
    result.push_back(split ? size / 2 : size);
  }
  if (result.size() > 1 && random_.Coin()) {
    result[1] *= result[0];
    result.erase(result.begin());
  }
  const Index from = random_.Permutation(dims.size()), to = random_.Permutation(result.size());
  const auto layout = [](const Index& order) {
    return order.empty() ? "" : fmt::format("{{{}}}", fmt::join(order, ","));
  };
  const std::string entry = fmt::format("x = {}{} parameter(0)\nROOT r = {}{} bitcast(x)",
                                        F32(dims), layout(from), F32(result), layout(to));
  const Parsed parsed = Parse(entry);
  if (!BitcastFactors(*parsed.operands[0], *parsed.root->shape)) return;
  const int64_t count = parsed.root->shape->element_count;
  std::vector<Index> at_address(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const Index index = Delinear(i, dims);
    at_address[size_t(Address(index, dims, from))] = index;
  }
  Compare(entry, [&](const Index& o) {
    return std::pair(0, at_address[size_t(Address(o, result, to))]);
  });
}

INSTANTIATE_TEST_SUITE_P(Random, ViewTest, testing::Range(0, 300));

TEST(BitcastFactorsTest, WhatFactorsAndWhatDoesNot) {
  const auto factors = [](std::string_view from, std::string_view to) {
    const Parsed parsed =
        Parse(fmt::format("x = {} parameter(0)\nROOT r = {} bitcast(x)", from, to));
    return BitcastFactors(*parsed.operands[0], *parsed.root->shape);
  };
  EXPECT_TRUE(factors("f32[2,3]{1,0}", "f32[3,2]{1,0}"));    // the same memory order: a reshape
  EXPECT_TRUE(factors("f32[2,3]{1,0}", "f32[3,2]{0,1}"));    // a transpose
  EXPECT_TRUE(factors("f32[4,3]{0,1}", "f32[3,2,2]{1,2,0}"));
  EXPECT_FALSE(factors("f32[2,3]{0,1}", "f32[3,2]{0,1}"));   // 3 does not divide by 2
  EXPECT_FALSE(factors("f32[4]", "u8[16]"));                 // other width
}

TEST(PieceTest, NormalizeFusesRuns) {
  Piece piece{0, 0, 0, {{3, 1, 1}, {1, 50, 7}, {4, 3, 3}, {5, 0, 12}}};
  Normalize(&piece);
  ASSERT_EQ(piece.digits.size(), 2u);
  EXPECT_EQ(piece.digits[0].extent, 5);
  EXPECT_EQ(piece.digits[0].in_stride, 0);
  EXPECT_EQ(piece.digits[1].extent, 12);
  EXPECT_EQ(piece.digits[1].out_stride, 1);
}

// The largest shape costs as little as the smallest.
TEST(PieceTest, SizesDoNotMatter) {
  const Parsed parsed = Parse(
      "x = f32[65536,65536,8192] parameter(0)\n"
      "ROOT r = transpose(x), dimensions={2,0,1}");
  const Pieces pieces = Definition(*parsed.root).view(*parsed.root, parsed.operands, {});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].digits.size(), 2u);
}

}  // namespace
}  // namespace hv
