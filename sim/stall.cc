// Why nothing can move: the wait-for graph of a run that has come to rest, in words.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/agreement.h"

namespace hv {
namespace {

using Graph = std::vector<std::vector<int64_t>>;  // device -> devices it waits for

std::vector<DeviceId> MissingMembers(const ModulePlan& plan, const World& world,
                                     const PostState& post) {
  std::vector<DeviceId> missing;
  const Collective& collective = plan.collectives[static_cast<size_t>(post.collective)];
  for (const auto& member : MembersOf(collective, post.key.collective, world.devices())) {
    if (world.Find(member.device, {post.key.collective, member.role}) == nullptr) {
      missing.push_back(member.device);
    }
  }
  return missing;
}

// A shortest cycle through the lowest device that lies on one; empty if there is none.
std::vector<DeviceId> FindCycle(const Graph& graph) {
  for (size_t start = 0; start < graph.size(); ++start) {
    std::vector<int64_t> came_from(graph.size(), -1);
    std::vector<int64_t> queue{static_cast<int64_t>(start)};
    for (size_t head = 0; head < queue.size(); ++head) {
      for (int64_t next : graph[static_cast<size_t>(queue[head])]) {
        if (next == static_cast<int64_t>(start)) {
          std::vector<DeviceId> cycle{DeviceId(next)};
          for (int64_t d = queue[head]; d != next; d = came_from[static_cast<size_t>(d)]) {
            cycle.push_back(DeviceId(d));
          }
          cycle.push_back(DeviceId(next));
          std::reverse(cycle.begin(), cycle.end());
          return cycle;
        }
        if (came_from[static_cast<size_t>(next)] >= 0) continue;
        came_from[static_cast<size_t>(next)] = queue[head];
        queue.push_back(next);
      }
    }
  }
  return {};
}

// Do all that `post` waits for stand at another instruction that looks the same from outside?
std::string LookAlikeNote(const ModulePlan& plan, const World& world, const PostState& post,
                          const std::vector<DeviceId>& missing) {
  if (post.key.role != Role::kMember) return {};
  const Collective& own = plan.collectives[static_cast<size_t>(post.collective)];
  bool same_channel = true;
  for (DeviceId device : missing) {
    const auto& posted = world.Of(device).posted;
    const auto twin = std::find_if(posted.begin(), posted.end(), [&](const PostState& other) {
      return plan.collectives[static_cast<size_t>(other.collective)].signature == own.signature;
    });
    if (twin == posted.end()) return {};
    same_channel &= plan.collectives[static_cast<size_t>(twin->collective)].channel == own.channel;
  }
  return fmt::format("the devices stand at different instructions that look alike: back ends that "
                     "match by {} would pair these",
                     same_channel ? "channel or by order" : "order");
}

std::string MisfitNote(const ModulePlan& plan, const PostState& post) {
  const Collective& own = plan.collectives[static_cast<size_t>(post.collective)];
  return fmt::format("both ends of {} are there, but what is sent has not the shape of what is "
                     "received", own.signature);
}

Waiting Describe(const ModulePlan& plan, DeviceId device, const PostState& post,
                 std::vector<DeviceId> missing) {
  const Collective& collective = plan.collectives[static_cast<size_t>(post.collective)];
  Waiting waiting;
  waiting.device = device;
  waiting.instruction = std::string(collective.instruction->name);
  waiting.opcode = std::string(ToString(collective.instruction->opcode));
  waiting.signature = collective.signature;
  if (collective.channel > 0) waiting.signature += fmt::format(" channel {}", collective.channel);
  if (post.key.collective.execution > 0) {
    waiting.signature += fmt::format(", execution {}", post.key.collective.execution + 1);
  }
  waiting.waits_for = std::move(missing);
  return waiting;
}

std::string JoinDevices(const std::vector<DeviceId>& devices, const char* separator) {
  constexpr size_t kMost = 16;
  std::string text;
  for (size_t i = 0; i < devices.size() && i < kMost; ++i) {
    if (i > 0) text += separator;
    text += std::to_string(devices[i].value);
  }
  if (devices.size() > kMost) text += fmt::format("{}... ({} in all)", separator, devices.size());
  return text;
}

}  // namespace

Stall DescribeStall(const ModulePlan& plan, const World& world) {
  Stall stall;
  Graph graph(static_cast<size_t>(world.devices()));
  for (int64_t d = 0; d < world.devices(); ++d) {
    for (const PostState& post : world.Of(DeviceId(d)).posted) {
      const std::vector<DeviceId> missing = MissingMembers(plan, world, post);
      if (stall.note.empty()) {
        stall.note = missing.empty() ? MisfitNote(plan, post)
                                     : LookAlikeNote(plan, world, post, missing);
      }
      for (DeviceId m : missing) graph[static_cast<size_t>(d)].push_back(m.value);
      stall.waiting.push_back(Describe(plan, DeviceId(d), post, missing));
    }
  }
  stall.cycle = FindCycle(graph);
  stall.kind = stall.cycle.empty() ? "mismatch" : "deadlock";
  return stall;
}

std::string Stall::ToString() const {
  constexpr size_t kMost = 16;
  std::string text = kind == "deadlock" ? "deadlock: devices wait for each other\n"
                                        : "mismatch: devices wait for others that never come\n";
  for (size_t i = 0; i < waiting.size() && i < kMost; ++i) {
    const Waiting& w = waiting[i];
    text += fmt::format("  device {} waits at {} {} for device {}\n", w.device.value, w.instruction,
                        w.signature, JoinDevices(w.waits_for, ", "));
  }
  if (waiting.size() > kMost) text += fmt::format("  ... and {} more\n", waiting.size() - kMost);
  if (!cycle.empty()) text += fmt::format("  cycle: {}\n", JoinDevices(cycle, " -> "));
  if (!note.empty()) text += fmt::format("  note: {}\n", note);
  return text;
}

}  // namespace hv
