// Agreement: after every device has run until it waits, all ranks derive the same answer from what is
// posted: which collectives are complete, whether all is finished, an error, or that nothing can move.
// If all devices have posted the same, comparing one hash is enough; else states are exchanged.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/device.h"
#include "sim/run.h"

namespace hv {

// A posted collective as other ranks see it.
struct PostState {
  PostKey key;
  int32_t collective = -1;
  std::string encodings;  // of its operands: one of kNativeOperand .. per leaf
};
inline constexpr char kNativeOperand = 'n', kCodeOperand = 'c', kExtendedOperand = 'x';

struct DeviceState {
  bool finished = false;
  std::vector<PostState> posted;  // sorted by key
};

// The states of all devices; one state stands for all if they are alike.
class World {
 public:
  World(std::vector<DeviceState> states, int64_t devices)
      : states_(std::move(states)), devices_(devices) {}
  int64_t devices() const { return devices_; }
  const DeviceState& Of(DeviceId device) const {
    return states_[states_.size() == 1 ? 0 : static_cast<size_t>(device.value)];
  }
  // Whether `device` has posted the collective, in any group if all states are alike.
  const PostState* Find(DeviceId device, const PostKey& key) const;

 private:
  std::vector<DeviceState> states_;
  int64_t devices_;
};

// A complete collective of one group: members in group order; source and target of a transfer.
struct Meeting {
  struct Member {
    DeviceId device;
    Role role = Role::kMember;
    std::string encodings;
  };
  CollectiveKey key;
  const Collective* collective = nullptr;  // of a transfer: the recv
  std::vector<Member> members;
};

class OperandBoard;

struct Agreement {
  std::optional<Error> error;     // of the lowest device that has one
  std::optional<Stall> stall;
  bool finished = false;
  std::vector<Meeting> complete;  // those in which a local device takes part, sorted by key
  OperandBoard* board = nullptr;  // where their operands are published
};

// What all of these devices, at least one, have posted, if that is the same up to the group each of
// them belongs to, and complete as soon as all members have posted it.
std::optional<DeviceState> CommonState(const ModulePlan& plan,
                                       const std::vector<std::unique_ptr<Device>>& devices);
uint64_t HashOf(const DeviceState& state);
// What follows if it is the state of all members too.
Agreement AgreementOn(const ModulePlan& plan, DeviceState state,
                      const std::vector<std::unique_ptr<Device>>& devices);

// Of all ranks. `board` publishes what is posted, so that its data can be read as soon as ranks
// have agreed.
Agreement Agree(const ModulePlan& plan, const std::vector<std::unique_ptr<Device>>& devices,
                Transport* transport, OperandBoard* board);

// Who takes part in a collective, in group order (source, target of a transfer).
std::vector<Meeting::Member> MembersOf(const Collective& collective, const CollectiveKey& key,
                                       int64_t devices);

// Describes why nothing moves: who waits where for whom, and a cycle if there is one.
Stall DescribeStall(const ModulePlan& plan, const World& world);

// An error on one rank becomes the error of all; the lowest rank's stands.
Status AgreeOnError(const Status& mine, Transport* transport);

}  // namespace hv
