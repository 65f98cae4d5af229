#include "tests/fuzz/random_steps.h"

#include <algorithm>

namespace hv {

void RandomSteps::Step(Draw* draw) {
  const SketchValue a = draw->Of(items);
  const int64_t kind = draw->Below(20);
  if (kind < 6) return Elementwise(a, kind, draw);
  if (kind < 14) return Movement(a, kind, draw);
  if (kind == 14) return Reduce(a, draw);
  if (kind == 15) return Dot(a, draw);
  if (kind == 16) return SliceByData(a, draw);
  if (kind == 17) return Conditional(a, draw);
  Collective(a, draw);
}

void RandomSteps::Elementwise(const SketchValue& a, int64_t kind, Draw* draw) {
  if (kind < 3) return Binary(a, draw);
  if (kind == 3) return Unary(a, draw);
  if (kind == 4) return CompareAndSelect(a, draw);
  Convert(a, draw);
}

void RandomSteps::Movement(const SketchValue& a, int64_t kind, Draw* draw) {
  const int64_t rank = static_cast<int64_t>(a.dims.size());
  if (kind == 6) return Reshape(a, draw);
  if (kind == 7) return Keep(w_.Transpose(a, draw->Permutation(rank)));
  if (kind == 12) return Broadcast(a, draw);
  if (rank == 0) return;
  if (kind == 8) return Keep(w_.Reverse(a, draw->Below(rank)));
  if (kind == 9) return Slice(a, draw);
  if (kind == 10) return Pad(a, draw);
  if (kind == 13) return Window(a, draw);
  if (CountOf(a.dims) > 48) return;
  const SketchValue b = Partner(a, draw);
  Keep(w_.Concatenate({a, b}, draw->Below(rank)));
}

// Another value of the same type and dimensions, or a constant of them.
SketchValue RandomSteps::Partner(const SketchValue& item, Draw* draw) {
  std::vector<SketchValue> same;
  for (const SketchValue& other : items) {
    if (other.type == item.type && other.dims == item.dims) same.push_back(other);
  }
  if (same.empty() || draw->OneIn(4)) {
    return w_.Splat(w_.Constant(item.type, draw->Below(2)), item.dims);
  }
  return draw->Of(same);
}

void RandomSteps::Binary(const SketchValue& a, Draw* draw) {
  const SketchValue b = Partner(a, draw);
  std::vector<std::string> ops = {"add", "multiply", "maximum", "minimum"};
  if (a.type == "pred") ops = {"and", "or", "xor", "add", "multiply"};
  if (a.type != "pred") ops.push_back("subtract");
  if (a.type != "pred" && !IsFloatType(a.type)) {
    for (const char* op : {"and", "or", "xor", "divide", "remainder"}) ops.push_back(op);
  }
  if (IsFloatType(a.type) && !options_.exact_floats) ops.push_back("divide");
  if (IsFloatType(a.type) && options_.exact_floats) ops = {"add", "subtract", "maximum"};
  if (ops.size() == 3 && options_.float_products) ops.push_back("multiply");
  const std::string& op = draw->Of(ops);
  Keep(draw->OneIn(2) ? w_.Binary(op, a, b) : w_.Binary(op, b, a));
}

void RandomSteps::Unary(const SketchValue& a, Draw* draw) {
  const bool negates = draw->OneIn(2) || a.type == "u8";
  Keep(w_.Unary(a.type == "pred" ? "not" : negates ? "negate" : "abs", a));
}

void RandomSteps::CompareAndSelect(const SketchValue& a, Draw* draw) {
  const SketchValue b = Partner(a, draw), c = Partner(a, draw);
  const std::string direction =
      draw->Of(std::vector<std::string>{"EQ", "NE", "LT", "LE", "GT", "GE"});
  const SketchValue p = w_.Compare(direction, a, b);
  Keep(draw->OneIn(3) ? w_.Unary("copy", p) : w_.Select(p, a, c));
}

void RandomSteps::Convert(const SketchValue& a, Draw* draw) {
  const std::string& to = draw->Of(options_.types);
  const bool rounds = options_.exact_floats && IsFloatType(a.type) != IsFloatType(to);
  if (to != a.type && !rounds) Keep(w_.Convert(a, to));
}

void RandomSteps::Reshape(const SketchValue& a, Draw* draw) {
  int64_t left = CountOf(a.dims);
  Extent dims;
  while (left > 1) {
    int64_t d = draw->In(2, left);
    while (left % d != 0) ++d;
    dims.push_back(d);
    left /= d;
  }
  if (draw->OneIn(3)) dims.insert(dims.begin(), 1);
  Keep(w_.Op("reshape", a.type, dims, {a}));
}

void RandomSteps::Slice(const SketchValue& a, Draw* draw) {
  Extent dims;
  std::string bounds;
  for (int64_t n : a.dims) {
    const int64_t low = draw->Below(n), high = draw->In(low + 1, n), step = draw->In(1, 2);
    dims.push_back((high - low + step - 1) / step);
    bounds += (bounds.empty() ? "[" : ", [") + std::to_string(low) + ":" + std::to_string(high) +
              ":" + std::to_string(step) + "]";
  }
  Keep(w_.Op("slice", a.type, dims, {a}));
  w_.Last().Set("slice", "{" + bounds + "}");
}

void RandomSteps::Pad(const SketchValue& a, Draw* draw) {
  const int64_t value = draw->Below(2);
  Extent dims;
  std::string padding;
  for (int64_t n : a.dims) {
    const int64_t low = draw->In(-1, 2), high = draw->In(0, 1), inside = draw->Below(2);
    const int64_t size = low + high + n + (n - 1) * inside;
    if (size < 1 || size > 8) return;
    dims.push_back(size);
    padding += (padding.empty() ? "" : "x") + std::to_string(low) + "_" + std::to_string(high) +
               "_" + std::to_string(inside);
  }
  if (CountOf(dims) > 96) return;
  Keep(w_.Op("pad", a.type, dims, {a, w_.Constant(a.type, value)}));
  w_.Last().Set("padding", padding);
}

void RandomSteps::Broadcast(const SketchValue& a, Draw* draw) {
  if (a.dims.size() > 3 || CountOf(a.dims) > 32) return;
  const size_t at = static_cast<size_t>(draw->Below(static_cast<int64_t>(a.dims.size()) + 1));
  Extent dims = a.dims;
  std::vector<int64_t> mapping;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), draw->In(1, 3));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != at) mapping.push_back(static_cast<int64_t>(d));
  }
  Keep(w_.Broadcast(a, dims, mapping));
}

// A window of dimension 0 that starts where the device's number says, read or written.
void RandomSteps::Window(const SketchValue& a, Draw* draw) {
  const int64_t size = draw->In(1, a.dims[0]);
  const SketchValue id = w_.Op(draw->OneIn(3) ? "replica-id" : "partition-id", "u32", {}, {});
  const SketchValue start = w_.Binary("multiply", id, w_.Constant("u32", draw->In(1, 2)));
  if (draw->OneIn(2)) return Keep(w_.DynamicSlice(a, start, 0, size));
  const SketchValue update = w_.DynamicSlice(a, w_.Constant("u32", 0), 0, size);
  Keep(w_.DynamicUpdate(Partner(a, draw), update, start, 0));
}

// One element of some value as an integer.
SketchValue RandomSteps::Integer(Draw* draw) {
  const SketchValue a = draw->Of(items);
  const int64_t count = CountOf(a.dims), k = draw->Below(count);
  const SketchValue one = w_.Slice(w_.Op("reshape", a.type, {count}, {a}), 0, k, k + 1);
  const SketchValue scalar = w_.Op("reshape", a.type, {}, {one});
  const bool integer = a.type == "s8" || a.type == "u8" || a.type == "s32";
  return integer ? scalar : w_.Convert(scalar, "s32");
}

void RandomSteps::SliceByData(const SketchValue& a, Draw* draw) {
  if (a.dims.empty()) return;
  const SketchValue start = Integer(draw), zero = w_.Constant(start.type, 0);
  const size_t at = static_cast<size_t>(draw->Below(static_cast<int64_t>(a.dims.size())));
  Extent sizes = a.dims;
  int64_t windows = 1;
  std::vector<SketchValue> starts;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    const bool data = d == at || draw->OneIn(4);
    starts.push_back(data ? start : zero);
    if (data) sizes[d] = draw->In(1, a.dims[d]);
    windows *= a.dims[d] - sizes[d] + 1;
  }
  if (windows > 16) return;  // the prover takes that as opaque
  const bool reads = draw->OneIn(2);
  std::vector<SketchValue> operands = {a};
  if (!reads) operands.push_back(w_.Splat(w_.Constant(a.type, 1), sizes));
  operands.insert(operands.end(), starts.begin(), starts.end());
  if (!reads) return Keep(w_.Op("dynamic-update-slice", a.type, a.dims, operands));
  Keep(w_.Op("dynamic-slice", a.type, sizes, operands));
  w_.Last().Set("dynamic_slice_sizes", Braced(sizes));
}

SketchGroups RandomSteps::AllDevices() const {
  std::vector<int64_t> ids;
  for (int64_t d = 0; d < w_.mesh().devices(); ++d) ids.push_back(d);
  return {{ids}, "", true, true};
}

std::string RandomSteps::Branch(const SketchValue& a, bool meets, Draw* draw) {
  Sketch* sketch = &w_.sketch();
  SketchWriter branch(sketch, sketch->NewBody("branch"));
  const SketchValue x = branch.Parameter(a.type, a.dims);
  const int64_t kind = draw->Below(meets ? 3 : 2);
  if (kind == 0) branch.Root(branch.Unary("copy", x));
  if (kind == 1) branch.Root(branch.Unary(a.type == "pred" ? "not" : "negate", x));
  if (kind == 2) {
    branch.Root(branch.AllReduce(x, AllDevices(), a.type == "pred" ? "or" : "maximum"));
  }
  return branch.body().name;
}

// Its branches move data between devices where all devices are known to pick the same one.
void RandomSteps::Conditional(const SketchValue& a, Draw* draw) {
  SketchValue selector = Integer(draw);
  const bool agreed = draw->OneIn(2), binary = draw->OneIn(2);
  if (agreed) selector = w_.AllReduce(selector, AllDevices(), "maximum");
  if (selector.type != "s32") selector = w_.Convert(selector, "s32");
  if (binary) selector = w_.Compare("LT", selector, w_.Constant("s32", 1));
  std::vector<SketchValue> operands = {selector};
  std::vector<std::string> names;
  for (int64_t b = binary ? 2 : draw->In(2, 3); b > 0; --b) {
    names.push_back(Branch(a, agreed && Reduces(a), draw));
    operands.push_back(Partner(a, draw));
  }
  Keep(w_.Op("conditional", a.type, a.dims, operands));
  if (binary) {
    w_.Last().Set("true_computation", names[0]);
    w_.Last().Set("false_computation", names[1]);
    return;
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "{" : ", ") + name;
  w_.Last().Set("branch_computations", list + "}");
}

bool RandomSteps::Reduces(const SketchValue& a) const {
  return !IsFloatType(a.type) || options_.float_reductions;
}

std::string RandomSteps::Reducer(const std::string& type, Draw* draw) {
  std::vector<std::string> ops = {"add", "maximum", "minimum", "multiply"};
  if (IsFloatType(type)) ops = {"add", "maximum"};
  if (type == "pred") ops = {"and", "or"};
  return draw->Of(ops);
}

void RandomSteps::Reduce(const SketchValue& a, Draw* draw) {
  if (!Reduces(a)) return;
  std::vector<int64_t> reduced;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    if (draw->OneIn(2)) reduced.push_back(static_cast<int64_t>(d));
  }
  const std::string fn = Reducer(a.type, draw);
  const SketchValue start = w_.Constant(a.type, fn == "multiply" ? 1 : draw->Below(2));
  Keep(w_.Reduce(a, start, reduced, fn));
}

// With another array of the same dimensions, over one of them.
void RandomSteps::Dot(const SketchValue& a, Draw* draw) {
  if (a.dims.empty() || a.type == "pred" || CountOf(a.dims) > 24 || a.dims.size() > 3) return;
  if (!Reduces(a) || (IsFloatType(a.type) && !options_.float_products)) return;
  const SketchValue b = Partner(a, draw);
  const int64_t d = draw->Below(static_cast<int64_t>(a.dims.size()));
  Keep(w_.Dot(a, b, d, d));
}

void RandomSteps::Collective(const SketchValue& a, Draw* draw) {
  // Flattened ids, so that one list of groups fits every mesh.
  const int64_t devices = w_.mesh().devices();
  const std::vector<int64_t> ids = draw->Permutation(devices);
  const int64_t size = devices % 2 == 0 && draw->OneIn(2) ? devices / 2 : devices;
  SketchGroups groups{{}, "", true, true};
  for (auto at = ids.begin(); at != ids.end(); at += size) groups.ids.emplace_back(at, at + size);
  const int64_t rank = static_cast<int64_t>(a.dims.size()), kind = draw->Below(4);
  if (kind == 0 && Reduces(a)) return Keep(w_.AllReduce(a, groups, Reducer(a.type, draw)));
  if (kind == 1 && Reduces(a) && rank > 0 && a.dims[0] % size == 0) {
    return Keep(w_.ReduceScatter(a, groups, 0, size, Reducer(a.type, draw)));
  }
  if (kind == 2 && rank > 0 && CountOf(a.dims) <= 24) {
    return Keep(w_.AllGather(a, groups, draw->Below(rank), size));
  }
  if (kind != 3) return;
  const bool channel = w_.mesh().partitions > 1;
  const int64_t n = channel ? w_.mesh().partitions : w_.mesh().replicas;
  const int64_t shift = draw->In(1, n - 1);
  Pairs pairs;
  for (int64_t i = 0; i < n; ++i) {
    if (!draw->OneIn(4)) pairs.emplace_back(i, (i + shift) % n);
  }
  Keep(w_.Permute(a, pairs, channel));
}

}  // namespace hv
