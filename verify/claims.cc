#include "verify/claims.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <set>

#include "hlo/device_list.h"

namespace hv {
namespace {

// Reads "1,2,3" from `text` at `*at`, moving on.
std::vector<int64_t> ReadNumbers(std::string_view text, size_t* at) {
  std::vector<int64_t> numbers;
  int64_t number = 0;
  while (*at < text.size()) {
    const auto [end, error] = std::from_chars(text.data() + *at, text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    *at = static_cast<size_t>(end - text.data());
    if (*at < text.size() && text[*at] == ',') ++*at;
  }
  return numbers;
}

bool Skip(std::string_view text, std::string_view word, size_t* at) {
  if (text.substr(*at, word.size()) != word) return false;
  *at += word.size();
  return true;
}

// The device list after the tile sizes: "0,1,2" or "<=[4,2]T(1,0)".
std::vector<int64_t> ReadDevices(std::string_view text, size_t at) {
  if (!Skip(text, "<=[", &at)) return ReadNumbers(text, &at);
  IotaTile tile;
  const std::vector<int64_t> reshape = ReadNumbers(text, &at);
  std::vector<int64_t> transpose;
  Skip(text, "]", &at);
  if (Skip(text, "T(", &at)) transpose = ReadNumbers(text, &at);
  const int64_t total = std::accumulate(reshape.begin(), reshape.end(), int64_t{1},
                                        [](int64_t a, int64_t b) { return a * b; });
  tile.dims = {&total, 1};
  tile.reshape = reshape;
  tile.transpose = transpose;
  return Expand(tile);
}

bool Differ(const std::vector<int64_t>& groups) {
  return std::set<int64_t>(groups.begin(), groups.end()).size() < groups.size();
}

// parameter_replication of a parameter that is an array.
bool IsReplicated(const Instruction& parameter) {
  const auto flags = parameter.List<bool>(Attr::kParameterReplication);
  return flags.size() == 1 && flags[0];
}

}  // namespace

std::vector<int64_t> TileOfPartition(std::string_view sharding, int64_t partitions) {
  const auto count = static_cast<size_t>(partitions);
  if (sharding.substr(0, 11) == "{replicated") return std::vector<int64_t>(count, 0);
  constexpr std::string_view kDevices = "devices=[";
  size_t at = sharding.find(kDevices);
  if (at == std::string_view::npos) return {};
  at += kDevices.size();
  std::vector<int64_t> sizes = ReadNumbers(sharding, &at);
  if (sizes.empty() || !Skip(sharding, "]", &at)) return {};
  const std::vector<int64_t> devices = ReadDevices(sharding, at);
  if (devices.size() != count) return {};
  // Only whole replication of the last dimension is a claim; other kinds say nothing.
  const bool replicates = sharding.find("last_tile_dim_replicate") != std::string_view::npos;
  if (!replicates && sharding.find("last_tile_dims") != std::string_view::npos) return {};
  const int64_t copies = replicates ? sizes.back() : 1;
  std::vector<int64_t> tile(count, 0);
  for (size_t position = 0; position < count; ++position) {
    const int64_t device = devices[position];
    if (device < 0 || device >= partitions) return {};
    tile[static_cast<size_t>(device)] = static_cast<int64_t>(position) / copies;
  }
  return tile;
}

std::vector<Claim> ClaimsOf(const Module& module, const Mesh& mesh) {
  std::vector<Claim> claims;
  const Computation& entry = module.Entry();
  for (size_t number = 0; number < entry.parameters.size(); ++number) {
    const Instruction& parameter = entry.At(entry.parameters[number]);
    if (!parameter.shape->IsArray()) continue;
    std::vector<int64_t> tile = TileOfPartition(parameter.Text(Attr::kSharding), mesh.partitions);
    const bool sharded = Differ(tile) && mesh.partitions > 1;
    const bool replicated = IsReplicated(parameter) && mesh.replicas > 1;
    if (!sharded && !replicated) continue;
    if (!sharded) {
      tile.resize(static_cast<size_t>(mesh.partitions));
      std::iota(tile.begin(), tile.end(), 0);
    }
    Claim claim{static_cast<int64_t>(number), {}, ""};
    for (int64_t d = 0; d < mesh.devices(); ++d) {
      const int64_t replica = replicated ? 0 : mesh.ReplicaOf(DeviceId(d)).value;
      const auto partition = static_cast<size_t>(mesh.PartitionOf(DeviceId(d)).value);
      claim.group_of_device.push_back(replica * mesh.partitions + tile[partition]);
    }
    claim.text = fmt::format(
        "parameter {} ({}) is equal on devices of one tile of {}{}", number, parameter.name,
        sharded ? "sharding=" + std::string(parameter.Text(Attr::kSharding)) : "",
        replicated ? "parameter_replication={true}" : "");
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace hv
