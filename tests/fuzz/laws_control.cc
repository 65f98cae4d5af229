// Laws of control flow and of asynchronous collectives.
#include <functional>

#include "tests/fuzz/laws.h"

namespace hv {
namespace {

// A while loop: s32 counter first, then `state`. `step` writes a turn and gives the next state.
struct Loop {
  int64_t start = 0, trips = 0;  // the counter runs from start to start + trips
  std::string start_stem = "start";
};
using LoopStep = std::function<std::vector<SketchValue>(
    SketchWriter* w, const SketchValue& counter, const std::vector<SketchValue>& state)>;

std::vector<SketchValue> Elements(SketchWriter* w, const SketchValue& tuple,
                                  const std::vector<SketchValue>& like) {
  std::vector<SketchValue> elements;
  for (size_t i = 0; i < like.size(); ++i) {
    elements.push_back(w->Element(tuple, static_cast<int64_t>(i), like[i]));
  }
  return elements;
}

SketchValue TupleParameter(SketchWriter* w, const std::string& type) {
  SketchStep step;
  step.opcode = "parameter";
  step.type = type;
  step.inside = "0";
  return w->Put(std::move(step));
}

std::vector<SketchValue> WriteLoop(SketchWriter* w, const Loop& loop,
                                   const std::vector<SketchValue>& state, const LoopStep& step) {
  std::vector<SketchValue> initial = {w->Constant("s32", loop.start, loop.start_stem)};
  initial.insert(initial.end(), state.begin(), state.end());
  const std::string type = TupleType(initial);
  Sketch* sketch = &w->sketch();
  SketchWriter more(sketch, sketch->NewBody("more"));
  const SketchValue count =
      more.Element(TupleParameter(&more, type), 0, initial[0]);
  more.Root(more.Compare("LT", count, more.Constant("s32", loop.start + loop.trips, "trips")));
  SketchWriter turn(sketch, sketch->NewBody("turn"));
  std::vector<SketchValue> now = Elements(&turn, TupleParameter(&turn, type), initial);
  std::vector<SketchValue> next = {turn.Binary("add", now[0], turn.Constant("s32", 1, "one"))};
  for (const SketchValue& value : step(&turn, now[0], {now.begin() + 1, now.end()})) {
    next.push_back(value);
  }
  turn.Root(turn.Tuple(next));
  const SketchValue tuple = w->Tuple(initial);
  const SketchValue result = w->Op("while", type, {}, {tuple});
  w->Last().Set("condition", more.body().name);
  w->Last().Set("body", turn.body().name);
  std::vector<SketchValue> elements = Elements(w, result, initial);
  return {elements.begin() + 1, elements.end()};
}

// Row `index` of x, as an array without that dimension.
SketchValue Row(SketchWriter* w, const SketchValue& x, const SketchValue& index) {
  return w->Reshape(w->DynamicSlice(x, index, 0, 1), {x.dims.begin() + 1, x.dims.end()});
}

SketchValue Plus(SketchWriter* w, const SketchValue& a, const SketchValue& b) {
  return w->Binary("add", a, b);
}

// A branch with one array parameter.
std::string Branch(LawContext& c, const SketchValue& like,
                   const std::function<SketchValue(SketchWriter*, const SketchValue&)>& write) {
  Sketch* sketch = &c.w.sketch();
  SketchWriter branch(sketch, sketch->NewBody("branch"));
  const SketchValue x = branch.Parameter(like.type, like.dims);
  branch.Root(write(&branch, x));
  return branch.body().name;
}

SketchValue Conditional(LawContext& c, const SketchValue& index, const SketchValue& x,
                        const std::vector<std::string>& branches) {
  std::vector<SketchValue> operands = {index};
  operands.insert(operands.end(), branches.size(), x);
  const SketchValue result = c.w.Op("conditional", x.type, x.dims, operands);
  std::string list;
  for (const std::string& branch : branches) list += (list.empty() ? "{" : ", ") + branch;
  c.w.Last().Set("branch_computations", list + "}");
  return result;
}

std::vector<int64_t> DrawFlags(const Mesh& mesh, Draw* draw) {
  std::vector<int64_t> flags;
  for (int64_t d = 0; d < mesh.devices(); ++d) flags.push_back(draw->Below(2));
  return flags;
}

// The collective last written becomes the start of an asynchronous one; `shape` unless it is the
// same.
void MakeStart(SketchWriter* w, const std::string& shape) {
  SketchStep& start = w->Last();
  start.opcode += "-start";
  if (!shape.empty()) start.type = shape;
}

}  // namespace

bool LawUnrolled(LawContext& c) {
  const int64_t trips = c.draw.In(1, 3);
  const Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  const bool reduces = c.draw.OneIn(2);
  const SketchValue x = c.Array({3, 2});
  const auto turn = [&](SketchWriter* w, const SketchValue& acc) {
    if (reduces) return w->AllReduce(acc, p.written, "add");
    return Plus(w, w->Reverse(acc, 0), acc);
  };
  if (c.after) {
    SketchValue acc = x;
    for (int64_t i = 0; i < trips; ++i) acc = turn(&c.w, acc);
    c.Result(acc);
    return true;
  }
  c.Result(WriteLoop(&c.w, {0, trips}, {x}, [&](SketchWriter* w, const SketchValue&, const auto& s) {
    return std::vector<SketchValue>{turn(w, s[0])};
  })[0]);
  return true;
}

bool LawHoistedReduce(LawContext& c) {
  const int64_t trips = c.draw.In(2, 3);
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const SketchValue x = c.Array({trips, 2}), initial = c.Array({2});
  const SketchValue start = c.after ? c.Number(0, {2}, "loop-zero") : initial;
  const auto turn = [&](SketchWriter* w, const SketchValue& i, const std::vector<SketchValue>& s) {
    SketchValue row = Row(w, s[1], i);
    if (!c.after) row = w->AllReduce(row, p.written, "add");
    return std::vector<SketchValue>{Plus(w, s[0], row), s[1]};
  };
  SketchValue sum = WriteLoop(&c.w, {0, trips}, {start, x}, turn)[0];
  if (c.after) sum = Plus(&c.w, c.w.AllReduce(sum, p.written, "add"), initial);
  c.Result(sum);
  return true;
}

bool LawPeeled(LawContext& c) {
  const int64_t first = c.draw.In(0, 2), trips = c.draw.In(2, 3);
  const SketchValue x = c.Array({5, 2});
  const auto turn = [](SketchWriter* w, const SketchValue& i, const std::vector<SketchValue>& s) {
    const SketchValue doubled = Plus(w, s[0], s[0]);
    return std::vector<SketchValue>{Plus(w, doubled, Row(w, s[1], i)), s[1]};
  };
  std::vector<SketchValue> state = {c.Number(1, {2}), x};
  Loop loop{first, trips};
  if (c.after) {
    state = turn(&c.w, c.w.Constant("s32", first), state);
    loop = {first + 1, trips - 1, "peeled-start"};
  }
  c.Result(WriteLoop(&c.w, loop, state, turn)[0]);
  return true;
}

// Software pipelining: turn i adds what turn i - 1 has exchanged.
bool LawPipelined(LawContext& c) {
  const int64_t trips = c.draw.In(2, 3);
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const SketchValue x = c.Array({trips, 2});
  const auto reduced = [&](SketchWriter* w, const SketchValue& all, const SketchValue& i) {
    return w->AllReduce(Row(w, all, i), p.written, "add");
  };
  const auto fold = [](SketchWriter* w, const SketchValue& acc, const SketchValue& part) {
    return Plus(w, Plus(w, acc, acc), part);
  };
  const SketchValue zero = c.Number(0, {2}, "zero");
  if (!c.after) {
    c.Result(WriteLoop(&c.w, {0, trips}, {zero, x}, [&](SketchWriter* w, const SketchValue& i,
                                                        const std::vector<SketchValue>& s) {
      return std::vector<SketchValue>{fold(w, s[0], reduced(w, s[1], i)), s[1]};
    })[0]);
    return true;
  }
  const SketchValue first = reduced(&c.w, x, c.w.Constant("s32", 0));
  const std::vector<SketchValue> last = WriteLoop(
      &c.w, {1, trips - 1, "peeled-start"}, {zero, first, x},
      [&](SketchWriter* w, const SketchValue& i, const std::vector<SketchValue>& s) {
        return std::vector<SketchValue>{fold(w, s[0], s[1]), reduced(w, s[2], i), s[2]};
      });
  c.Result(fold(&c.w, last[0], last[1]));
  return true;
}

bool LawConstantBranch(LawContext& c) {
  const int64_t taken = c.draw.In(-1, 3);
  const SketchValue x = c.Array({c.Prime(), 2});
  const auto write = [&](int64_t branch, SketchWriter* w, const SketchValue& value) {
    if (branch == 0) return w->Reverse(value, 0);
    if (branch == 1) return w->Unary("copy", value);
    return w->Reverse(value, 1);
  };
  const int64_t branch = taken < 0 || taken > 1 ? 2 : taken;  // out of range: the last one
  if (c.after) {
    c.Result(write(branch, &c.w, x));
    return true;
  }
  std::vector<std::string> branches;
  for (int64_t b = 0; b < 3; ++b) {
    branches.push_back(Branch(c, x, [&](SketchWriter* w, const SketchValue& value) {
      return write(b, w, value);
    }));
  }
  c.Result(Conditional(c, c.w.Constant("s32", taken, "taken"), x, branches));
  return true;
}

bool LawBranchBySelect(LawContext& c) {
  const std::vector<int64_t> flags = DrawFlags(c.mesh(), &c.draw);
  const SketchValue x = c.Array({c.Prime(), 2});
  const SketchValue index = c.w.PerDevice("s32", flags, "taken");
  const auto twice = [](SketchWriter* w, const SketchValue& v) { return Plus(w, v, v); };
  const auto turned = [](SketchWriter* w, const SketchValue& v) { return w->Reverse(v, 0); };
  if (c.after) {
    const SketchValue p = c.w.Compare("EQ", index, c.w.Constant("s32", 0));
    c.Result(c.w.Select(p, twice(&c.w, x), turned(&c.w, x)));
  } else {
    c.Result(Conditional(c, index, x, {Branch(c, x, twice), Branch(c, x, turned)}));
  }
  return true;
}

bool LawAgreedBranch(LawContext& c) {
  const Participants p = DrawParticipants(Reading::kReducing, false, c.mesh(), &c.draw);
  std::vector<int64_t> flags(static_cast<size_t>(c.mesh().devices()));
  for (const std::vector<int64_t>& group : p.devices) {
    const int64_t flag = c.draw.Below(2);
    for (int64_t d : group) flags[static_cast<size_t>(d)] = flag;
  }
  const SketchValue x = c.Array({c.Prime(), 2});
  const SketchValue index = c.w.PerDevice("s32", flags, "taken");
  const auto same = [](SketchWriter*, const SketchValue& v) { return v; };
  const auto sum = [&](SketchWriter* w, const SketchValue& v) {
    return w->AllReduce(v, p.written, "add");
  };
  if (c.after) {
    c.Result(Conditional(c, index, x, {Branch(c, x, same), Branch(c, x, sum)}));
  } else {
    const SketchValue q = c.w.Compare("EQ", index, c.w.Constant("s32", 0));
    c.Result(c.w.Select(q, x, sum(&c.w, x)));
  }
  return true;
}

bool LawAsynchronous(LawContext& c) {
  const int64_t what = c.draw.Below(3);
  const Participants p = DrawParticipants(Reading::kReducing, true, c.mesh(), &c.draw);
  const bool channel = c.mesh().partitions > 1;
  const int64_t ids = channel ? c.mesh().partitions : c.mesh().replicas;
  const Extent dims = {c.Prime(), 2};
  const std::vector<SketchValue> operands = {c.Array(dims), c.Array(dims)};
  const auto plain = [&](const SketchValue& x) {
    if (what == 0) return c.w.AllReduce(x, p.written, "add");
    if (what == 1) return c.w.AllGather(x, p.written, 0, p.size);
    return c.w.Permute(x, {{0, 1}, {ids - 1, 0}}, channel);
  };
  const std::string opcode = what == 0 ? "all-reduce" : what == 1 ? "all-gather"
                                                                  : "collective-permute";
  std::vector<SketchValue> starts, results;
  for (const SketchValue& x : operands) {
    const SketchValue value = plain(x);
    results.push_back(value);
    if (!c.after) continue;
    const std::string in = ShapeText(x.type, x.dims), out = ShapeText(value.type, value.dims);
    MakeStart(&c.w, what == 0 ? "" : "(" + in + ", " + out + ")");
    starts.push_back(value);
  }
  // What the operand becomes while both are under way.
  const SketchValue updated = Plus(&c.w, operands[0], operands[1]);
  for (size_t i = 0; i < starts.size(); ++i) {
    results[i] = c.w.Op(opcode + "-done", results[i].type, results[i].dims, {starts[i]});
  }
  c.Result(updated);
  for (const SketchValue& result : results) c.Result(result);
  return true;
}

bool LawAsynchronousCall(LawContext& c) {
  const bool scatters = c.draw.OneIn(2);
  const Participants p = DrawParticipants(scatters ? Reading::kReducing : Reading::kMoving, true,
                                          c.mesh(), &c.draw);
  const std::string fn = c.Reducer();
  const SketchValue x = c.Array({p.size, c.Prime()});
  const auto plain = [&](SketchWriter* w, const SketchValue& v) {
    return scatters ? w->ReduceScatter(v, p.written, 0, p.size, fn)
                    : w->AllToAll(v, p.written, 0);
  };
  if (!c.after) {
    c.Result(plain(&c.w, x));
    return true;
  }
  SketchValue inside;
  const std::string wrapped = Branch(c, x, [&](SketchWriter* w, const SketchValue& v) {
    return inside = plain(w, v);
  });
  const SketchValue start = c.w.Op("async-start",
                                   "((" + ShapeText(x.type, x.dims) + "), " +
                                       ShapeText(x.type, inside.dims) + ", u32[])",
                                   {}, {x});
  c.w.Last().Set("calls", wrapped);
  c.Result(c.w.Op("async-done", x.type, inside.dims, {start}));
  return true;
}

}  // namespace hv
