// Laws of one device: views, gathers, reductions, dots, conversions, offsets.
#include <algorithm>

#include "tests/fuzz/laws.h"

namespace hv {
namespace {

SketchValue Identity(LawContext& c, const std::string& fn) {
  return c.w.ConstantText(c.type, {}, IdentityText(fn, c.type), "identity");
}

SketchValue Combine(LawContext& c, const std::string& fn, const SketchValue& a,
                    const SketchValue& b) {
  return c.w.Binary(fn, a, b);
}

// The start clamped to what a slice of `size` out of `extent` allows.
SketchValue Clamped(LawContext& c, const SketchValue& start, int64_t extent, int64_t size) {
  const SketchValue last = c.w.Constant(start.type, extent - size, "last-start");
  return c.w.Op("clamp", start.type, {}, {c.w.Constant(start.type, 0), start, last});
}

void RowAttributes(SketchStep* gather, int64_t width) {
  gather->Set("offset_dims", "{1}");
  gather->Set("collapsed_slice_dims", "{0}");
  gather->Set("start_index_map", "{0}");
  gather->Set("index_vector_dim", "1");
  gather->Set("slice_sizes", "{1," + std::to_string(width) + "}");
}

void RowUpdateAttributes(SketchStep* scatter) {
  scatter->Set("update_window_dims", "{1}");
  scatter->Set("inserted_window_dims", "{0}");
  scatter->Set("scatter_dims_to_operand_dims", "{0}");
  scatter->Set("index_vector_dim", "1");
}

std::vector<int64_t> DrawRows(int64_t rows, int64_t count, Draw* draw) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(draw->Below(rows));
  return list;
}

}  // namespace

bool LawOffsetSpelling(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const int64_t size = c.draw.Of(std::vector<int64_t>{1, 2, 13});
  const SketchValue x = c.Array({size * p.size, 2});
  // Rows and columns of the positions: a shard number of two digits.
  const int64_t columns = p.size % 2 == 0 ? 2 : p.size, rows = p.size / columns;
  SketchValue start;
  if (c.after && rows > 1) {
    const SketchValue at = c.w.PerDevice("s32", p.position, "positions");
    const SketchValue width = c.w.Constant("s32", columns, "columns");
    const SketchValue i = c.w.Binary("divide", at, width);
    const SketchValue j = c.w.Binary("remainder", at, width);
    const SketchValue number = c.w.Binary("add", c.w.Binary("multiply", i, width), j);
    start = c.w.Binary("multiply", number, c.w.Constant("s32", size, "shard-size"));
  } else {
    Draw choices(static_cast<uint64_t>(c.draw.Below(1000)) + (c.after ? 1 : 0), 0);
    start = ShardStart(p, size, &c.w, &choices);
  }
  c.Result(c.w.DynamicSlice(x, start, 0, size));
  return true;
}

bool LawPreviousShard(LawContext& c) {
  const int64_t n = c.mesh().devices(), size = c.draw.In(1, 2);
  const SketchValue x = c.Array({size * n, 2});
  SketchValue start;
  if (c.after) {
    std::vector<int64_t> offsets;
    for (int64_t d = 0; d < n; ++d) offsets.push_back(std::max<int64_t>(d - 1, 0) * size);
    start = c.w.PerDevice("s32", offsets, "offsets");
  } else {
    const SketchValue at = c.w.Convert(c.w.DeviceNumber(), "s32");
    const SketchValue own = c.w.Binary("multiply", at, c.w.Constant("s32", size, "shard-size"));
    start = c.w.Binary("subtract", own, c.w.Constant("s32", size));
  }
  c.Result(c.w.DynamicSlice(x, start, 0, size));
  return true;
}

bool LawSliceTwice(LawContext& c) {
  const int64_t n = c.mesh().devices();
  const int64_t extent = 7, middle = c.draw.In(3, 5), size = c.draw.In(1, 2);
  std::vector<int64_t> first, second;
  for (int64_t d = 0; d < n; ++d) {
    first.push_back(c.draw.In(-1, extent));
    second.push_back(c.draw.In(0, middle));
  }
  const SketchValue x = c.Array({extent, 2});
  const SketchValue a = c.w.PerDevice("s32", first, "offsets");
  const SketchValue b = c.w.PerDevice("s32", second, "offsets");
  if (c.after) {
    const SketchValue start =
        c.w.Binary("add", Clamped(c, a, extent, middle), Clamped(c, b, middle, size));
    c.Result(c.w.DynamicSlice(x, start, 0, size));
  } else {
    c.Result(c.w.DynamicSlice(c.w.DynamicSlice(x, a, 0, middle), b, 0, size));
  }
  return true;
}

bool LawSliceJoin(LawContext& c) {
  const int64_t dim = c.draw.Below(2);
  const SketchValue x = c.Array({5, 3});
  const int64_t extent = x.dims[static_cast<size_t>(dim)], cut = c.draw.In(1, extent - 1);
  if (c.after) {
    c.Result(c.w.Unary("copy", x));
  } else {
    const SketchValue low = c.w.Slice(x, dim, 0, cut), high = c.w.Slice(x, dim, cut, extent);
    c.Result(c.w.Concatenate({low, high}, dim));
  }
  return true;
}

bool LawPadSlice(LawContext& c) {
  const int64_t dim = c.draw.Below(2), low = c.draw.In(0, 2), high = c.draw.In(1, 2);
  const SketchValue x = c.Array({c.Prime(), 3});
  if (c.after) {
    c.Result(c.w.Unary("copy", x));
  } else {
    const SketchValue padded = c.w.Pad(x, c.w.Constant(c.type, 0), dim, low, high);
    c.Result(c.w.Slice(padded, dim, low, low + x.dims[static_cast<size_t>(dim)]));
  }
  return true;
}

bool LawReverseParts(LawContext& c) {
  const SketchValue x = c.Array({2, 3}), y = c.Array({5, 3});
  c.Result(c.after ? c.w.Concatenate({c.w.Reverse(y, 0), c.w.Reverse(x, 0)}, 0)
                   : c.w.Reverse(c.w.Concatenate({x, y}, 0), 0));
  return true;
}

bool LawTransposeTwice(LawContext& c) {
  const std::vector<int64_t> first = c.draw.Permutation(3), second = c.draw.Permutation(3);
  std::vector<int64_t> both;
  for (int64_t d : second) both.push_back(first[static_cast<size_t>(d)]);
  const SketchValue x = c.Array({2, 3, 5});
  c.Result(c.after ? c.w.Transpose(x, both) : c.w.Transpose(c.w.Transpose(x, first), second));
  return true;
}

bool LawUpdateWindow(LawContext& c) {
  const int64_t at = c.draw.In(0, 5), placed = std::min<int64_t>(at, 3);  // clamped
  const SketchValue x = c.Array({5, 3}), u = c.Array({2, 3});
  if (c.after) {
    std::vector<SketchValue> parts;
    if (placed > 0) parts.push_back(c.w.Slice(x, 0, 0, placed));
    parts.push_back(u);
    if (placed < 3) parts.push_back(c.w.Slice(x, 0, placed + 2, 5));
    c.Result(c.w.Concatenate(parts, 0));
  } else {
    c.Result(c.w.DynamicUpdate(x, u, c.w.Constant("s32", at), 0));
  }
  return true;
}

bool LawGatherRows(LawContext& c) {
  const std::vector<int64_t> rows = DrawRows(5, 3, &c.draw);
  const SketchValue x = c.Array({5, 3});
  if (c.after) {
    std::vector<SketchValue> parts;
    for (int64_t row : rows) parts.push_back(c.w.Slice(x, 0, row, row + 1));
    c.Result(c.w.Concatenate(parts, 0));
  } else {
    c.Result(c.w.Op("gather", c.type, {3, 3}, {x, c.w.Table("s32", rows, "rows")}));
    RowAttributes(&c.w.Last(), 3);
  }
  return true;
}

bool LawScatterRows(LawContext& c) {
  std::vector<int64_t> rows = c.draw.Permutation(5);
  rows.resize(2);
  const SketchValue x = c.Array({5, 3}), u = c.Array({2, 3});
  if (c.after) {
    std::vector<SketchValue> parts;
    for (int64_t row = 0; row < 5; ++row) {
      const auto at = std::find(rows.begin(), rows.end(), row) - rows.begin();
      parts.push_back(at < 2 ? c.w.Slice(u, 0, at, at + 1) : c.w.Slice(x, 0, row, row + 1));
    }
    c.Result(c.w.Concatenate(parts, 0));
    return true;
  }
  const size_t second = c.w.sketch().NewBody("second");
  SketchWriter body(&c.w.sketch(), second);
  body.Parameter(c.type, {});
  body.Root(body.Parameter(c.type, {}));
  c.Result(c.w.Op("scatter", c.type, x.dims, {x, c.w.Table("s32", rows, "rows"), u}));
  RowUpdateAttributes(&c.w.Last());
  c.w.Last().Set("to_apply", body.body().name);
  return true;
}

bool LawScatterDual(LawContext& c) {
  const std::vector<int64_t> rows = DrawRows(5, 3, &c.draw);
  const SketchValue x = c.Array({5, 2}), y = c.Array({3, 2});
  const SketchValue index = c.w.Table("s32", rows, "rows");
  const SketchValue zero = c.w.Constant(c.type, 0, "zero");
  SketchValue product;
  if (c.after) {
    const SketchValue spread = c.w.Op("scatter", c.type, x.dims, {c.w.Splat(zero, x.dims), index, y});
    RowUpdateAttributes(&c.w.Last());
    c.w.Last().Set("to_apply", "add_" + c.type);
    product = c.w.Binary("multiply", x, spread);
  } else {
    const SketchValue picked = c.w.Op("gather", c.type, y.dims, {x, index});
    RowAttributes(&c.w.Last(), 2);
    product = c.w.Binary("multiply", picked, y);
  }
  c.Result(c.w.Reduce(product, zero, {0}, "add"));
  return true;
}

bool LawReduceSteps(LawContext& c) {
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({3, 2, 5});
  if (c.after) {
    c.Result(c.w.Reduce(c.w.Reduce(x, Identity(c, fn), {2}, fn), Identity(c, fn), {0}, fn));
  } else {
    c.Result(c.w.Reduce(x, Identity(c, fn), {0, 2}, fn));
  }
  return true;
}

bool LawReducePadded(LawContext& c) {
  const std::string fn = c.Reducer();
  SketchValue x = c.Array({c.Prime(), 3});
  if (c.after) x = c.w.Pad(x, Identity(c, fn), 0, c.draw.Below(2), 2);
  c.Result(c.w.Reduce(x, Identity(c, fn), {0}, fn));
  return true;
}

bool LawReduceParts(LawContext& c) {
  const std::string fn = c.Reducer();
  const int64_t cut = c.draw.In(1, 4);
  const SketchValue x = c.Array({5, 3});
  if (c.after) {
    const SketchValue low = c.w.Reduce(c.w.Slice(x, 0, 0, cut), Identity(c, fn), {0}, fn);
    const SketchValue high = c.w.Reduce(c.w.Slice(x, 0, cut, 5), Identity(c, fn), {0}, fn);
    c.Result(Combine(c, fn, low, high));
  } else {
    c.Result(c.w.Reduce(x, Identity(c, fn), {0}, fn));
  }
  return true;
}

bool LawWindowSteps(LawContext& c) {
  const std::string fn = c.Reducer();
  const int64_t size = c.draw.In(1, 3), dilation = c.draw.In(1, 2), extent = c.draw.In(3, 7);
  const int64_t low = c.draw.Below(3), high = c.draw.Below(3);
  const int64_t last = (size - 1) * dilation, out = extent + low + high - last;
  if (out < 1) return false;
  const SketchValue x = c.Array({extent, 2});
  if (!c.after) {
    const SketchValue windows = c.w.Op("reduce-window", c.type, {out, 2}, {x, Identity(c, fn)});
    const auto by = [](int64_t a, const std::string& b) { return std::to_string(a) + b; };
    c.w.Last().Set("window", "{size=" + by(size, "x1 pad=") + by(low, "_") + by(high, "x0_0") +
                                 " rhs_dilate=" + by(dilation, "x1}"));
    c.w.Last().Set("to_apply", fn + "_" + c.type);
    c.Result(windows);
    return true;
  }
  const SketchValue padded = c.w.Pad(x, Identity(c, fn), 0, low, high);
  SketchValue sum = c.w.Slice(padded, 0, 0, out);
  for (int64_t k = 1; k < size; ++k) {
    sum = Combine(c, fn, sum, c.w.Slice(padded, 0, k * dilation, k * dilation + out));
  }
  c.Result(sum);
  return true;
}

bool LawDotSplit(LawContext& c) {
  const int64_t cut = c.draw.In(1, 4);
  const SketchValue x = c.Array({2, 5}), y = c.Array({5, 3});
  if (c.after) {
    const SketchValue low = c.w.Dot(c.w.Slice(x, 1, 0, cut), c.w.Slice(y, 0, 0, cut), 1, 0);
    const SketchValue high = c.w.Dot(c.w.Slice(x, 1, cut, 5), c.w.Slice(y, 0, cut, 5), 1, 0);
    c.Result(c.w.Binary("add", low, high));
  } else {
    c.Result(c.w.Dot(x, y, 1, 0));
  }
  return true;
}

bool LawDotSharded(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const int64_t size = c.draw.In(1, 2);
  const SketchValue x = c.Array({2, size}), y = c.Array({size, 3});
  if (c.after) {
    c.Result(c.w.AllReduce(c.w.Dot(x, y, 1, 0), p.written, "add"));
  } else {
    const SketchValue all_x = c.w.AllGather(x, p.written, 1, p.size);
    c.Result(c.w.Dot(all_x, c.w.AllGather(y, p.written, 0, p.size), 1, 0));
  }
  return true;
}

bool LawConvertBack(LawContext& c) {
  const std::string wide = c.type == "f32" ? "f64" : c.type == "bf16" ? "f32" : "s64";
  const SketchValue x = c.Array({c.Prime(), 2});
  c.Result(c.after ? c.w.Convert(c.w.Convert(x, wide), c.type) : c.w.Unary("copy", x));
  return true;
}

}  // namespace hv
