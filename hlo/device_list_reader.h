// Reads device lists (replica_groups, iota arrays, meshes) and checks shardings.
// Source: hlo_text.md section 10.
#pragma once

#include "hlo/device_list.h"
#include "hlo/reader.h"

namespace hv {

// The value of replica_groups; null after reporting.
const DeviceList* ReadDeviceList(Reader* in);

// `[d,..]<=[r,..]T(p,..)`, from its first '['.
bool ReadIota(Reader* in, IotaTile* tile);

// `mesh['x'=2,..]` with an optional `, device_ids=(..)`, or `maximal_mesh[device_id=n]`.
bool ReadMesh(Reader* in, DeviceList* list);

// `'axis'` or `'axis':(pre)size`, resolved in `list`'s axes.
bool ReadAxisRef(Reader* in, const DeviceList& list, AxisRef* ref);

// One sharding, or a braced list of them, from its '{'; its text as written.
bool ReadSharding(Reader* in, std::string_view* text);

}  // namespace hv
