// Device lists: `replica_groups` in its three spellings (lists, iota, mesh axes) and iota device
// arrays in shardings. The spelling is kept for printing; Expand gives the ids. Source: hlo_text
// section 10.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hv {

// [dims]<=[reshape]T(transpose): count 0,1,2,.. in `reshape`, transpose, read row-major into
// `dims`.
struct IotaTile {
  std::span<const int64_t> dims;
  std::span<const int64_t> reshape;
  std::span<const int64_t> transpose;  // empty: identity
};

struct MeshAxis {
  std::string_view name;
  int64_t size = 1;
};

// One axis of a mesh, or the middle part of it: 'y':(pre_size)size.
struct AxisRef {
  int64_t axis = 0;  // index into the mesh's axes
  int64_t pre_size = 1;
  int64_t size = 0;  // 0: the whole axis
};

struct DeviceList {
  enum class Form : uint8_t { kEmpty, kLists, kIota, kMesh, kMaximalMesh };
  Form form = Form::kEmpty;                         // kEmpty: `{}`, one group of all ids
  std::span<const std::span<const int64_t>> lists;  // kLists
  IotaTile iota;                                    // kIota; also device_ids=([r]T(p)) of a mesh
  std::span<const MeshAxis> axes;                   // kMesh
  std::span<const AxisRef> grouped_axes;            // kMesh
  std::span<const int64_t> device_ids;              // kMesh with device_ids=(..); else iota if set
  int64_t maximal_device = 0;                       // kMaximalMesh
};

// The most ids a list may expand to; the parser refuses longer ones.
inline constexpr int64_t kMaxDeviceIds = int64_t{1} << 24;

using Groups = std::vector<std::vector<int64_t>>;

// The groups as listed ids, in order; empty for kEmpty.
Groups Expand(const DeviceList& list);
// How many ids the list names and how many groups it has, without expanding.
int64_t IdCount(const DeviceList& list);
int64_t GroupCount(const DeviceList& list);
std::vector<int64_t> Expand(const IotaTile& tile);

void AppendDeviceList(const DeviceList& list, std::string* out);

}  // namespace hv
