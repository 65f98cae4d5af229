#include "tests/fuzz/participants.h"

#include <algorithm>

namespace hv {
namespace {

// How ids name devices, by the attributes written.
enum class Naming { kReplicas, kPartitions, kReplicasWithAllPartitions, kDevices };

std::vector<Naming> NamingsOf(Reading reading, const Mesh& mesh) {
  std::vector<Naming> namings;
  if (mesh.replicas > 1) namings.push_back(Naming::kReplicas);
  if (reading == Reading::kReducing) {
    namings.push_back(Naming::kDevices);
    if (mesh.replicas > 1) namings.push_back(Naming::kReplicasWithAllPartitions);
  } else if (mesh.partitions > 1) {
    namings.push_back(Naming::kPartitions);
  }
  return namings;
}

int64_t IdsOf(Naming naming, const Mesh& mesh) {
  if (naming == Naming::kDevices) return mesh.devices();
  return naming == Naming::kPartitions ? mesh.partitions : mesh.replicas;
}

Groups DevicesOf(Naming naming, const Groups& ids, const Mesh& mesh) {
  Groups devices;
  const int64_t columns = mesh.partitions;
  const int64_t copies = naming == Naming::kReplicas     ? columns
                         : naming == Naming::kPartitions ? mesh.replicas
                                                         : 1;
  for (int64_t copy = 0; copy < copies; ++copy) {
    for (const std::vector<int64_t>& group : ids) {
      std::vector<int64_t> members;
      for (int64_t id : group) {
        if (naming == Naming::kDevices) members.push_back(id);
        if (naming == Naming::kReplicas) members.push_back(id * columns + copy);
        if (naming == Naming::kPartitions) members.push_back(copy * columns + id);
        if (naming != Naming::kReplicasWithAllPartitions) continue;
        for (int64_t p = 0; p < columns; ++p) members.push_back(id * columns + p);
      }
      devices.push_back(std::move(members));
    }
  }
  return devices;
}

Groups Cut(const std::vector<int64_t>& ids, int64_t size) {
  Groups groups;
  for (auto at = ids.begin(); at != ids.end(); at += size) groups.emplace_back(at, at + size);
  return groups;
}

// Equal groups of `size`: contiguous, strided or shuffled; the spelling fits the first two.
void EqualGroups(int64_t ids, int64_t size, Draw* draw, SketchGroups* written) {
  const int64_t kind = draw->Below(3), groups = ids / size;
  const std::string n = std::to_string(ids), g = std::to_string(groups), s = std::to_string(size);
  std::vector<int64_t> order(static_cast<size_t>(ids));
  for (int64_t i = 0; i < ids; ++i) {
    order[static_cast<size_t>(i)] = kind == 1 ? i % size * groups + i / size : i;
  }
  if (kind == 2) draw->Shuffle(&order);
  written->ids = Cut(order, size);
  const int64_t spelling = draw->Below(4);
  if (kind == 0 && spelling == 0) written->spelling = "[" + g + "," + s + "]<=[" + n + "]";
  if (kind == 0 && spelling == 1) {
    written->spelling = "mesh['a'=" + g + ",'b'=" + s + "] {'b'}";
  }
  if (kind == 1 && spelling == 0) {
    written->spelling = "[" + g + "," + s + "]<=[" + s + "," + g + "]T(1,0)";
  }
  if (kind == 1 && spelling == 1) {
    written->spelling = "mesh['a'=" + s + ",'b'=" + g + "] {'a'}";
  }
  if (kind != 2 && groups == 1 && spelling == 2 && !written->global) written->spelling = "{}";
}

void UnequalGroups(int64_t ids, Draw* draw, SketchGroups* written) {
  const std::vector<int64_t> order = draw->Permutation(ids);
  const int64_t most = std::max<int64_t>(1, (ids - 1) / 2);
  const auto cut = order.begin() + draw->In(1, most);
  written->ids = {{order.begin(), cut}, {cut, order.end()}};
}

std::vector<int64_t> SizesDividing(int64_t ids) {
  std::vector<int64_t> sizes;
  for (int64_t s = 2; s <= ids; ++s) {
    if (ids % s == 0) sizes.push_back(s);
  }
  if (sizes.empty()) sizes.push_back(1);
  return sizes;
}

void Locate(const Mesh& mesh, Participants* p) {
  p->size = static_cast<int64_t>(p->devices[0].size());
  p->position.assign(static_cast<size_t>(mesh.devices()), 0);
  p->members = p->position;
  for (const std::vector<int64_t>& group : p->devices) {
    if (static_cast<int64_t>(group.size()) != p->size) p->size = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      p->position[static_cast<size_t>(group[i])] = static_cast<int64_t>(i);
      p->members[static_cast<size_t>(group[i])] = static_cast<int64_t>(group.size());
    }
  }
}

}  // namespace

Participants DrawParticipants(Reading reading, bool equal, const Mesh& mesh, Draw* draw) {
  Participants p;
  const Naming naming = draw->Of(NamingsOf(reading, mesh));
  p.written.channel = naming != Naming::kReplicas;
  p.written.global = naming == Naming::kDevices;
  const int64_t ids = IdsOf(naming, mesh);
  if (equal || ids < 3) {
    EqualGroups(ids, draw->Of(SizesDividing(ids)), draw, &p.written);
  } else {
    UnequalGroups(ids, draw, &p.written);
  }
  p.devices = DevicesOf(naming, p.written.ids, mesh);
  Locate(mesh, &p);
  return p;
}

Participants Flattened(const Groups& devices, const Mesh& mesh) {
  Participants p;
  p.written = {devices, "", true, true};
  p.devices = devices;
  Locate(mesh, &p);
  return p;
}

}  // namespace hv
