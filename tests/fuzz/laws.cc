#include "tests/fuzz/laws.h"

#include <algorithm>

namespace hv {

#define HV_LAW(name, types, doc) bool Law##name(LawContext& c);
#include "tests/fuzz/laws.def"
#undef HV_LAW

namespace {

constexpr Law kLaws[] = {
#define HV_LAW(name, types, doc) {#name, LawTypes::types, doc, Law##name},
#include "tests/fuzz/laws.def"
#undef HV_LAW
};

// `value` cut or padded to as many elements as `dims` has.
SketchValue Fit(const SketchValue& value, const Extent& dims, SketchWriter* w) {
  const int64_t have = CountOf(value.dims), want = CountOf(dims);
  SketchValue flat = w->Reshape(value, {have});
  if (have > want) flat = w->Slice(flat, 0, 0, want);
  if (have < want) flat = w->Pad(flat, w->Constant(value.type, 1), 0, 0, want - have);
  return w->Reshape(flat, dims);
}

// Start values by arithmetic on the device number; nothing if none gives these positions.
std::optional<SketchValue> ByArithmetic(const Participants& p, int64_t size, SketchWriter* w,
                                        Draw* draw) {
  const int64_t groups = static_cast<int64_t>(p.devices.size());
  bool by_remainder = p.size > 0, by_quotient = p.size > 0;
  for (size_t d = 0; d < p.position.size(); ++d) {
    by_remainder &= p.position[d] == static_cast<int64_t>(d) % std::max<int64_t>(p.size, 1);
    by_quotient &= p.position[d] == static_cast<int64_t>(d) / groups;
  }
  if (!by_remainder && !by_quotient) return std::nullopt;
  SketchValue at = w->DeviceNumber();
  if (draw->OneIn(2)) at = w->Convert(at, "s32");
  if (groups > 1) {
    at = by_quotient ? w->Binary("divide", at, w->Constant(at.type, groups, "pooled"))
                     : w->Binary("remainder", at, w->Constant(at.type, p.size));
  }
  return w->Binary("multiply", at, w->Constant(at.type, size, "shard-size"));
}

}  // namespace

std::span<const Law> Laws() { return kLaws; }

bool Suits(LawTypes types, const std::string& type) {
  if (types == LawTypes::kFloatsOnly) return IsFloatType(type);
  return types == LawTypes::kAnyType || type != "pred";
}

SketchValue LawContext::Array(const std::string& element_type, const Extent& dims) {
  std::vector<SketchValue> same;
  for (const SketchValue& value : values_) {
    if (value.type == element_type) same.push_back(value);
  }
  if (same.empty() || draw.OneIn(2)) return w.Parameter(element_type, dims);
  return Fit(draw.Of(same), dims, &w);
}

std::string LawContext::Reducer() {
  if (type == "pred") return draw.OneIn(2) ? "and" : "or";
  const int64_t choice = draw.Below(6);
  return choice == 0 ? "maximum" : choice == 1 ? "minimum" : "add";
}

SketchValue ShardStart(const Participants& p, int64_t size, SketchWriter* w, Draw* draw) {
  const bool table = draw->OneIn(3), premultiplied = draw->OneIn(3);
  const std::string type = draw->OneIn(2) ? "s32" : "u32";
  if (!table) {
    if (auto start = ByArithmetic(p, size, w, draw)) return *start;
  }
  std::vector<int64_t> entries = p.position;
  // The lookup clamps: equal entries at the end need to be there once only.
  while (draw->OneIn(2) && entries.size() > 1 && entries.back() == entries[entries.size() - 2]) {
    entries.pop_back();
  }
  if (premultiplied) {
    for (int64_t& entry : entries) entry *= size;
    return w->PerDevice(type, entries, "offsets");
  }
  return w->Binary("multiply", w->PerDevice(type, entries, "positions"),
                   w->Constant(type, size, "shard-size"));
}

}  // namespace hv
