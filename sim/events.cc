#include "sim/events.h"

#include <algorithm>

namespace hv {

void RecordEvents(const std::vector<Meeting>& meetings,
                  const std::vector<std::unique_ptr<Device>>& devices,
                  std::vector<CollectiveEvent>* events) {
  for (const Meeting& meeting : meetings) {
    const DeviceId first = meeting.members.front().device;
    const bool is_local = std::any_of(devices.begin(), devices.end(), [first](const auto& device) {
      return device->id() == first;
    });
    if (!is_local) continue;
    const Collective& collective = *meeting.collective;
    CollectiveEvent event;
    event.instruction = std::string(collective.instruction->name);
    event.opcode = collective.opcode;
    event.execution = meeting.key.execution;
    for (const Meeting::Member& member : meeting.members) event.group.push_back(member.device);
    for (const Shape* operand : collective.operands) event.operand_bytes += operand->ByteSize();
    for (const Shape* result : collective.results) event.result_bytes += result->ByteSize();
    if (collective.opcode == Opcode::kRecv) event.operand_bytes = event.result_bytes;
    events->push_back(std::move(event));
  }
}

}  // namespace hv
