// Mutants 17 to 34: dimensions, offsets, clamps.
#include <algorithm>
#include <set>

#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

// The step takes other dimensions; what reads it gets them reshaped to the old ones.
bool Redirect(MutantSite& s, const Extent& dims) {
  const Extent old = s.step().dims;
  s.step().dims = dims;
  if (old == dims) return true;
  SketchWriter w = s.After();
  const SketchValue reshaped = w.Reshape(s.Value(), old);
  s.ReadInstead(reshaped, w);
  return true;
}

int64_t DimOf(const SketchStep& step) { return NumbersIn(*step.Find("dimensions"))[0]; }

size_t At(int64_t i) { return static_cast<size_t>(i); }

// The dimension a dynamic-slice cuts, by its start operand; nothing if none is cut.
std::optional<size_t> CutOf(MutantSite& s) {
  const Extent whole = s.Operand(0).dims, part = s.step().dims;
  for (size_t d = 0; d < part.size(); ++d) {
    if (whole[d] != part[d]) return d;
  }
  return std::nullopt;
}

// Adds `amount` to the start in the dimension cut.
bool MoveStart(MutantSite& s, int64_t amount) {
  const auto cut = CutOf(s);
  if (!cut) return false;
  const SketchValue start = s.Operand(*cut + 1);
  SketchWriter w = s.Before();
  const SketchValue moved = w.Binary("add", start, w.Constant(start.type, amount));
  s.step().operands[*cut + 1] = moved.name;
  return true;
}

}  // namespace

bool SpoilOtherScatterDim(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const Extent whole = s.Operand(0).dims;
  const int64_t dim = DimOf(s.step()), size = whole[At(dim)] / s.step().dims[At(dim)];
  for (int64_t other = 0; other < static_cast<int64_t>(whole.size()); ++other) {
    if (other == dim || whole[At(other)] % size != 0) continue;
    Extent dims = whole;
    dims[At(other)] /= size;
    s.step().Set("dimensions", Braced({other}));
    return Redirect(s, dims);
  }
  return false;
}

bool SpoilScatterDimKept(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const SketchStep* view = s.Def(0);
  if (view->opcode != "reshape" && view->opcode != "transpose") return false;
  const SketchStep* source = s.Find(view->operands[0]);
  const int64_t dim = DimOf(s.step()), size = view->dims[At(dim)] / s.step().dims[At(dim)];
  Extent dims = source->dims;
  if (At(dim) >= dims.size() || dims[At(dim)] % size != 0) return false;
  dims[At(dim)] /= size;
  s.step().operands[0] = source->name;
  return Redirect(s, dims);
}

bool SpoilOtherGatherDim(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const Extent part = s.Operand(0).dims;
  const int64_t dim = DimOf(s.step()), size = s.step().dims[At(dim)] / part[At(dim)];
  if (part.size() < 2) return false;
  const int64_t other = dim == 0 ? 1 : dim - 1;
  Extent dims = part;
  dims[At(other)] *= size;
  s.step().Set("dimensions", Braced({other}));
  return Redirect(s, dims);
}

bool SpoilOtherExchangeDim(MutantSite& s) {
  const int64_t dim = DimOf(s.step());
  const int64_t size = static_cast<int64_t>(s.step().groups->ids[0].size());
  for (int64_t other = 0; other < static_cast<int64_t>(s.step().dims.size()); ++other) {
    if (other == dim || s.step().dims[At(other)] % size != 0) continue;
    s.step().Set("dimensions", Braced({other}));
    return true;
  }
  return false;
}

bool SpoilInterleavedGather(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const int64_t dim = DimOf(s.step());
  const Extent part = s.Operand(0).dims;
  const int64_t size = s.step().dims[At(dim)] / part[At(dim)];
  if (size < 2 || part[At(dim)] < 2) return false;
  Extent split = s.step().dims;
  split[At(dim)] = size;
  split.insert(split.begin() + dim + 1, part[At(dim)]);
  std::vector<int64_t> order(split.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
  std::swap(order[At(dim)], order[At(dim) + 1]);
  SketchWriter w = s.After();
  const SketchValue tiled = w.Transpose(w.Reshape(s.Value(), split), order);
  s.ReadInstead(w.Reshape(tiled, s.step().dims), w);
  return true;
}

bool SpoilOffsetByOne(MutantSite& s) { return MoveStart(s, 1); }

bool SpoilOffsetByShard(MutantSite& s) {
  const auto cut = CutOf(s);
  return cut && s.step().dims[*cut] > 1 && MoveStart(s, s.step().dims[*cut]);
}

bool SpoilShardSizeRounded(MutantSite& s) {
  const int64_t size = *s.Number(&s.step());
  if (size < 2) return false;
  s.step().inside = std::to_string(size - 1);
  return true;
}

bool SpoilNoClamp(MutantSite& s) {
  const auto cut = CutOf(s);
  const SketchValue x = s.Operand(0);
  if (!cut || x.type == "u32") return false;
  SketchWriter w = s.Before();
  const SketchValue padded = w.Pad(x, w.Constant(x.type, 0), static_cast<int64_t>(*cut), 0,
                                   s.step().dims[*cut]);
  s.step().operands[0] = padded.name;
  return true;
}

bool SpoilOtherClamp(MutantSite& s) {
  const int64_t last = *s.Number(&s.step());
  s.step().inside = std::to_string(last + (s.draw.OneIn(2) ? 1 : -1));
  return true;
}

bool SpoilSwapEntries(MutantSite& s) {
  std::vector<int64_t> entries = NumbersIn(s.step().inside);
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i] == entries[0]) continue;
    std::swap(entries[0], entries[i]);
    s.step().inside = Braced(entries);
    return true;
  }
  return false;
}

bool SpoilTableEnd(MutantSite& s) {
  SketchStep* table = s.Def(0);
  const int64_t devices = s.sketch.mesh.devices();
  if (table->opcode != "constant" || table->dims.size() != 1 || table->dims[0] >= devices) {
    return false;
  }
  std::vector<int64_t> entries = NumbersIn(table->inside);
  entries.resize(static_cast<size_t>(devices), 0);
  table->dims = {devices};
  table->inside = Braced(entries);
  return true;
}

// What follows from the device number stays u32.
bool SpoilUnsignedOffset(MutantSite& s) {
  if (s.step().type != "s32" || s.Operand(0).type != "u32") return false;
  s.step().opcode = "copy";
  std::set<std::string> changed = {s.step().name};
  s.step().type = "u32";
  for (size_t i = s.at() + 1; i < s.body().steps.size(); ++i) {
    SketchStep& user = s.body().steps[i];
    const bool reads = std::any_of(user.operands.begin(), user.operands.end(),
                                   [&](const std::string& o) { return changed.count(o) > 0; });
    if (!reads) continue;
    if (user.opcode == "dynamic-slice" || user.opcode == "dynamic-update-slice") {
      for (const std::string& operand : user.operands) {
        SketchStep* start = s.Find(operand);
        if (start->opcode == "constant" && start->dims.empty()) start->type = "u32";
      }
    }
    if (user.type != "s32" || !user.dims.empty()) continue;
    user.type = "u32";
    changed.insert(user.name);
    for (const std::string& operand : user.operands) {
      if (s.Find(operand)->opcode == "constant") s.Find(operand)->type = "u32";
    }
  }
  return true;
}

bool SpoilNarrowOffset(MutantSite& s) {
  const auto cut = CutOf(s);
  if (!cut) return false;
  SketchWriter w = s.Before();
  for (size_t d = 0; d < s.step().dims.size(); ++d) {
    s.step().operands[d + 1] = w.Convert(s.Operand(d + 1), "s8").name;
  }
  return true;
}

bool SpoilRemainderDropped(MutantSite& s) {
  const SketchValue x = s.Operand(0), with = s.Operand(1);
  const std::vector<int64_t> amounts = NumbersIn(*s.step().Find("padding"));
  if (amounts.size() != 2 * x.dims.size()) return false;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const int64_t low = amounts[2 * d], high = amounts[2 * d + 1];
    if (high <= 0 || x.dims[d] < 2) continue;
    SketchWriter w = s.Before();
    const SketchValue cut = w.Slice(x, static_cast<int64_t>(d), 0, x.dims[d] - 1);
    const SketchValue padded = w.Pad(cut, with, static_cast<int64_t>(d), low, high + 1);
    s.ReadInstead(padded);
    return true;
  }
  return false;
}

bool SpoilPadNotIdentity(MutantSite& s) {
  if (s.step().inside == "0") return false;
  s.step().inside = "0";
  return true;
}

bool SpoilRampAssumed(MutantSite& s) {
  if (s.step().type != "s32" && s.step().type != "u32") return false;
  if (!s.step().dims.empty() || s.Number(s.Def(1)).value_or(1) < 2) return false;
  s.ReadInstead(s.Operand(0));
  return true;
}

bool SpoilDigitsSwapped(MutantSite& s) {
  const SketchStep *high = s.Def(0), *low = s.Def(1);
  if (high->opcode != "multiply" || low->opcode != "remainder") return false;
  const SketchValue i = MutantSite::ValueOf(*s.Find(high->operands[0]));
  const SketchValue width = MutantSite::ValueOf(*s.Find(high->operands[1]));
  const SketchValue j = MutantSite::ValueOf(*low);
  SketchWriter w = s.Before();
  s.step().operands = {w.Binary("multiply", j, width).name, i.name};
  return true;
}

}  // namespace hv
