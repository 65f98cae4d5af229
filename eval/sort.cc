// sort and topk. Source: hlo_ops 3.10.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "eval/convert.h"
#include "eval/native_opaque.h"
#include "eval/op_hash.h"
#include "eval/order_keys.h"
#include "eval/radix_sort.h"
#include "eval/scalar_program.h"

namespace hv {
namespace {

// Stable merge sort that never reads outside, whatever `less` answers: short stretches by binary
// insertion, longer ones halved; the right element goes first only if it is less.
template <class Less>
class StableSort {
 public:
  explicit StableSort(Less less) : less_(std::move(less)) {}

  void Run(std::span<int64_t> row) {
    if (row.size() < 9) return Insert(row);
    const size_t middle = row.size() / 2;
    Run(row.first(middle));
    Run(row.subspan(middle));
    std::vector<int64_t> left(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(middle));
    size_t l = 0, r = middle, out = 0;
    while (l < left.size() && r < row.size()) {
      row[out++] = less_(row[r], left[l]) ? row[r++] : left[l++];
    }
    while (l < left.size()) row[out++] = left[l++];
  }

 private:
  void Insert(std::span<int64_t> row) {
    for (auto i = row.begin(); i != row.end(); ++i) {
      const auto at =
          std::upper_bound(row.begin(), i, *i, [&](int64_t a, int64_t b) { return less_(a, b); });
      std::rotate(at, i, i + 1);
    }
  }

  Less less_;
};

// A comparator that compares one function of an element with the same function of the other: which
// operand's elements, which way round.
struct DirectComparison {
  size_t operand;
  bool descending;
  bool total_order;
  std::optional<InstructionIndex> function;  // of the first element; nothing: itself
};

// Is `b` computed from parameter `p ^ 1` as `a` is from parameter p, and from nothing else? Gives
// up after `steps_left` instructions: those read often are visited as often.
bool IsSameFunction(const Module& module, const Computation& body, InstructionIndex a_index,
                    InstructionIndex b_index, int64_t p, int* steps_left) {
  const Instruction &a = body.At(a_index), &b = body.At(b_index);
  if (--*steps_left < 0 || a.opcode != b.opcode || a.shape->type != b.shape->type) return false;
  if (a.opcode == Opcode::kParameter) {
    return a.parameter_number == p && b.parameter_number == (p ^ 1);
  }
  if (a.opcode == Opcode::kConstant) {
    const std::span<const std::byte> x = a.literal->bytes, y = b.literal->bytes;
    return !a.literal->elided && !b.literal->elided &&
           std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  if (Definition(a).kernel != KernelKind::kScalar || a.operands.size() != b.operands.size() ||
      HashOfOp(module, a) != HashOfOp(module, b)) {
    return false;
  }
  for (size_t k = 0; k < a.operands.size(); ++k) {
    if (!IsSameFunction(module, body, a.operands[k], b.operands[k], p, steps_left)) return false;
  }
  return true;
}

std::optional<DirectComparison> RecognizeComparator(const Module& module,
                                                    ComputationIndex computation) {
  const Computation& body = module.At(computation);
  const Instruction& root = body.Root();
  if (root.opcode != Opcode::kCompare) return std::nullopt;
  const Direction direction = DirectionOf(root.Text(Attr::kCompareDirection));
  const bool less = direction == Direction::kLt, greater = direction == Direction::kGt;
  if (!less && !greater) return std::nullopt;
  const Instruction& side = body.At(root.operands[0]);
  const bool total = !IsFloat(side.shape->type) || root.Text(Attr::kCompareType) == "TOTALORDER";
  for (int64_t p = 0; p < std::ssize(body.parameters); ++p) {
    int steps = 1000;
    if (!IsSameFunction(module, body, root.operands[0], root.operands[1], p, &steps)) continue;
    const bool swapped = p % 2 != 0;
    DirectComparison found{static_cast<size_t>(p / 2), greater != swapped, total, std::nullopt};
    if (side.opcode != Opcode::kParameter) found.function = root.operands[0];
    return found;
  }
  return std::nullopt;
}

// Elements of row number `row` along a dimension lie `stride` apart from `first` on.
struct Rows {
  int64_t length, stride, count;
  int64_t First(int64_t row) const { return row / stride * stride * length + row % stride; }
};

Rows RowsOf(const Shape& shape, int64_t dimension) {
  const auto d = static_cast<size_t>(dimension);
  const int64_t length = shape.dims[d];
  const int64_t stride = RowMajorStrides(shape.dims)[d];
  return {length, stride, length == 0 ? 0 : shape.element_count / length};
}

void PermuteRow(const Value& from, int64_t first, int64_t stride, std::span<const int64_t> order,
                std::byte* out) {
  const auto width = static_cast<size_t>(from.element_bytes());
  const std::byte* in = from.bytes().data();
  for (size_t i = 0; i < order.size(); ++i) {
    const auto to = static_cast<size_t>(first + static_cast<int64_t>(i) * stride);
    const auto at = static_cast<size_t>(first + order[i] * stride);
    std::memcpy(out + to * width, in + at * width, width);
  }
}

// How the bits of a type order its elements.
struct Order {
  bool is_float, is_signed, descending;
  bool total;  // of floats: -0 before +0, NaNs at the ends; else zeros are equal and no NaN comes
};

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

// Unsigned numbers that ascend as the elements do.
template <class Bits>
Bits KeyFromBits(Bits bits, const Order& order) {
  if (order.is_float && !order.total && bits == kSign<Bits>) bits = 0;
  const bool flip = order.is_float && (bits & kSign<Bits>) != 0;
  const bool move = order.is_float || order.is_signed;
  const Bits key = flip ? ~bits : move ? bits ^ kSign<Bits> : bits;
  return order.descending ? static_cast<Bits>(~key) : key;
}

template <class Bits>
Bits BitsFromKey(Bits key, const Order& order) {
  if (order.descending) key = static_cast<Bits>(~key);
  if (order.is_float && (key & kSign<Bits>) == 0) return static_cast<Bits>(~key);
  return order.is_float || order.is_signed ? key ^ kSign<Bits> : key;
}

// Few elements are sorted faster by comparing.
template <class Item>
void SortItems(std::vector<Item>* items, std::vector<Item>* scratch) {
  constexpr size_t kFew = 512;
  if (items->size() >= kFew) return RadixSort(items, scratch);
  std::stable_sort(items->begin(), items->end(),
                   [](const Item& a, const Item& b) { return KeyOf(a) < KeyOf(b); });
}

// Rows whose order is that of keys made of the elements' bits.
template <class Bits>
class KeySort {
 public:
  // `alone`: the key is the one operand itself.
  KeySort(const Order& order, const Rows& rows, std::span<const Value> operands, const Value& key,
          bool alone, std::vector<Value>* results)
      : order_(order),
        rows_(rows),
        operands_(operands),
        bits_(key.As<Bits>().data()),
        alone_(alone) {
    for (Value& r : *results) outs_.push_back(r.MutableBytes().data());
  }

  void Run() const {
    const int64_t grain = (int64_t{1} << 15) / std::max<int64_t>(rows_.length, 1) + 1;
    ParallelFor(rows_.count, grain, [&](int64_t begin, int64_t end) {
      if (alone_) {
        SortAlone(begin, end);
      } else {
        SortTogether(begin, end);
      }
    });
  }

 private:
  // The only operand: elements are the keys turned back.
  void SortAlone(int64_t begin, int64_t end) const {
    const auto length = static_cast<size_t>(rows_.length);
    std::vector<Bits> keys(length), scratch(length);
    Bits* out = reinterpret_cast<Bits*>(outs_[0]);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = rows_.First(row);
      bool negative_zeros = false;
      for (size_t i = 0; i < length; ++i) {
        const Bits bits = bits_[first + static_cast<int64_t>(i) * rows_.stride];
        negative_zeros |= bits == kSign<Bits>;
        keys[i] = KeyFromBits(bits, order_);
      }
      SortItems(&keys, &scratch);
      for (size_t i = 0; i < length; ++i) {
        out[first + static_cast<int64_t>(i) * rows_.stride] = BitsFromKey(keys[i], order_);
      }
      if (order_.is_float && !order_.total && negative_zeros) PutZeros(first, keys, out);
    }
  }

  // Zeros are equal: they come in the order they had.
  void PutZeros(int64_t first, const std::vector<Bits>& keys, Bits* out) const {
    auto at =
        std::lower_bound(keys.begin(), keys.end(), KeyFromBits(Bits{0}, order_)) - keys.begin();
    for (int64_t i = 0; i < rows_.length; ++i) {
      const Bits bits = bits_[first + i * rows_.stride];
      if ((bits & static_cast<Bits>(~kSign<Bits>)) == 0) out[first + at++ * rows_.stride] = bits;
    }
  }

  void SortTogether(int64_t begin, int64_t end) const {
    const auto length = static_cast<size_t>(rows_.length);
    std::vector<KeyedPosition<Bits>> items(length), scratch(length);
    std::vector<int64_t> order(length);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = rows_.First(row);
      for (size_t i = 0; i < length; ++i) {
        const Bits bits = bits_[first + static_cast<int64_t>(i) * rows_.stride];
        items[i] = {KeyFromBits(bits, order_), static_cast<uint32_t>(i)};
      }
      SortItems(&items, &scratch);
      for (size_t i = 0; i < length; ++i) order[i] = items[i].position;
      for (size_t k = 0; k < operands_.size(); ++k) {
        PermuteRow(operands_[k], first, rows_.stride, order, outs_[k]);
      }
    }
  }

  Order order_;
  const Rows& rows_;
  std::span<const Value> operands_;
  const Bits* bits_;
  bool alone_;
  std::vector<std::byte*> outs_;
};

template <class Bits>
bool HasNaN(const Value& value, Bits infinity) {
  const auto all = value.As<Bits>();
  return std::any_of(all.begin(), all.end(), [&](Bits bits) {
    return static_cast<Bits>(bits & static_cast<Bits>(~kSign<Bits>)) > infinity;
  });
}

// Comparisons with NaN are all false, which is no order.
bool HasNaN(const Value& value) {
  switch (value.shape()->type) {
    case ElementType::kBF16:
      return HasNaN<uint16_t>(value, 0x7F80);
    case ElementType::kF16:
      return HasNaN<uint16_t>(value, 0x7C00);
    case ElementType::kF32:
      return HasNaN<uint32_t>(value, 0x7F800000);
    default:
      return HasNaN<uint64_t>(value, 0x7FF0000000000000);
  }
}

// What the comparator compares, for every element.
Result<Value> KeysOf(const KernelCall& call, const DirectComparison& direct,
                     std::span<const Value> operands) {
  const Value& elements = operands[direct.operand];
  if (!direct.function) return elements;
  HV_ASSIGN(ScalarProgram function,
            ScalarProgram::Compile(call.module, call.instruction.Computation(Attr::kToApply),
                                   *direct.function));
  std::vector<const std::byte*> in;
  for (const Value& operand : operands) in.insert(in.end(), 2, operand.bytes().data());
  Value keys = Value::NewNative(
      call.module.context->shapes.WithType(*elements.shape(), function.result_types()[0]));
  std::byte* out[1] = {keys.MutableBytes().data()};
  function.Run(in, out, static_cast<size_t>(elements.element_count()));
  return keys;
}

// Sorts by keys where bits make them; false, with nothing done, where they do not.
bool SortByKeys(const DirectComparison& direct, const Value& key, const Rows& rows,
                std::span<const Value> operands, std::vector<Value>* results) {
  const ElementType type = key.shape()->type;
  const Order order{IsFloat(type), IsSigned(type), direct.descending, direct.total_order};
  if (rows.length > std::numeric_limits<uint32_t>::max() || IsComplex(type)) return false;
  // Smaller floats have bit patterns of their own.
  if (order.is_float && (BitWidth(type) < 16 || (!order.total && HasNaN(key)))) return false;
  const bool alone = operands.size() == 1 && !direct.function;
  switch (key.element_bytes()) {
    case 1:
      KeySort<uint8_t>(order, rows, operands, key, alone, results).Run();
      return true;
    case 2:
      KeySort<uint16_t>(order, rows, operands, key, alone, results).Run();
      return true;
    case 4:
      KeySort<uint32_t>(order, rows, operands, key, alone, results).Run();
      return true;
    default:
      KeySort<uint64_t>(order, rows, operands, key, alone, results).Run();
      return true;
  }
}

template <class Key>
void SortRowByComparing(std::span<const Key> keys, int64_t first, int64_t stride, bool descending,
                        std::span<int64_t> order) {
  const auto key = [&](int64_t i) { return keys[static_cast<size_t>(first + i * stride)]; };
  if (descending) {
    StableSort([&](int64_t a, int64_t b) { return key(a) > key(b); }).Run(order);
  } else {
    StableSort([&](int64_t a, int64_t b) { return key(a) < key(b); }).Run(order);
  }
}

// Parameters are interleaved: (a0, b0, a1, b1, ..).
void SortRowByProgram(ScalarProgram& program, std::span<const Value> operands, int64_t first,
                      int64_t stride, std::span<int64_t> order) {
  std::vector<const std::byte*> in(2 * operands.size());
  const auto less = [&](int64_t a, int64_t b) {
    for (size_t k = 0; k < operands.size(); ++k) {
      const std::byte* data = operands[k].bytes().data();
      const int64_t width = operands[k].element_bytes();
      in[2 * k] = data + (first + a * stride) * width;
      in[2 * k + 1] = data + (first + b * stride) * width;
    }
    uint8_t result = 0;
    std::byte* out[1] = {reinterpret_cast<std::byte*>(&result)};
    program.Run(in, out, 1);
    return result != 0;
  };
  StableSort(less).Run(order);
}

}  // namespace

Result<Value> NativeSort(const KernelCall& call, const std::vector<Value>& operands) {
  const ComputationIndex comparator = call.instruction.Computation(Attr::kToApply);
  const auto direct = RecognizeComparator(call.module, comparator);
  std::vector<Value> results;
  for (const Shape* shape : ResultShapes(call)) results.push_back(Value::NewNative(shape));
  const Rows rows = RowsOf(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions)[0]);
  Value key;
  if (direct) {
    HV_ASSIGN(key, KeysOf(call, *direct, operands));
    if (SortByKeys(*direct, key, rows, operands, &results)) {
      return PackResults(call, std::move(results));
    }
  }
  std::optional<ScalarProgram> program;
  std::vector<int64_t> integer_keys;
  Value float_keys;
  if (direct && direct->total_order) {
    integer_keys = TotalKeys(key);
  } else if (direct) {
    HV_ASSIGN(float_keys, ConvertValue(call.module, key, ElementType::kF64));
  } else {
    HV_ASSIGN(program, ScalarProgram::Compile(call.module, comparator));
  }
  std::vector<int64_t> order(static_cast<size_t>(rows.length));
  for (int64_t row = 0; row < rows.count; ++row) {
    const int64_t first = rows.First(row);
    std::iota(order.begin(), order.end(), 0);
    if (program) {
      SortRowByProgram(*program, operands, first, rows.stride, order);
    } else if (direct->total_order) {
      SortRowByComparing<int64_t>(integer_keys, first, rows.stride, direct->descending, order);
    } else {
      SortRowByComparing(float_keys.As<double>(), first, rows.stride, direct->descending, order);
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      PermuteRow(operands[k], first, rows.stride, order, results[k].MutableBytes().data());
    }
  }
  return PackResults(call, std::move(results));
}

Result<Value> NativeTopK(const KernelCall& call, const Value& operand, bool largest) {
  const std::span<const Shape* const> shapes = ResultShapes(call);
  Value values = Value::NewNative(shapes[0]), indices = Value::NewNative(shapes[1]);
  const std::vector<int64_t> keys = TotalKeys(operand);
  const int64_t length = operand.shape()->dims.back(), k = shapes[0]->dims.back();
  const auto width = static_cast<size_t>(operand.element_bytes());
  std::vector<int64_t> order(static_cast<size_t>(length));
  const int64_t rows = length == 0 ? 0 : operand.element_count() / length;
  std::byte* out = values.MutableBytes().data();
  int32_t* index = indices.MutableAs<int32_t>().data();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t* key = keys.data() + row * length;
    std::iota(order.begin(), order.end(), 0);
    // Ties: the lower index first.
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      if (key[a] == key[b]) return a < b;
      return largest ? key[a] > key[b] : key[a] < key[b];
    });
    for (int64_t i = 0; i < k; ++i, out += width) {
      const auto from = static_cast<size_t>(row * length + order[static_cast<size_t>(i)]);
      std::memcpy(out, operand.bytes().data() + from * width, width);
      *index++ = static_cast<int32_t>(order[static_cast<size_t>(i)]);
    }
  }
  return PackResults(call, {std::move(values), std::move(indices)});
}

}  // namespace hv
