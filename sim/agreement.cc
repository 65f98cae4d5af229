#include "sim/agreement.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/bytes.h"
#include "sim/collective_plan.h"
#include "sim/hash.h"
#include "sim/operand_board.h"

namespace hv {
namespace {

using Devices = std::vector<std::unique_ptr<Device>>;

std::string EncodingsOf(const Posted& post) {
  std::string encodings;
  for (const Value& operand : post.operands) {
    encodings += operand.IsNative() ? kNativeOperand
                 : operand.IsDense() ? kCodeOperand : kExtendedOperand;
  }
  return encodings;
}

DeviceState StateOf(const Device& device) {
  DeviceState state;
  state.finished = device.finished();
  for (const auto& [key, post] : device.posted()) {
    state.posted.push_back({key, post.collective, EncodingsOf(post)});
  }
  return state;
}

// The same posts up to the group each device belongs to?
bool Alike(const Device& a, const Device& b) {
  const auto same_encoding = [](const Value& x, const Value& y) {
    return x.IsDense() == y.IsDense() && x.encoding() == y.encoding();
  };
  const auto same = [&](const auto& p, const auto& q) {
    const CollectiveKey &own = p.first.collective, &other = q.first.collective;
    return own.site == other.site && own.execution == other.execution &&
           p.first.role == q.first.role && p.second.collective == q.second.collective &&
           std::equal(p.second.operands.begin(), p.second.operands.end(),
                      q.second.operands.begin(), q.second.operands.end(), same_encoding);
  };
  return a.finished() == b.finished() &&
         std::equal(a.posted().begin(), a.posted().end(), b.posted().begin(), b.posted().end(), same);
}

// Are the posts of one state complete on all devices merely because all have posted them? A message
// needs its other end too.
bool IsUniform(const ModulePlan& plan, const DeviceState& state) {
  std::map<std::pair<uint64_t, int64_t>, int> ends;
  for (const PostState& post : state.posted) {
    if (!plan.collectives[static_cast<size_t>(post.collective)].uniform) return false;
    if (post.key.role == Role::kMember) continue;
    ends[{post.key.collective.site, post.key.collective.execution}] +=
        post.key.role == Role::kSender ? 1 : -1;
  }
  return std::all_of(ends.begin(), ends.end(), [](const auto& end) { return end.second == 0; });
}

void WriteError(const Error& error, ByteWriter* out) {
  out->Put(error.kind);
  out->Put(error.diagnostics.size());
  for (const Diagnostic& d : error.diagnostics) {
    for (const std::string* text : {&d.id, &d.message, &d.place.file, &d.source_line}) {
      out->PutText(*text);
    }
    out->Put(d.place.line);
    out->Put(d.place.column);
    out->Put(d.notes.size());
    for (const std::string& note : d.notes) out->PutText(note);
  }
}

Error ReadError(ByteReader* in) {
  Error error;
  error.kind = in->Get<ErrorKind>();
  error.diagnostics.resize(in->Get<size_t>());
  for (Diagnostic& d : error.diagnostics) {
    for (std::string* text : {&d.id, &d.message, &d.place.file, &d.source_line}) {
      *text = in->GetText();
    }
    d.place.line = in->Get<int>();
    d.place.column = in->Get<int>();
    d.notes.resize(in->Get<size_t>());
    for (std::string& note : d.notes) note = in->GetText();
  }
  return error;
}

std::string WriteStates(const Devices& devices, const std::vector<DeviceState>& states) {
  ByteWriter out;
  for (size_t d = 0; d < devices.size(); ++d) {
    out.Put(devices[d]->error().has_value());
    if (devices[d]->error()) WriteError(*devices[d]->error(), &out);
    out.Put(states[d].finished);
    out.Put(states[d].posted.size());
    for (const PostState& post : states[d].posted) {
      out.Put(post.key);
      out.Put(post.collective);
      out.PutText(post.encodings);
    }
  }
  return out.Take();
}

// Ranks hold contiguous blocks, so devices come in order.
void ReadStates(const std::string& bytes, std::vector<DeviceState>* states,
                std::optional<Error>* error) {
  ByteReader in(bytes);
  while (!in.done()) {
    if (in.Get<bool>()) {
      Error own = ReadError(&in);
      if (!*error) *error = std::move(own);
    }
    DeviceState& state = states->emplace_back();
    state.finished = in.Get<bool>();
    state.posted.resize(in.Get<size_t>());
    for (PostState& post : state.posted) {
      post.key = in.Get<PostKey>();
      post.collective = in.Get<int32_t>();
      post.encodings = in.GetText();
    }
  }
}

// Complete: as many devices have posted the key as take part, and a transfer's ends agree on shapes.
std::set<CollectiveKey> CompleteKeys(const ModulePlan& plan, const World& world) {
  struct Arrivals {
    size_t count = 0;
    const Collective* collective = nullptr;
    bool fits = true;
  };
  std::map<CollectiveKey, Arrivals> arrivals;
  for (int64_t d = 0; d < world.devices(); ++d) {
    for (const PostState& post : world.Of(DeviceId(d)).posted) {
      Arrivals& here = arrivals[post.key.collective];
      const Collective& own = plan.collectives[static_cast<size_t>(post.collective)];
      ++here.count;
      if (here.collective != nullptr && here.collective != &own) {
        here.fits = MessageFits(own, *here.collective);
      }
      here.collective = &own;
    }
  }
  std::set<CollectiveKey> complete;
  for (const auto& [key, here] : arrivals) {
    const size_t needed = MembersOf(*here.collective, key, world.devices()).size();
    if (here.count == needed && here.fits) complete.insert(key);
  }
  return complete;
}

// The meetings of `complete` (null: of everything posted) in which a local device takes part.
std::vector<Meeting> LocalMeetings(const ModulePlan& plan, const World& world,
                                   const std::set<CollectiveKey>* complete,
                                   const Devices& devices) {
  std::map<CollectiveKey, Meeting> meetings;
  for (const auto& device : devices) {
    for (const auto& [key, post] : device->posted()) {
      if (complete != nullptr && complete->count(key.collective) == 0) continue;
      if (meetings.count(key.collective) != 0) continue;
      Meeting& meeting = meetings[key.collective];
      meeting.key = key.collective;
      meeting.members = MembersOf(plan.collectives[static_cast<size_t>(post.collective)],
                                  key.collective, world.devices());
      for (Meeting::Member& member : meeting.members) {
        const PostState& state = *world.Find(member.device, {key.collective, member.role});
        meeting.collective = &plan.collectives[static_cast<size_t>(state.collective)];
        member.encodings = state.encodings;
      }
    }
  }
  std::vector<Meeting> list;
  for (auto& [key, meeting] : meetings) list.push_back(std::move(meeting));
  return list;
}

}  // namespace

const PostState* World::Find(DeviceId device, const PostKey& key) const {
  const bool alike = states_.size() == 1;
  for (const PostState& post : Of(device).posted) {
    if (alike ? post.key.collective.site == key.collective.site &&
                    post.key.collective.execution == key.collective.execution &&
                    post.key.role == key.role
              : post.key == key) {
      return &post;
    }
  }
  return nullptr;
}

std::vector<Meeting::Member> MembersOf(const Collective& collective, const CollectiveKey& key,
                                       int64_t devices) {
  if (collective.opcode == Opcode::kSend || collective.opcode == Opcode::kRecv) {
    return {{DeviceId(key.group / devices), Role::kSender, {}},
            {DeviceId(key.group % devices), Role::kReceiver, {}}};
  }
  const std::vector<DeviceId>& group = collective.grouping->groups[static_cast<size_t>(key.group)];
  std::vector<Meeting::Member> members;
  members.reserve(group.size());
  for (const DeviceId device : group) {
    members.push_back({device, Role::kMember, {}});
  }
  return members;
}

uint64_t HashOf(const DeviceState& state) {
  uint64_t hash = state.finished ? 1 : 2;
  for (const PostState& post : state.posted) {
    hash = Mix(hash, post.key.collective.site);
    hash = Mix(hash, static_cast<uint64_t>(post.key.collective.execution));
    hash = Mix(hash, static_cast<uint64_t>(post.key.role));
    hash = HashBytes(hash, std::as_bytes(std::span(post.encodings)));
  }
  return hash;
}

std::optional<DeviceState> CommonState(const ModulePlan& plan, const Devices& devices) {
  for (const auto& device : devices) {
    if (device->error() || !Alike(*devices.front(), *device)) return {};
  }
  DeviceState state = StateOf(*devices.front());
  if (!IsUniform(plan, state)) return {};
  return state;
}

Agreement AgreementOn(const ModulePlan& plan, DeviceState state, const Devices& devices) {
  Agreement agreement;
  agreement.finished = state.finished;
  const World world({std::move(state)}, plan.mesh.devices());
  agreement.complete = LocalMeetings(plan, world, nullptr, devices);
  if (!agreement.finished && agreement.complete.empty()) {
    agreement.stall = DescribeStall(plan, world);
  }
  return agreement;
}

Agreement Agree(const ModulePlan& plan, const Devices& devices, Transport* transport,
                OperandBoard* board) {
  board->Publish(devices);
  std::optional<DeviceState> common;
  if (!devices.empty()) common = CommonState(plan, devices);
  const uint64_t poison = Mix(~uint64_t{0}, static_cast<uint64_t>(transport->rank().value));
  const bool all_equal = transport->AllEqual(common ? HashOf(*common) : poison);
  board->ReleaseOlder();
  if (common && all_equal) return AgreementOn(plan, std::move(*common), devices);
  Agreement agreement;
  std::vector<DeviceState> states;
  for (const auto& device : devices) states.push_back(StateOf(*device));
  std::vector<DeviceState> all;
  for (const std::string& bytes : transport->AllGather(WriteStates(devices, states))) {
    ReadStates(bytes, &all, &agreement.error);
  }
  if (agreement.error) return agreement;
  agreement.finished = std::all_of(all.begin(), all.end(),
                                  [](const DeviceState& state) { return state.finished; });
  if (agreement.finished) return agreement;
  const World world(std::move(all), plan.mesh.devices());
  const std::set<CollectiveKey> complete = CompleteKeys(plan, world);
  if (complete.empty()) {
    agreement.stall = DescribeStall(plan, world);
  } else {
    agreement.complete = LocalMeetings(plan, world, &complete, devices);
  }
  return agreement;
}

Status AgreeOnError(const Status& mine, Transport* transport) {
  if (transport->AllEqual(mine ? 0 : Mix(1, static_cast<uint64_t>(transport->rank().value))) &&
      mine) {
    return {};
  }
  ByteWriter out;
  if (!mine) WriteError(mine.error(), &out);
  for (const std::string& bytes : transport->AllGather(out.Take())) {
    if (bytes.empty()) continue;
    ByteReader in(bytes);
    return tl::make_unexpected(ReadError(&in));
  }
  return {};
}

}  // namespace hv
