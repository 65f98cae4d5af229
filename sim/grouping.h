// Who meets whom in a collective, as tables by device: groups and positions for group collectives,
// sources and targets for permutes, sends and recvs. Equal groupings are computed once per module.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hlo/groups.h"
#include "sim/mesh.h"

namespace hv {

struct Grouping {
  std::vector<std::vector<DeviceId>> groups;  // of a permute: devices linked by pairs, ascending
  std::vector<int32_t> group_of;              // by device; -1: takes no part
  std::vector<int32_t> position_of;           // within its group; -1
  std::vector<int64_t> source_of;             // permute, recv: whose operand a device receives; -1
  std::vector<int64_t> target_of;             // permute, send: who receives a device's operand; -1
};

class GroupingTable {
 public:
  explicit GroupingTable(const Mesh& mesh) : mesh_(mesh) {}
  // Of any collective, send or recv, start forms included.
  std::shared_ptr<const Grouping> Of(const Instruction& instruction);

 private:
  Mesh mesh_;
  std::map<std::string, std::shared_ptr<const Grouping>> known_;
};

}  // namespace hv
