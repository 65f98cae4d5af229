// Laws of collectives that only move data.
#include <algorithm>
#include <map>

#include "tests/fuzz/laws.h"

namespace hv {
namespace {

// Ids of a permute: partitions if the mesh has several, otherwise replicas.
struct PermuteIds {
  bool channel;
  int64_t count;
  explicit PermuteIds(const Mesh& mesh)
      : channel(mesh.partitions > 1), count(channel ? mesh.partitions : mesh.replicas) {}
  // The id of a device, in words of a table per device.
  int64_t Of(int64_t device, const Mesh& mesh) const {
    return channel ? device % mesh.partitions : device / mesh.partitions;
  }
};

// A partial permutation: random, a shift, or one with self pairs; sources and targets once each.
Pairs DrawPairs(int64_t ids, bool full, Draw* draw) {
  std::vector<int64_t> targets = draw->Permutation(ids);
  const int64_t shift = draw->Below(ids), kind = draw->Below(3);
  Pairs pairs;
  for (int64_t source = 0; source < ids; ++source) {
    const bool kept = full || !draw->OneIn(3);
    const int64_t target = kind == 0 ? (source + shift) % ids : targets[static_cast<size_t>(source)];
    if (kept) pairs.emplace_back(source, target);
  }
  if (pairs.empty()) pairs.emplace_back(0, ids - 1);
  return pairs;
}

// For each device the id it receives from, or `none`.
std::vector<int64_t> Sources(const Pairs& pairs, const PermuteIds& ids, const Mesh& mesh,
                             int64_t none) {
  std::vector<int64_t> sources(static_cast<size_t>(mesh.devices()), none);
  for (int64_t d = 0; d < mesh.devices(); ++d) {
    for (const auto& [source, target] : pairs) {
      if (target == ids.Of(d, mesh)) sources[static_cast<size_t>(d)] = source;
    }
  }
  return sources;
}

SketchValue IsSet(LawContext& c, const std::vector<int64_t>& flags, const std::string& stem) {
  return c.w.Compare("NE", c.w.PerDevice("s32", flags, stem), c.w.Constant("s32", 0));
}

SketchValue PositionStart(LawContext& c, const Participants& p, int64_t size) {
  return c.w.Binary("multiply", c.w.PerDevice("s32", p.position, "positions"),
                    c.w.Constant("s32", size, "shard-size"));
}

}  // namespace

bool LawGatherAsSum(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const int64_t size = c.draw.In(1, 2);
  const SketchValue x = c.Array({size, c.Prime()});
  if (c.after) {
    const SketchValue zeros = c.Number(0, {size * p.size, x.dims[1]}, "zero");
    const SketchValue placed = c.w.DynamicUpdate(zeros, x, PositionStart(c, p, size), 0);
    c.Result(c.w.AllReduce(placed, p.written, "add"));
  } else {
    c.Result(c.w.AllGather(x, p.written, 0, p.size));
  }
  return true;
}

bool LawGatherOrder(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const bool by_partitions = p.written.channel && !p.written.global;
  if (by_partitions && c.mesh().partitions > 1) return false;  // one id stands for many members
  const std::vector<int64_t> order = c.draw.Permutation(p.size);
  const SketchValue x = c.Array({2, c.Prime()});
  SketchGroups reordered = p.written;
  reordered.spelling.clear();
  for (std::vector<int64_t>& group : reordered.ids) {
    const std::vector<int64_t> old = group;
    for (size_t k = 0; k < group.size(); ++k) group[k] = old[static_cast<size_t>(order[k])];
  }
  if (c.after) {
    c.Result(c.w.AllGather(x, reordered, 0, p.size));
    return true;
  }
  const SketchValue all = c.w.AllGather(x, p.written, 0, p.size);
  std::vector<SketchValue> blocks;
  for (int64_t k : order) blocks.push_back(c.w.Slice(all, 0, 2 * k, 2 * k + 2));
  c.Result(c.w.Concatenate(blocks, 0));
  return true;
}

bool LawGatherElementwise(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const bool negates = c.draw.OneIn(2);
  const int64_t number = c.draw.In(1, 3);
  const auto f = [&](const SketchValue& x) {
    if (negates) return c.w.Unary("negate", x);
    return c.w.Binary("add", x, c.Number(number, x.dims));
  };
  const SketchValue x = c.Array({c.Prime(), 2});
  c.Result(c.after ? c.w.AllGather(f(x), p.written, 1, p.size)
                   : f(c.w.AllGather(x, p.written, 1, p.size)));
  return true;
}

bool LawStackedGather(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const int64_t n = c.Prime(), m = c.draw.In(2, 3);
  const SketchValue x = c.Array({n, m});
  if (c.after) {
    const SketchValue all = c.w.AllGather(c.w.Reshape(x, {1, n, m}), p.written, 0, p.size);
    c.Result(c.w.Reshape(c.w.Transpose(all, {1, 0, 2}), {n, p.size * m}));
  } else {
    c.Result(c.w.AllGather(x, p.written, 1, p.size));
  }
  return true;
}

bool LawExchangeTwice(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kMoving, true, c.mesh(), &c.draw);
  const SketchValue x = c.Array({p.size * c.draw.In(1, 2), p.size * c.draw.In(1, 2)});
  if (c.after) {
    c.Result(c.w.Unary("copy", x));
  } else {
    const int64_t dim = c.draw.Below(2);
    c.Result(c.w.AllToAll(c.w.AllToAll(x, p.written, dim), p.written, dim));
  }
  return true;
}

bool LawExchangeByGather(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kMoving, true, c.mesh(), &c.draw);
  const int64_t size = c.draw.In(1, 2), m = p.size * c.draw.In(1, 2);
  const SketchValue x = c.Array({p.size * size, m});
  if (!c.after) {
    c.Result(c.w.AllToAll(x, p.written, 0));
    return true;
  }
  const SketchValue blocks = c.w.Reshape(x, {1, p.size, size, m});
  const SketchValue all = c.w.AllGather(blocks, Flattened(p.devices, c.mesh()).written, 0, p.size);
  const SketchValue own = c.w.DynamicSlice(all, PositionStart(c, p, 1), 1, 1);
  c.Result(c.w.Reshape(own, x.dims));
  return true;
}

// Equal groups: alone a device would keep a -0 that it loses among zeros, and replicas would drift.
bool LawSendFirst(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kMoving, true, c.mesh(), &c.draw);
  const SketchValue x = c.Array({c.Prime(), 2});
  if (!c.after) {
    c.Result(c.w.Op("collective-broadcast", c.type, x.dims, {x}));
    c.w.Last().groups = p.written;
    if (p.written.spelling == "{}") c.w.Last().groups->spelling.clear();
    return true;
  }
  std::vector<int64_t> first;
  for (int64_t position : p.position) first.push_back(position == 0 ? 1 : 0);
  const SketchValue own = c.w.Select(IsSet(c, first, "first"), x, c.Number(0, x.dims, "zero"));
  c.Result(c.w.AllReduce(own, Flattened(p.devices, c.mesh()).written, "add"));
  return true;
}

bool LawPermuteTwice(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs first = DrawPairs(ids.count, false, &c.draw);
  const Pairs second = DrawPairs(ids.count, false, &c.draw);
  Pairs both;
  for (const auto& [source, middle] : first) {
    for (const auto& [from, target] : second) {
      if (from == middle) both.emplace_back(source, target);
    }
  }
  if (both.empty()) return false;
  const SketchValue x = c.Array({c.Prime(), 2});
  c.Result(c.after ? c.w.Permute(x, both, ids.channel)
                   : c.w.Permute(c.w.Permute(x, first, ids.channel), second, ids.channel));
  return true;
}

bool LawPermuteBack(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs there = DrawPairs(ids.count, true, &c.draw);
  Pairs back;
  for (const auto& [source, target] : there) back.emplace_back(target, source);
  const SketchValue x = c.Array({c.Prime(), 2});
  c.Result(c.after ? c.w.Unary("copy", x)
                   : c.w.Permute(c.w.Permute(x, there, ids.channel), back, ids.channel));
  return true;
}

bool LawPermuteByGather(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs pairs = DrawPairs(ids.count, false, &c.draw);
  const SketchValue x = c.Array({2, c.Prime()});
  if (!c.after) {
    c.Result(c.w.Permute(x, pairs, ids.channel));
    return true;
  }
  Groups rows;
  std::map<int64_t, std::vector<int64_t>> by_copy;
  for (int64_t d = 0; d < c.mesh().devices(); ++d) {
    by_copy[ids.channel ? d / c.mesh().partitions : d % c.mesh().partitions].push_back(d);
  }
  for (const auto& [copy, row] : by_copy) rows.push_back(row);
  const SketchValue stacked = c.w.Reshape(x, {1, 2, x.dims[1]});
  const SketchValue all =
      c.w.AllGather(stacked, Flattened(rows, c.mesh()).written, 0, ids.count);
  const SketchValue from = c.w.PerDevice("s32", Sources(pairs, ids, c.mesh(), 0), "sources");
  const SketchValue own = c.w.Reshape(c.w.DynamicSlice(all, from, 0, 1), x.dims);
  std::vector<int64_t> targeted = Sources(pairs, ids, c.mesh(), -1);
  for (int64_t& source : targeted) source = source >= 0 ? 1 : 0;
  c.Result(c.w.Select(IsSet(c, targeted, "targeted"), own, c.Number(0, x.dims, "zero")));
  return true;
}

bool LawPermuteCycles(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs pairs = DrawPairs(ids.count, true, &c.draw);
  Pairs forward, back;
  for (const auto& pair : pairs) (pair.first < pair.second ? forward : back).push_back(pair);
  if (forward.empty() || back.empty()) return false;
  const SketchValue x = c.Array({c.Prime(), 2});
  if (!c.after) {
    c.Result(c.w.Permute(x, pairs, ids.channel));
    return true;
  }
  std::vector<int64_t> flags = Sources(back, ids, c.mesh(), -1);
  for (int64_t& flag : flags) flag = flag >= 0 ? 1 : 0;
  const SketchValue a = c.w.Permute(x, back, ids.channel);
  const SketchValue b = c.w.Permute(x, forward, ids.channel);
  c.Result(c.w.Select(IsSet(c, flags, "back"), a, b));
  return true;
}

bool LawPermuteSum(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs pairs = DrawPairs(ids.count, true, &c.draw);
  const auto middle = pairs.begin() + c.draw.In(1, ids.count - 1);
  const SketchValue x = c.Array({c.Prime(), 2});
  if (c.after) {
    const SketchValue a = c.w.Permute(x, {pairs.begin(), middle}, ids.channel);
    c.Result(c.w.Binary("add", a, c.w.Permute(x, {middle, pairs.end()}, ids.channel)));
  } else {
    c.Result(c.w.Permute(x, pairs, ids.channel));
  }
  return true;
}

bool LawPermuteBySend(LawContext& c) {
  const PermuteIds ids(c.mesh());
  const Pairs pairs = DrawPairs(ids.count, c.draw.OneIn(2), &c.draw);
  const SketchValue x = c.Array({c.Prime()});
  if (!c.after) {
    c.Result(c.w.Permute(x, pairs, ids.channel));
    return true;
  }
  const SketchValue token = c.w.Op("after-all", "token", {}, {});
  const std::string channel = ids.channel ? "1" : "0";
  const std::string buffer = "(" + ShapeText(x.type, x.dims) + ", u32[], token[])";
  const std::string received = "(" + ShapeText(x.type, x.dims) + ", token[])";
  const SketchValue recv = c.w.Op("recv", buffer, {}, {token});
  c.w.Last().pairs = pairs;
  c.w.Last().Set("channel_id", channel);
  const SketchValue send = c.w.Op("send", buffer, {}, {x, token});
  c.w.Last().pairs = pairs;
  c.w.Last().Set("channel_id", channel);
  c.w.Last().Set("control-predecessors", "{" + recv.name + "}");
  const SketchValue done = c.w.Op("recv-done", received, {}, {recv});
  c.w.Last().Set("channel_id", channel);
  c.w.Op("send-done", "token", {}, {send});
  c.w.Last().Set("channel_id", channel);
  c.w.Last().Set("control-predecessors", "{" + done.name + "}");
  c.Result(c.w.Element(done, 0, x));
  return true;
}

}  // namespace hv
