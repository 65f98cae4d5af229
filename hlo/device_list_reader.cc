// Device lists: every form is checked to be expandable, so that Expand cannot fail.
#include "hlo/device_list_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hv {
namespace {

// Positive integers up to `close`, with a product of at most kMaxDeviceIds.
bool ReadSizes(Reader* in, char open, char close, std::span<const int64_t>* sizes,
               int64_t* product) {
  const uint32_t where = in->TokenOffset();
  std::vector<int64_t> values;
  *product = 1;
  if (!in->Expect(open, "before sizes")) return false;
  const bool read = in->ListUntil(close, "after sizes", [&] {
    int64_t size;
    if (!in->Int(&size)) return false;
    if (size < 1 || size > kMaxDeviceIds / *product) {
      return in->Fail(where, "device-count", "sizes of devices must be positive and below 2^24");
    }
    *product *= size;
    values.push_back(size);
    return true;
  });
  *sizes = in->arena().Copy(values);
  return read;
}

// T(p0,p1,..): a permutation of 0..rank-1.
bool ReadTranspose(Reader* in, size_t rank, std::span<const int64_t>* transpose) {
  const uint32_t where = in->TokenOffset();
  std::vector<int64_t> values;
  std::vector<bool> seen(rank);
  in->ConsumeWord("T");
  if (!in->Expect('(', "after T")) return false;
  const bool read = in->ListUntil(')', "after a permutation", [&] {
    values.push_back(0);
    return in->Int(&values.back());
  });
  if (!read) return false;
  for (int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(value)]) {
      return in->Fail(where, "iota-transpose", "T(..) is no permutation of the dimensions");
    }
    seen[static_cast<size_t>(value)] = true;
  }
  if (values.size() != rank) {
    return in->Fail(where, "iota-transpose", "T(..) must name every dimension");
  }
  *transpose = in->arena().Copy(values);
  return true;
}

// [r,..]T(p,..); T stands there if and only if there are several r.
bool ReadIotaSource(Reader* in, IotaTile* tile, int64_t* product) {
  if (!ReadSizes(in, '[', ']', &tile->reshape, product)) return false;
  if (tile->reshape.size() > 1 && in->PeekIdentifier() != "T") return in->FailExpected("T(..)");
  return in->PeekIdentifier() != "T" || ReadTranspose(in, tile->reshape.size(), &tile->transpose);
}

bool ReadLists(Reader* in, DeviceList* list) {
  std::vector<std::vector<int64_t>> groups;
  if (!in->Expect('{', "before groups")) return false;
  const bool read = in->ListUntil('}', "after groups", [&] {
    groups.emplace_back();
    return in->Ints(&groups.back());
  });
  if (!read || groups.empty()) return read;
  list->form = DeviceList::Form::kLists;
  auto lists = in->arena().NewArray<std::span<const int64_t>>(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) lists[g] = in->arena().Copy(groups[g]);
  list->lists = lists;
  return true;
}

// Parts of one axis must not overlap, and nest into its size.
bool CheckAxisRefs(Reader* in, uint32_t where, const DeviceList& list, std::vector<AxisRef> refs) {
  std::sort(refs.begin(), refs.end(), [](const AxisRef& a, const AxisRef& b) {
    return std::pair(a.axis, a.pre_size) < std::pair(b.axis, b.pre_size);
  });
  for (size_t i = 0; i < refs.size(); ++i) {
    const int64_t whole = list.axes[static_cast<size_t>(refs[i].axis)].size;
    const bool first = i == 0 || refs[i - 1].axis != refs[i].axis;
    const int64_t before =
        first ? 1 : refs[i - 1].pre_size * (refs[i - 1].size == 0 ? whole : refs[i - 1].size);
    const bool fits = first ? true : refs[i].size != 0 && refs[i].pre_size % before == 0;
    if (!fits) return in->Fail(where, "mesh-axis", "parts of a mesh axis overlap");
  }
  return true;
}

bool ReadMeshGroups(Reader* in, DeviceList* list) {
  if (!ReadMesh(in, list)) return false;
  const uint32_t where = in->TokenOffset();
  std::vector<AxisRef> refs;
  if (!in->Expect('{', "before the axes of groups")) return false;
  const bool read = in->ListUntil('}', "after the axes of groups", [&] {
    refs.emplace_back();
    return ReadAxisRef(in, *list, &refs.back());
  });
  list->grouped_axes = in->arena().Copy(refs);
  return read && CheckAxisRefs(in, where, *list, refs);
}

// device_ids=(3,2,1,0) or device_ids=([4,2]T(1,0)), as many as the mesh has devices.
bool ReadMeshDeviceIds(Reader* in, int64_t count, DeviceList* list) {
  const uint32_t where = in->TokenOffset();
  if (!in->Expect('(', "after device_ids=")) return false;
  int64_t listed = 0;
  if (in->Peek() == '[') {
    if (!ReadIotaSource(in, &list->iota, &listed)) return false;
    if (!in->Expect(')', "after device ids")) return false;
  } else {
    std::vector<int64_t> ids;
    const bool read = in->ListUntil(')', "after device ids", [&] {
      ids.push_back(0);
      return in->Count(&ids.back());
    });
    if (!read) return false;
    listed = static_cast<int64_t>(ids.size());
    list->device_ids = in->arena().Copy(ids);
  }
  return listed == count ||
         in->Fail(where, "device-count",
                  fmt::format("the mesh has {} devices, {} are listed", count, listed));
}

bool ReadMeshAxes(Reader* in, DeviceList* list, int64_t* count) {
  std::vector<MeshAxis> axes;
  *count = 1;
  const bool read = in->ListUntil(']', "after mesh axes", [&] {
    MeshAxis axis;
    const uint32_t where = in->TokenOffset();
    if (!in->Quoted(&axis.name) || !in->Expect('=', "after an axis name")) return false;
    if (!in->Int(&axis.size)) return false;
    if (axis.size < 1 || axis.size > kMaxDeviceIds / *count) {
      return in->Fail(where, "device-count", "sizes of a mesh must be positive and below 2^24");
    }
    *count *= axis.size;
    axes.push_back(axis);
    return true;
  });
  list->axes = in->arena().Copy(axes);
  return read;
}

}  // namespace

bool ReadIota(Reader* in, IotaTile* tile) {
  const uint32_t where = in->TokenOffset();
  int64_t tiles = 0, devices = 0;
  if (!ReadSizes(in, '[', ']', &tile->dims, &tiles)) return false;
  if (!in->Consume("<=")) return in->FailExpected("'<='");
  if (!ReadIotaSource(in, tile, &devices)) return false;
  return tiles == devices ||
         in->Fail(where, "iota-size", fmt::format("{} places for {} devices", tiles, devices));
}

bool ReadMesh(Reader* in, DeviceList* list) {
  if (in->ConsumeWord("maximal_mesh")) {
    list->form = DeviceList::Form::kMaximalMesh;
    return in->Expect('[', "after maximal_mesh") &&
           (in->AttributeName() == "device_id" || in->FailExpected("device_id=")) &&
           in->Count(&list->maximal_device) && in->Expect(']', "after a device id");
  }
  if (!in->ConsumeWord("mesh")) return in->FailExpected("a mesh");
  list->form = DeviceList::Form::kMesh;
  int64_t count = 1;
  if (!in->Expect('[', "after mesh") || !ReadMeshAxes(in, list, &count)) return false;
  const char* const end = in->position();
  if (in->Consume(',') && in->AttributeName() == "device_ids") {
    return ReadMeshDeviceIds(in, count, list);
  }
  in->set_position(end);
  return true;
}

bool ReadAxisRef(Reader* in, const DeviceList& list, AxisRef* ref) {
  const uint32_t where = in->TokenOffset();
  std::string_view name;
  if (!in->Quoted(&name)) return false;
  const auto named = std::find_if(list.axes.begin(), list.axes.end(),
                                  [name](const MeshAxis& axis) { return axis.name == name; });
  ref->axis = named - list.axes.begin();
  const auto count = static_cast<int64_t>(list.axes.size());
  if (named == list.axes.end()) {  // an axis may also be given by its number
    std::from_chars(name.data(), name.data() + name.size(), ref->axis);
  }
  if (ref->axis < 0 || ref->axis >= count) {
    return in->Fail(where, "mesh-axis", fmt::format("the mesh has no axis '{}'", name));
  }
  if (!in->Consume(':')) return true;
  const int64_t whole = list.axes[static_cast<size_t>(ref->axis)].size;
  if (!in->Expect('(', "before a pre-size") || !in->Int(&ref->pre_size) ||
      !in->Expect(')', "after a pre-size") || !in->Int(&ref->size)) {
    return false;
  }
  const bool fits = ref->pre_size >= 1 && ref->pre_size <= whole && ref->size >= 1 &&
                    ref->size <= whole && whole % (ref->pre_size * ref->size) == 0;
  return fits || in->Fail(where, "mesh-axis",
                          fmt::format("({}){} is no part of an axis of size {}", ref->pre_size,
                                      ref->size, whole));
}

const DeviceList* ReadDeviceList(Reader* in) {
  auto* list = in->arena().New<DeviceList>();
  const uint32_t where = in->TokenOffset();
  bool read;
  if (in->Peek() == '[') {
    list->form = DeviceList::Form::kIota;
    read = ReadIota(in, &list->iota);
    if (read && list->iota.dims.size() != 2) {
      read = in->Fail(where, "iota-groups", "replica groups need [groups,size] on the left");
    }
  } else if (Reader::IsNameStart(in->Peek())) {
    read = ReadMeshGroups(in, list);
  } else {
    read = ReadLists(in, list);
  }
  return read ? list : nullptr;
}

}  // namespace hv
