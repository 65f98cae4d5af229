#include "tests/fuzz/writer.h"

#include <algorithm>

namespace hv {
namespace {

size_t At(int64_t index) { return static_cast<size_t>(index); }

std::vector<std::string> NamesOf(const std::vector<SketchValue>& values) {
  std::vector<std::string> names;
  for (const SketchValue& value : values) names.push_back(value.name);
  return names;
}

}  // namespace

bool IsFloatType(const std::string& type) { return type[0] == 'f' || type[0] == 'b'; }

std::string TupleType(const std::vector<SketchValue>& elements) {
  std::string type = "(";
  for (const SketchValue& e : elements) {
    type += (type.size() > 1 ? ", " : "") +
            (e.type.starts_with('(') ? e.type : ShapeText(e.type, e.dims));
  }
  return type + ")";
}

std::string IdentityText(const std::string& fn, const std::string& type) {
  const bool is_signed = type[0] == 's';
  const int bits = type == "pred" ? 1 : std::stoi(type.substr(type.find_first_of("0123456789")));
  if (fn == "add" || fn == "or" || fn == "xor") return "0";
  if (fn == "multiply") return "1";
  if (fn == "and") return type == "pred" ? "1" : is_signed ? "-1" : "255";
  const bool top = fn == "minimum";
  if (IsFloatType(type)) return top ? "inf" : "-inf";
  if (!is_signed) return top ? std::to_string((int64_t{1} << bits) - 1) : "0";
  const int64_t half = int64_t{1} << (bits - 1);
  return std::to_string(top ? half - 1 : -half);
}

SketchValue SketchWriter::Put(SketchStep step) {
  if (step.name.empty()) step.name = sketch_->NewName(step.opcode);
  SketchValue value{step.name, step.type, step.dims};
  body().steps.insert(body().steps.begin() + static_cast<std::ptrdiff_t>(at_), std::move(step));
  ++at_;
  return value;
}

SketchValue SketchWriter::Op(const std::string& opcode, const std::string& type, Extent dims,
                             const std::vector<SketchValue>& operands) {
  SketchStep step;
  step.opcode = opcode;
  step.type = type;
  step.dims = std::move(dims);
  step.operands = NamesOf(operands);
  return Put(std::move(step));
}

SketchValue SketchWriter::Parameter(const std::string& type, Extent dims) {
  const auto& steps = body().steps;
  const auto number = std::count_if(steps.begin(), steps.end(), [](const SketchStep& step) {
    return step.opcode == "parameter";
  });
  SketchStep step;
  step.opcode = "parameter";
  step.type = type;
  step.dims = std::move(dims);
  step.inside = std::to_string(number);
  return Put(std::move(step));
}

SketchValue SketchWriter::Constant(const std::string& type, int64_t value,
                                   const std::string& stem) {
  return ConstantText(type, {}, std::to_string(value), stem);
}

SketchValue SketchWriter::ConstantText(const std::string& type, Extent dims,
                                       const std::string& text, const std::string& stem) {
  SketchStep step;
  step.name = sketch_->NewName(stem);
  step.opcode = "constant";
  step.type = type;
  step.dims = std::move(dims);
  step.inside = text;
  return Put(std::move(step));
}

SketchValue SketchWriter::Table(const std::string& type, const std::vector<int64_t>& values,
                                const std::string& stem) {
  return ConstantText(type, {static_cast<int64_t>(values.size())}, Braced(values), stem);
}

SketchValue SketchWriter::Splat(const SketchValue& scalar, Extent dims) {
  return dims.empty() ? scalar : Broadcast(scalar, std::move(dims), {});
}

SketchValue SketchWriter::Unary(const std::string& opcode, const SketchValue& a) {
  return Op(opcode, a.type, a.dims, {a});
}

SketchValue SketchWriter::Binary(const std::string& opcode, const SketchValue& a,
                                 const SketchValue& b) {
  return Op(opcode, a.type, a.dims, {a, b});
}

SketchValue SketchWriter::Compare(const std::string& direction, const SketchValue& a,
                                  const SketchValue& b) {
  const SketchValue p = Op("compare", "pred", a.dims, {a, b});
  Last().Set("direction", direction);
  return p;
}

SketchValue SketchWriter::Select(const SketchValue& p, const SketchValue& a,
                                 const SketchValue& b) {
  return Op("select", a.type, a.dims, {p.dims == a.dims ? p : Splat(p, a.dims), a, b});
}

SketchValue SketchWriter::Convert(const SketchValue& a, const std::string& type) {
  return Op("convert", type, a.dims, {a});
}

SketchValue SketchWriter::Reshape(const SketchValue& a, Extent dims) {
  return dims == a.dims ? a : Op("reshape", a.type, std::move(dims), {a});
}

SketchValue SketchWriter::Transpose(const SketchValue& a, const std::vector<int64_t>& order) {
  Extent dims;
  for (int64_t d : order) dims.push_back(a.dims[At(d)]);
  const SketchValue value = Op("transpose", a.type, dims, {a});
  Last().Set("dimensions", Braced(order));
  return value;
}

SketchValue SketchWriter::Reverse(const SketchValue& a, int64_t dim) {
  const SketchValue value = Op("reverse", a.type, a.dims, {a});
  Last().Set("dimensions", Braced({dim}));
  return value;
}

SketchValue SketchWriter::Broadcast(const SketchValue& a, Extent dims,
                                    const std::vector<int64_t>& mapping) {
  const SketchValue value = Op("broadcast", a.type, std::move(dims), {a});
  Last().Set("dimensions", Braced(mapping));
  return value;
}

SketchValue SketchWriter::Slice(const SketchValue& a, int64_t dim, int64_t low, int64_t high) {
  Extent dims = a.dims;
  dims[At(dim)] = high - low;
  std::string bounds;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool cut = d == At(dim);
    bounds += (d > 0 ? ", [" : "[") + std::to_string(cut ? low : 0) + ":" +
              std::to_string(cut ? high : a.dims[d]) + "]";
  }
  const SketchValue value = Op("slice", a.type, dims, {a});
  Last().Set("slice", "{" + bounds + "}");
  return value;
}

SketchValue SketchWriter::Pad(const SketchValue& a, const SketchValue& with, int64_t dim,
                              int64_t low, int64_t high) {
  Extent dims = a.dims;
  dims[At(dim)] += low + high;
  std::string padding;
  for (size_t d = 0; d < dims.size(); ++d) {
    padding += d > 0 ? "x" : "";
    padding += d == At(dim) ? std::to_string(low) + "_" + std::to_string(high) : "0_0";
  }
  const SketchValue value = Op("pad", a.type, dims, {a, with});
  Last().Set("padding", padding);
  return value;
}

SketchValue SketchWriter::Concatenate(const std::vector<SketchValue>& parts, int64_t dim) {
  Extent dims = parts[0].dims;
  for (size_t i = 1; i < parts.size(); ++i) dims[At(dim)] += parts[i].dims[At(dim)];
  const SketchValue value = Op("concatenate", parts[0].type, dims, parts);
  Last().Set("dimensions", Braced({dim}));
  return value;
}

SketchValue SketchWriter::DynamicSlice(const SketchValue& a, const SketchValue& start, int64_t dim,
                                       int64_t size) {
  std::vector<SketchValue> operands = {a};
  Extent dims = a.dims;
  dims[At(dim)] = size;
  for (size_t d = 0; d < dims.size(); ++d) {
    operands.push_back(d == At(dim) ? start : Constant(start.type, 0));
  }
  const SketchValue value = Op("dynamic-slice", a.type, dims, operands);
  Last().Set("dynamic_slice_sizes", Braced(dims));
  return value;
}

SketchValue SketchWriter::DynamicUpdate(const SketchValue& a, const SketchValue& update,
                                        const SketchValue& start, int64_t dim) {
  std::vector<SketchValue> operands = {a, update};
  for (size_t d = 0; d < a.dims.size(); ++d) {
    operands.push_back(d == At(dim) ? start : Constant(start.type, 0));
  }
  return Op("dynamic-update-slice", a.type, a.dims, operands);
}

SketchValue SketchWriter::Reduce(const SketchValue& a, const SketchValue& start,
                                 const std::vector<int64_t>& dims, const std::string& fn) {
  Extent kept;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), int64_t(d)) != dims.end();
    if (!reduced) kept.push_back(a.dims[d]);
  }
  const SketchValue value = Op("reduce", a.type, kept, {a, start});
  Last().Set("dimensions", Braced(dims));
  Last().Set("to_apply", fn + "_" + a.type);
  return value;
}

SketchValue SketchWriter::Dot(const SketchValue& a, const SketchValue& b, int64_t a_dim,
                              int64_t b_dim) {
  Extent dims;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    if (d != At(a_dim)) dims.push_back(a.dims[d]);
  }
  for (size_t d = 0; d < b.dims.size(); ++d) {
    if (d != At(b_dim)) dims.push_back(b.dims[d]);
  }
  const SketchValue value = Op("dot", a.type, dims, {a, b});
  Last().Set("lhs_contracting_dims", Braced({a_dim}));
  Last().Set("rhs_contracting_dims", Braced({b_dim}));
  return value;
}

SketchValue SketchWriter::Tuple(const std::vector<SketchValue>& elements) {
  return Op("tuple", TupleType(elements), {}, elements);
}

SketchValue SketchWriter::Element(const SketchValue& tuple, int64_t index,
                                  const SketchValue& like) {
  const SketchValue value = Op("get-tuple-element", like.type, like.dims, {tuple});
  Last().Set("index", std::to_string(index));
  return value;
}

SketchValue SketchWriter::AllReduce(const SketchValue& a, const SketchGroups& groups,
                                    const std::string& fn) {
  const SketchValue value = Op("all-reduce", a.type, a.dims, {a});
  Last().groups = groups;
  Last().Set("to_apply", fn + "_" + a.type);
  return value;
}

SketchValue SketchWriter::ReduceScatter(const SketchValue& a, const SketchGroups& groups,
                                        int64_t dim, int64_t size, const std::string& fn) {
  Extent dims = a.dims;
  dims[At(dim)] /= size;
  const SketchValue value = Op("reduce-scatter", a.type, dims, {a});
  Last().groups = groups;
  Last().Set("dimensions", Braced({dim}));
  Last().Set("to_apply", fn + "_" + a.type);
  return value;
}

SketchValue SketchWriter::AllGather(const SketchValue& a, const SketchGroups& groups, int64_t dim,
                                    int64_t size) {
  Extent dims = a.dims;
  dims[At(dim)] *= size;
  const SketchValue value = Op("all-gather", a.type, dims, {a});
  Last().groups = groups;
  Last().Set("dimensions", Braced({dim}));
  return value;
}

SketchValue SketchWriter::AllToAll(const SketchValue& a, const SketchGroups& groups, int64_t dim) {
  const SketchValue value = Op("all-to-all", a.type, a.dims, {a});
  Last().groups = groups;
  Last().Set("dimensions", Braced({dim}));
  return value;
}

SketchValue SketchWriter::Permute(const SketchValue& a, const Pairs& pairs, bool channel) {
  const SketchValue value = Op("collective-permute", a.type, a.dims, {a});
  Last().groups = SketchGroups{{}, "", channel, false};
  Last().pairs = pairs;
  return value;
}

SketchValue SketchWriter::DeviceNumber() {
  if (mesh().replicas == 1) return Op("partition-id", "u32", {}, {});
  const SketchValue replica = Op("replica-id", "u32", {}, {});
  if (mesh().partitions == 1) return replica;
  const SketchValue first = Binary("multiply", replica, Constant("u32", mesh().partitions));
  return Binary("add", first, Op("partition-id", "u32", {}, {}));
}

SketchValue SketchWriter::Lookup(const SketchValue& table) {
  const SketchValue entry = DynamicSlice(table, DeviceNumber(), 0, 1);
  return Op("reshape", table.type, {}, {entry});
}

}  // namespace hv
