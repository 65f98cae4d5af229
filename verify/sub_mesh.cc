#include "verify/sub_mesh.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "hlo/groups.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr int64_t kMostStarts = 256;  // devices whose dependences are followed
constexpr size_t kMostParts = 512;

int64_t PlaceIn(const std::vector<int64_t>& sorted, int64_t id) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), id);
  return found != sorted.end() && *found == id ? found - sorted.begin() : -1;
}

// Who exchanges values with whom: groups whose members all do, and pairs.
struct Exchange {
  std::vector<std::vector<DeviceId>> groups;
  std::vector<DevicePair> pairs;
  bool both_ways = false;  // the source of a pair waits for its target
};

std::string KeyOf(const Instruction& instruction) {
  std::string key(ToString(GroupModeOf(instruction)));
  if (!HasPairs(instruction.opcode)) {
    const DeviceList* list = instruction.Object<DeviceList>(Attr::kReplicaGroups);
    if (list != nullptr) AppendDeviceList(*list, &key);
    return key;
  }
  for (const SourceTarget& p : ListedPairs(instruction).value_or(std::vector<SourceTarget>())) {
    key += ' ' + std::to_string(p.source) + '>' + std::to_string(p.target);
  }
  return key;
}

// Every distinct one once.
std::vector<Exchange> ExchangesOf(std::span<const Module* const> modules, const Mesh& mesh) {
  std::vector<Exchange> exchanges;
  std::set<std::string> known;
  for (const Module* module : modules) {
    for (const Computation& computation : module->computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (!IsCollective(instruction.opcode) || !known.insert(KeyOf(instruction)).second) continue;
        Exchange exchange;
        if (HasPairs(instruction.opcode)) {
          exchange.pairs = EffectivePairs(instruction, mesh.replicas, mesh.partitions);
          exchange.both_ways = PlainOpcode(instruction.opcode) != Opcode::kCollectivePermute;
        } else {
          exchange.groups = EffectiveGroups(instruction, mesh.replicas, mesh.partitions);
        }
        exchanges.push_back(std::move(exchange));
      }
    }
  }
  return exchanges;
}

// Follows what devices depend on.
class Dependences {
 public:
  Dependences(const std::vector<Exchange>& exchanges, const Mesh& mesh)
      : mesh_(mesh), sources_(static_cast<size_t>(mesh.devices())) {
    for (const Exchange& exchange : exchanges) {
      for (const std::vector<DeviceId>& group : exchange.groups) {
        for (size_t i = 0; i < group.size(); ++i) {  // a ring reaches everyone
          sources_[At(group[i])].push_back(group[(i + 1) % group.size()]);
        }
      }
      for (const DevicePair& pair : exchange.pairs) {
        sources_[At(pair.target)].push_back(pair.source);
        if (exchange.both_ways) sources_[At(pair.source)].push_back(pair.target);
      }
    }
  }

  bool AreInside(const SubMesh& part) const {
    for (const DeviceId device : part.DevicesIn(mesh_)) {
      for (const DeviceId source : sources_[At(device)]) {
        if (part.DeviceHere(source, mesh_) < 0) return false;
      }
    }
    return true;
  }

  // The smallest part that holds the device and all that it depends on.
  SubMesh PartOf(DeviceId device) const {
    SubMesh part{{mesh_.ReplicaOf(device).value}, {mesh_.PartitionOf(device).value}};
    while (true) {
      std::set<int64_t> replicas(part.replicas.begin(), part.replicas.end());
      std::set<int64_t> partitions(part.partitions.begin(), part.partitions.end());
      for (const DeviceId d : part.DevicesIn(mesh_)) {
        for (const DeviceId source : sources_[At(d)]) {
          replicas.insert(mesh_.ReplicaOf(source).value);
          partitions.insert(mesh_.PartitionOf(source).value);
        }
      }
      SubMesh wider{{replicas.begin(), replicas.end()}, {partitions.begin(), partitions.end()}};
      if (wider == part) return part;
      part = std::move(wider);
    }
  }

 private:
  static size_t At(DeviceId device) { return static_cast<size_t>(device.value); }

  const Mesh mesh_;
  std::vector<std::vector<DeviceId>> sources_;  // by device, what it directly depends on
};

// How many of `n` to keep: few, or a power of two.
std::vector<int64_t> Sizes(int64_t n) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= n; size += size < 8 ? 1 : size) sizes.push_back(size);
  if (sizes.back() != n) sizes.push_back(n);
  return sizes;
}

void AddPrefixes(const SubMesh& base, std::set<SubMesh>* parts) {
  for (const int64_t r : Sizes(base.mesh().replicas)) {
    for (const int64_t p : Sizes(base.mesh().partitions)) {
      parts->insert({{base.replicas.begin(), base.replicas.begin() + r},
                     {base.partitions.begin(), base.partitions.begin() + p}});
    }
  }
}

// The part that these devices make up, if they are some replicas x some partitions.
std::optional<SubMesh> PartMadeOf(const std::vector<DeviceId>& devices, const Mesh& mesh) {
  std::set<int64_t> replicas, partitions;
  for (const DeviceId device : devices) {
    replicas.insert(mesh.ReplicaOf(device).value);
    partitions.insert(mesh.PartitionOf(device).value);
  }
  if (devices.empty() || replicas.size() * partitions.size() != devices.size()) return std::nullopt;
  return SubMesh{{replicas.begin(), replicas.end()}, {partitions.begin(), partitions.end()}};
}

// The first members of every group, for each number of them.
void AddGroupCuts(const SubMesh& base, const std::vector<Exchange>& exchanges, const Mesh& mesh,
                  std::set<SubMesh>* parts) {
  for (const Exchange& exchange : exchanges) {
    std::vector<int64_t> position(static_cast<size_t>(mesh.devices()), 0);
    int64_t largest = 0;
    for (const std::vector<DeviceId>& group : exchange.groups) {
      int64_t next = 0;
      for (const DeviceId device : group) {
        if (base.DeviceHere(device, mesh) < 0) continue;
        position[static_cast<size_t>(device.value)] = next++;
      }
      largest = std::max(largest, next);
    }
    for (const int64_t size : Sizes(std::max<int64_t>(1, largest - 1))) {
      std::vector<DeviceId> kept;
      for (const DeviceId device : base.DevicesIn(mesh)) {
        if (position[static_cast<size_t>(device.value)] < size) kept.push_back(device);
      }
      if (auto part = PartMadeOf(kept, mesh)) parts->insert(std::move(*part));
    }
  }
}

}  // namespace

int64_t SubMesh::ReplicaHere(int64_t replica) const { return PlaceIn(replicas, replica); }
int64_t SubMesh::PartitionHere(int64_t partition) const { return PlaceIn(partitions, partition); }

int64_t SubMesh::DeviceHere(DeviceId device, const Mesh& whole) const {
  const int64_t r = ReplicaHere(whole.ReplicaOf(device).value);
  const int64_t p = PartitionHere(whole.PartitionOf(device).value);
  return r < 0 || p < 0 ? -1 : r * mesh().partitions + p;
}

std::vector<DeviceId> SubMesh::DevicesIn(const Mesh& whole) const {
  std::vector<DeviceId> devices;
  for (const int64_t r : replicas) {
    for (const int64_t p : partitions) {
      devices.push_back(whole.At(ReplicaId(r), PartitionId(p)));
    }
  }
  return devices;
}

SubMesh ClosedPartOf(DeviceId device, std::span<const Module* const> modules, const Mesh& mesh) {
  return Dependences(ExchangesOf(modules, mesh), mesh).PartOf(device);
}

std::vector<SmallerMesh> SmallerMeshes(std::span<const Module* const> modules, const Mesh& mesh,
                                       DeviceId wrong) {
  if (mesh.devices() > kMostDevicesToCut) return {};
  const std::vector<Exchange> exchanges = ExchangesOf(modules, mesh);
  const Dependences dependences(exchanges, mesh);
  SubMesh whole{std::vector<int64_t>(static_cast<size_t>(mesh.replicas)),
                std::vector<int64_t>(static_cast<size_t>(mesh.partitions))};
  std::iota(whole.replicas.begin(), whole.replicas.end(), 0);
  std::iota(whole.partitions.begin(), whole.partitions.end(), 0);
  std::set<SubMesh> parts;
  for (int64_t d = 0; d < std::min(mesh.devices(), kMostStarts); ++d) {
    parts.insert(dependences.PartOf(DeviceId(d)));
  }
  const SubMesh own = dependences.PartOf(wrong);
  parts.insert(own);
  for (const SubMesh& base : {own, whole}) {
    AddPrefixes(base, &parts);
    AddGroupCuts(base, exchanges, mesh, &parts);
  }
  // Once more, so that groups along two axes are both cut.
  for (const SubMesh& once : std::set<SubMesh>(parts)) {
    if (parts.size() < kMostParts) AddGroupCuts(once, exchanges, mesh, &parts);
  }
  parts.erase(whole);
  std::vector<SmallerMesh> smaller;
  for (const SubMesh& part : parts) smaller.push_back({part, dependences.AreInside(part)});
  std::sort(smaller.begin(), smaller.end(), [](const SmallerMesh& a, const SmallerMesh& b) {
    return std::tuple(a.part.devices(), !a.closed, a.part) <
           std::tuple(b.part.devices(), !b.closed, b.part);
  });
  return smaller;
}

}  // namespace hv
