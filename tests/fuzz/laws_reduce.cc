// Laws of reducing collectives.
#include <algorithm>

#include "tests/fuzz/laws.h"

namespace hv {
namespace {

enum class Between { kNothing, kScale, kTranspose, kSecondUser };

// x through `between`, which commutes with the reduction.
SketchValue Apply(LawContext& c, Between between, int64_t divisor, const SketchValue& x) {
  if (between == Between::kTranspose) return c.w.Transpose(x, {1, 0});
  if (between != Between::kScale) return x;
  // A mean only where it is exact, so that no order of rounding can tell.
  const bool mean = IsFloatType(c.type) && (divisor & (divisor - 1)) == 0;
  return c.w.Binary(mean ? "divide" : "multiply", x, c.Number(divisor, x.dims, "group-size"));
}

// A grid of devices, rows x columns, that covers them all; nothing if their number is prime.
struct Grid {
  Groups rows, columns, all;
};
std::optional<Grid> DrawGrid(const Mesh& mesh, Draw* draw) {
  const int64_t n = mesh.devices();
  std::vector<int64_t> widths;
  for (int64_t w = 2; w < n; ++w) {
    if (n % w == 0) widths.push_back(w);
  }
  if (widths.empty()) return std::nullopt;
  const int64_t width = draw->Of(widths), height = n / width;
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (draw->OneIn(2)) draw->Shuffle(&order);
  Grid grid{Groups(static_cast<size_t>(height)), Groups(static_cast<size_t>(width)), {order}};
  for (int64_t i = 0; i < n; ++i) {
    grid.rows[static_cast<size_t>(i / width)].push_back(order[static_cast<size_t>(i)]);
    grid.columns[static_cast<size_t>(i % width)].push_back(order[static_cast<size_t>(i)]);
  }
  return grid;
}

}  // namespace

bool LawOwnShard(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  Between between = static_cast<Between>(c.draw.Below(4));
  if (between == Between::kScale && (fn != "add" || c.type == "pred")) between = Between::kNothing;
  // One in four slices is wide, so that starts pass 127.
  const int64_t size = c.draw.OneIn(4) ? 13 : c.draw.In(1, 3);
  const bool inner = c.draw.OneIn(2);  // the shards lie along dimension 1
  const int64_t whole = size * p.size, other = c.Prime();
  const bool swaps = between == Between::kTranspose;
  const SketchValue x = c.Array(inner != swaps ? Extent{other, whole} : Extent{whole, other});
  const int64_t dim = inner ? 1 : 0;
  SketchValue shard;
  if (c.after) {
    const SketchValue ready = swaps ? Apply(c, between, p.size, x) : x;
    shard = c.w.ReduceScatter(ready, p.written, dim, p.size, fn);
    if (!swaps) shard = Apply(c, between, p.size, shard);
    if (between == Between::kSecondUser) c.Result(c.w.AllReduce(x, p.written, fn));
  } else {
    const SketchValue sum = c.w.AllReduce(x, p.written, fn);
    const SketchValue ready = Apply(c, between, p.size, sum);
    shard = c.w.DynamicSlice(ready, ShardStart(p, size, &c.w, &c.draw), dim, size);
    if (between == Between::kSecondUser) c.Result(sum);
  }
  c.Result(shard);
  return true;
}

bool LawScatterGather(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const int64_t extent = c.draw.Of(std::vector<int64_t>{2, 3, 5, 7});
  const int64_t padded = (extent + p.size - 1) / p.size * p.size;
  const bool sliced = c.draw.OneIn(2);
  const SketchValue x = c.Array({extent, c.Prime()});
  Draw start = c.draw;
  SketchValue whole;
  if (c.after) {
    SketchValue full = x;
    if (padded > extent) {
      full = c.w.Pad(x, c.w.ConstantText(c.type, {}, IdentityText(fn, c.type), "identity"), 0, 0,
                     padded - extent);
    }
    const SketchValue shard = c.w.ReduceScatter(full, p.written, 0, p.size, fn);
    whole = c.w.AllGather(shard, p.written, 0, p.size);
    if (padded > extent) whole = c.w.Slice(whole, 0, 0, extent);
  } else {
    whole = c.w.AllReduce(x, p.written, fn);
  }
  // Shards of an extent that does not divide: the last start is clamped.
  const int64_t size = padded / p.size;
  if (sliced) whole = c.w.DynamicSlice(whole, ShardStart(p, size, &c.w, &start), 0, size);
  c.Result(whole);
  return true;
}

bool LawTwoLevels(LawContext& c) {
  const auto grid = DrawGrid(c.mesh(), &c.draw);
  if (!grid) return false;
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({c.Prime(), 3});
  if (c.after) {
    const SketchValue rows = c.w.AllReduce(x, Flattened(grid->rows, c.mesh()).written, fn);
    c.Result(c.w.AllReduce(rows, Flattened(grid->columns, c.mesh()).written, fn));
  } else {
    c.Result(c.w.AllReduce(x, Flattened(grid->all, c.mesh()).written, fn));
  }
  return true;
}

bool LawThreeSteps(LawContext& c) {
  const auto grid = DrawGrid(c.mesh(), &c.draw);
  if (!grid) return false;
  const std::string fn = c.Reducer();
  const int64_t width = static_cast<int64_t>(grid->columns.size());
  const SketchValue x = c.Array({width * c.draw.In(1, 2), c.Prime()});
  if (c.after) {
    const SketchGroups rows = Flattened(grid->rows, c.mesh()).written;
    const SketchValue shard = c.w.ReduceScatter(x, rows, 0, width, fn);
    const SketchValue sum = c.w.AllReduce(shard, Flattened(grid->columns, c.mesh()).written, fn);
    c.Result(c.w.AllGather(sum, rows, 0, width));
  } else {
    c.Result(c.w.AllReduce(x, Flattened(grid->all, c.mesh()).written, fn));
  }
  return true;
}

bool LawSumOfReduces(LawContext& c) {
  const bool equal = c.draw.OneIn(2);
  const Participants p = DrawParticipants(Reading::kReducing, equal, c.mesh(), &c.draw);
  const Extent dims = {c.Prime()};
  const SketchValue x = c.Array(dims), y = c.Array(dims);
  if (c.after) {
    c.Result(c.w.AllReduce(c.w.Binary("add", x, y), p.written, "add"));
  } else {
    const SketchValue sum = c.w.AllReduce(x, p.written, "add");
    c.Result(c.w.Binary("add", sum, c.w.AllReduce(y, p.written, "add")));
  }
  return true;
}

bool LawReduceTwice(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({c.Prime(), 2});
  const SketchValue once = c.w.AllReduce(x, p.written, fn);
  if (!c.after) {
    c.Result(c.w.AllReduce(once, p.written, fn));
  } else if (fn == "add") {
    c.Result(c.w.Binary("multiply", once, c.Number(p.size, once.dims, "group-size")));
  } else {
    c.Result(once);
  }
  return true;
}

bool LawScaleThrough(LawContext& c) {
  const bool equal = c.draw.OneIn(2);
  const Participants p = DrawParticipants(Reading::kReducing, equal, c.mesh(), &c.draw);
  const int64_t factor = c.draw.Of(std::vector<int64_t>{2, 3, 5});
  SketchValue x = c.Array({c.Prime(), 2});
  if (c.after) x = c.w.Binary("multiply", x, c.Number(factor, x.dims));
  x = c.w.AllReduce(x, p.written, "add");
  if (!c.after) x = c.w.Binary("multiply", x, c.Number(factor, x.dims));
  c.Result(x);
  return true;
}

bool LawUnequalScale(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  SketchValue x = c.Array({c.Prime()});
  const auto scale = [&](const SketchValue& value) {
    const SketchValue members = c.w.PerDevice("s32", p.members, "sizes");
    const SketchValue factor = c.type == "s32" ? members : c.w.Convert(members, c.type);
    return c.w.Binary("multiply", value, c.w.Splat(factor, value.dims));
  };
  if (c.after) x = scale(x);
  x = c.w.AllReduce(x, p.written, "add");
  if (!c.after) x = scale(x);
  c.Result(x);
  return true;
}

bool LawUnequalShard(LawContext& c) {
  Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  if (p.size != 0) return false;
  const std::string fn = c.Reducer();
  const int64_t size = c.draw.In(1, 2);
  const int64_t first = static_cast<int64_t>(p.devices[0].size());
  const SketchValue x = c.Array({size * first, c.Prime()});
  if (c.after) {
    p.written.spelling.clear();
    for (std::vector<int64_t>& group : p.written.ids) std::reverse(group.begin(), group.end());
  }
  const SketchValue sum = c.w.AllReduce(x, p.written, fn);
  c.Result(c.w.DynamicSlice(sum, ShardStart(p, size, &c.w, &c.draw), 0, size));
  return true;
}

bool LawRespelled(LawContext& c) {
  const int64_t what = c.draw.Below(3);
  const bool equal = what > 0 || c.draw.OneIn(2);
  const Participants p = DrawParticipants(Reading::kReducing, equal, c.mesh(), &c.draw);
  const SketchGroups groups = c.after ? Flattened(p.devices, c.mesh()).written : p.written;
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({std::max<int64_t>(p.size, 1), c.Prime()});
  if (what == 0) c.Result(c.w.AllReduce(x, groups, fn));
  if (what == 1) c.Result(c.w.ReduceScatter(x, groups, 0, p.size, fn));
  if (what == 2) c.Result(c.w.AllGather(x, groups, 1, p.size));
  return true;
}

bool LawGatheredSum(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({c.Prime(), 2});
  if (c.after) {
    const SketchValue all = c.w.AllGather(c.w.Reshape(x, {1, x.dims[0], 2}), p.written, 0, p.size);
    const SketchValue start = c.w.ConstantText(c.type, {}, IdentityText(fn, c.type), "identity");
    c.Result(c.w.Reduce(all, start, {0}, fn));
  } else {
    c.Result(c.w.AllReduce(x, p.written, fn));
  }
  return true;
}

bool LawWideReduce(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const SketchValue narrow = c.Array("bf16", {p.size * c.draw.In(1, 2), c.Prime()});
  SketchValue x = c.w.Convert(narrow, "f32");
  if (c.after) {
    x = c.w.AllGather(c.w.ReduceScatter(x, p.written, 0, p.size, "add"), p.written, 0, p.size);
  } else {
    x = c.w.AllReduce(x, p.written, "add");
  }
  c.Result(c.w.Convert(x, "bf16"));
  return true;
}

bool LawCombined(LawContext& c) {
  const int64_t what = c.draw.Below(4);
  const Participants p = DrawParticipants(Reading::kReducing, what > 0, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const Extent dims = {std::max<int64_t>(p.size, 1), c.Prime()};
  const std::vector<SketchValue> operands = {c.Array(dims), c.Array(dims)};
  const bool channel = c.mesh().partitions > 1;
  const int64_t ids = channel ? c.mesh().partitions : c.mesh().replicas;
  const auto one = [&](const SketchValue& x) {
    if (what == 0) return c.w.AllReduce(x, p.written, fn);
    if (what == 1) return c.w.ReduceScatter(x, p.written, 0, p.size, fn);
    if (what == 2) return c.w.AllGather(x, p.written, 1, p.size);
    return c.w.Permute(x, {{0, 1}, {1, ids - 1}}, channel);
  };
  if (ids == 2 && what == 3) return false;
  if (!c.after) {
    for (const SketchValue& x : operands) c.Result(one(x));
    return true;
  }
  const SketchValue like = one(operands[0]);
  SketchStep& both = c.w.Last();
  both.operands.push_back(operands[1].name);
  both.type = TupleType({like, like});
  const SketchValue tuple{like.name, both.type, {}};
  for (int64_t i = 0; i < 2; ++i) c.Result(c.w.Element(tuple, i, like));
  return true;
}

bool LawRepeated(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({c.Prime(), 2});
  const SketchValue first = c.w.AllReduce(x, p.written, fn);
  const SketchValue second = c.after ? first : c.w.AllReduce(x, p.written, fn);
  c.Result(c.w.Binary("multiply", first, c.w.Unary("negate", second)));
  return true;
}

bool LawIndependent(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  const Participants q = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const SketchValue x = c.Array({c.Prime(), 2});
  const SketchValue y = c.draw.OneIn(2) ? x : c.Array(x.dims);
  const std::string fn = c.Reducer();
  SketchValue a, b;
  if (!c.after) a = c.w.AllReduce(x, p.written, "add");
  b = c.w.AllReduce(y, q.written, fn);
  if (c.after) a = c.w.AllReduce(x, p.written, "add");
  c.Result(a);
  c.Result(b);
  return true;
}

}  // namespace hv
