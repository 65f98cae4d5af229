// rng-bit-generator: Philox4x32-10 and ThreeFry2x32-20, as XLA expands them. Source: hlo_ops 3.16.
#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <utility>

#include "base/philox.h"
#include "eval/convert.h"
#include "eval/native_opaque.h"

namespace hv {
namespace {

struct Words {
  uint32_t first, second;
};

Words ThreeFry2x32(uint64_t key, uint64_t counter) {
  const uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {low, high, low ^ high ^ 0x1BD11BDA};
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t x0 = static_cast<uint32_t>(counter) + keys[0];
  uint32_t x1 = static_cast<uint32_t>(counter >> 32) + keys[1];
  for (uint32_t i = 0; i < 5; ++i) {
    for (const int rotation : kRotations[i % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(i + 1) % 3];
    x1 += keys[(i + 2) % 3] + i + 1;
  }
  return {x0, x1};
}

struct Generated {
  std::vector<uint64_t> words;  // one per element, 32 or 64 bits used
  uint64_t state[3];
};

// Blocks of four 32-bit words for the counters C, C+1, ..; C is 128 bits wide.
Generated Philox(std::span<const uint64_t> state, size_t elements, bool wide) {
  const PhiloxKey key = {static_cast<uint32_t>(state[0]), static_cast<uint32_t>(state[0] >> 32)};
  uint64_t low = state[1], high = state.size() > 2 ? state[2] : state[0];
  Generated g;
  const size_t per_block = wide ? 2 : 4;
  while (g.words.size() < elements) {
    const PhiloxBlock b =
        Philox4x32(key, {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                         static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)});
    for (size_t j = 0; j < per_block && g.words.size() < elements; ++j) {
      g.words.push_back(wide ? b[2 * j] | uint64_t{b[2 * j + 1]} << 32 : b[j]);
    }
    if (++low == 0) ++high;
  }
  g.state[0] = state[0];
  g.state[1] = low;
  g.state[2] = high;
  return g;
}

Generated ThreeFryWide(uint64_t key, uint64_t counter, size_t elements) {
  Generated g;
  for (size_t p = 0; p < elements; ++p) {
    const Words w = ThreeFry2x32(key, counter + p);
    g.words.push_back(w.first | uint64_t{w.second} << 32);
  }
  g.state[0] = key;
  g.state[1] = counter + elements;
  return g;
}

// Both words of a cipher land next to each other along the split dimension: the first even-sized
// one, else the largest.
Generated ThreeFryNarrow(uint64_t key, uint64_t counter, std::span<const int64_t> dims,
                         size_t elements) {
  Generated g;
  g.words.resize(elements);
  g.state[0] = key;
  const auto even = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d % 2 == 0; });
  const auto split = even != dims.end() ? even : std::max_element(dims.begin(), dims.end());
  const int64_t length = dims.empty() ? 1 : *split;
  const int64_t half = (length + 1) / 2;
  const int64_t stride =
      dims.empty() ? 1 : RowMajorStrides(dims)[static_cast<size_t>(split - dims.begin())];
  const int64_t outer = length == 0 ? 0 : static_cast<int64_t>(elements) / (length * stride);
  uint64_t position = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t h = 0; h < half; ++h) {
      for (int64_t i = 0; i < stride; ++i, ++position) {
        const Words w = ThreeFry2x32(key, counter + position);
        const auto at = static_cast<size_t>((o * length + 2 * h) * stride + i);
        g.words[at] = w.first;
        if (2 * h + 1 < length) g.words[at + static_cast<size_t>(stride)] = w.second;
      }
    }
  }
  g.state[1] = counter + position;
  return g;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

Result<Value> NativeRngBitGenerator(const KernelCall& call, const Value& state) {
  if (state.shape()->type != ElementType::kU64 || state.element_count() < 2 ||
      state.element_count() > 3) {
    return NotImplemented(call, "a state other than u64[2] or u64[3]");
  }
  const Shape& bits = *call.shape->elements[1];
  const bool wide = BitWidth(bits.type) == 64;
  const auto elements = static_cast<size_t>(bits.element_count);
  const std::span<const uint64_t> words = state.As<uint64_t>();
  const std::string algorithm = Lower(call.instruction.Text(Attr::kAlgorithm));
  Generated g;
  if (algorithm != "rng_three_fry") {  // the default is Philox
    g = Philox(words, elements, wide);
  } else if (wide) {
    g = ThreeFryWide(words[0], words[1], elements);
  } else {
    g = ThreeFryNarrow(words[0], words[1], bits.dims, elements);
  }
  Value next = Value::NewNative(call.shape->elements[0]);
  std::copy_n(g.state, words.size(), next.MutableAs<uint64_t>().begin());
  ShapeTable& shapes = call.module.context->shapes;
  Value all = Value::NewNative(shapes.WithType(bits, ElementType::kU64));
  std::copy(g.words.begin(), g.words.end(), all.MutableAs<uint64_t>().begin());
  HV_ASSIGN(all, ConvertValue(call.module, all, bits.type));
  return Value::Tuple(call.shape, {std::move(next), all.WithShape(&bits)});
}

}  // namespace hv
