#include "sim/node_ranks.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "sim/bytes.h"
#include "sim/work_note.h"

namespace hv {
namespace {

constexpr int kSpins = 100;
constexpr size_t kPage = 4096;
constexpr size_t kMostAddressSpace = size_t{1} << 45;  // for all segments of a node
constexpr size_t kPopulateFrom = size_t{1} << 18;      // smaller reads fault pages in on their own

size_t SegmentBytes(size_t ranks) {
  const auto memory =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return std::min(memory, kMostAddressSpace / ranks) / kPage * kPage;
}

cpu_set_t OwnCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return cores;
}

// What a rank tells the others of its node so that they find its memory.
struct Address {
  pid_t process = 0;
  int descriptor = -1;
  cpu_set_t cores = {};
};

template <class T>
std::string TextOf(const T& value) {
  ByteWriter out;
  out.Put(value);
  return out.Take();
}

// Has every rank a core of its own?
bool HaveCores(const std::vector<Address>& addresses) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const Address& address : addresses) CPU_OR(&all, &all, &address.cores);
  return static_cast<size_t>(CPU_COUNT(&all)) >= addresses.size();
}

std::vector<int64_t> FirstNumbers(size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// States of a process (proc(5)), or that it has ended and nobody has looked after it.
constexpr char kStopped = 'T', kRuns = 'R', kEnded = 'Z', kUnknown = '?';

// The state comes after the name, which ends in the last ')'.
char StateOf(pid_t process) {
  if (process == 0) return kUnknown;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return kill(process, 0) != 0 && errno == ESRCH ? kEnded : kUnknown;
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : kUnknown;
}

constexpr int64_t kNobody = 0;  // RankHeader::awaits; else a position plus one, or:
constexpr int64_t kOtherNodes = -1;

}  // namespace

size_t NodeRanks::HeaderBytes(size_t circles) {
  return sizeof(RankHeader) - (kMostCircles - circles) * sizeof(CircleHeader);
}

// The buffers stay untouched, so that they take no memory before they are used.
void NodeRanks::Clear(SharedRange segment, size_t circles) {
  RankHeader& header = *reinterpret_cast<RankHeader*>(segment.base);
  std::memset(segment.base, 0, offsetof(RankHeader, circles));
  for (size_t c = 0; c < circles; ++c) {
    std::memset(static_cast<void*>(&header.circles[c]), 0, offsetof(CircleHeader, bulletin));
    header.circles[c].late_bytes = 0;
  }
}

NodeRanks::NodeRanks(std::vector<Member> members, int64_t own, bool spins, size_t circles)
    : members_(std::move(members)),
      own_(own),
      circles_(circles),
      mapped_(members_.size()),
      arena_(members_[static_cast<size_t>(own)].segment, HeaderBytes(circles)),
      loans_(&HeaderOf(own)),
      waiter_(spins ? kSpins : 0),
      seen_(members_.size()),
      whole_(this, 0, FirstNumbers(members_.size())) {}

std::unique_ptr<NodeRanks> NodeRanks::Over(std::vector<Member> members, Rank mine, bool spins,
                                           size_t circles) {
  for (const Member& member : members) {
    const auto address = reinterpret_cast<uintptr_t>(member.segment.base);
    HV_CHECK(address % alignof(RankHeader) == 0, "a segment that begins within a page");
  }
  int64_t own = 0;
  while (members[static_cast<size_t>(own)].rank != mine) ++own;
  return std::unique_ptr<NodeRanks>(new NodeRanks(std::move(members), own, spins, circles));
}

std::unique_ptr<NodeRanks> NodeRanks::OverMemfds(const std::vector<Rank>& ranks, Rank mine,
                                                 const Gather& gather, size_t circles) {
  const size_t bytes = SegmentBytes(ranks.size());
  const Address own{getpid(), CreateSharedMemory(bytes), OwnCores()};
  std::vector<Address> addresses;
  for (const std::string& text : gather(TextOf(own))) {
    addresses.push_back(ByteReader(text).Get<Address>());
  }
  std::vector<Member> members;
  bool reaches_all = true;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Address& a = addresses[r];
    const SharedRange segment = ranks[r] == mine
                                    ? MapSharedMemory(own.descriptor, bytes)
                                    : MapSharedMemoryOf(a.process, a.descriptor, bytes);
    members.push_back({ranks[r], segment, a.process});
    reaches_all = reaches_all && segment.base != nullptr;
  }
  for (const std::string& text : gather(reaches_all ? "" : "not all")) {
    reaches_all = reaches_all && text.empty();
  }
  if (own.descriptor >= 0) close(own.descriptor);  // the mappings stay
  if (reaches_all) return Over(std::move(members), mine, HaveCores(addresses), circles);
  for (const Member& member : members) {
    if (member.segment.base != nullptr) munmap(member.segment.base, member.segment.bytes);
  }
  return nullptr;
}

RankHeader& NodeRanks::HeaderOf(int64_t position) const {
  return *reinterpret_cast<RankHeader*>(members_[static_cast<size_t>(position)].segment.base);
}

int64_t NodeRanks::PositionOf(Rank rank) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), rank,
                                   [](const Member& a, Rank b) { return a.rank.value < b.value; });
  return at != members_.end() && at->rank == rank ? at - members_.begin() : -1;
}

std::vector<Rank> NodeRanks::ranks() const {
  std::vector<Rank> ranks;
  for (const Member& member : members_) ranks.push_back(member.rank);
  return ranks;
}

NodeRanks::Wait::Wait(NodeRanks* node, int64_t position)
    : awaits_(node->HeaderOf(node->own_).awaits), wait_(node->watchdog_) {
  awaits_.store(position == kElsewhere ? kOtherNodes : position + 1, std::memory_order_relaxed);
}

NodeRanks::Wait::~Wait() { awaits_.store(kNobody, std::memory_order_relaxed); }

void NodeRanks::Await(int64_t position, SharedCounter& counter, uint64_t target) {
  if (counter.Reached(target)) return;
  awaited_ = &counter;
  awaited_target_ = target;
  const Wait wait(this, position);
  waiter_.Await(counter, target);
}

bool NodeRanks::AwaitUnlessAtRest(int64_t position, SharedCounter& counter, uint64_t target) {
  if (counter.Reached(target)) return true;
  awaited_ = &counter;
  awaited_target_ = target;
  const Wait wait(this, position);
  return waiter_.AwaitUnless(counter, target, [this] { return IsAtRest(); });
}

// Whoever rests last sees it first.
NodeRanks::Rest::Rest(NodeRanks* node, size_t circle, uint64_t round) : node_(*node) {
  if (node_.divisions_.empty()) return;
  node_.HeaderOf(node_.own_).resting.store(round * kMostCircles + circle);
  if (node_.IsAtRest()) node_.WakeSleepers();
}

NodeRanks::Rest::~Rest() {
  if (!node_.divisions_.empty()) node_.HeaderOf(node_.own_).resting.store(0);
}

bool NodeRanks::AreTogether(size_t circle, int64_t a, int64_t b) const {
  if (circle == 0) return true;
  const Parts& parts = divisions_[circle - 1];
  return parts[static_cast<size_t>(a)] == parts[static_cast<size_t>(b)];
}

// Have all entered whom the rank at `position` waits for?
bool NodeRanks::IsComplete(size_t circle, int64_t position, uint64_t round) const {
  for (int64_t p = 0; p < size(); ++p) {
    if (AreTogether(circle, position, p) && !HeaderOf(p).circles[circle].entered.Reached(round)) {
      return false;
    }
  }
  return true;
}

// A rank never rests twice at the same number. So if no number has changed when all have been read,
// all ranks rested at once meanwhile; and as long as they do, no round becomes complete.
bool NodeRanks::IsAtRest() {
  for (int64_t p = 0; p < size(); ++p) {
    seen_[static_cast<size_t>(p)] = HeaderOf(p).resting.load();
    if (seen_[static_cast<size_t>(p)] == 0) return false;
  }
  for (int64_t p = 0; p < size(); ++p) {
    const uint64_t at = seen_[static_cast<size_t>(p)];
    if (IsComplete(at % kMostCircles, p, at / kMostCircles)) return false;
  }
  for (int64_t p = 0; p < size(); ++p) {
    if (HeaderOf(p).resting.load() != seen_[static_cast<size_t>(p)]) return false;
  }
  return true;
}

// They find out for themselves.
void NodeRanks::WakeSleepers() {
  for (int64_t p = 0; p < size(); ++p) {
    for (size_t c = 1; c <= divisions_.size(); ++c) HeaderOf(p).circles[c].entered.Wake();
  }
}

void NodeRanks::RaiseAlarm() { HeaderOf(0).alarm.store(whole_.round()); }

bool NodeRanks::IsAlarmed() const { return HeaderOf(0).alarm.load() == whole_.round(); }

NodeRanks::Place NodeRanks::PlaceOf(const std::byte* data) const {
  for (int64_t p = 0; p < size(); ++p) {
    const SharedRange& segment = members_[static_cast<size_t>(p)].segment;
    if (data >= segment.base && data < segment.base + segment.bytes) {
      return {p, static_cast<size_t>(data - segment.base)};
    }
  }
  return {};
}

const std::byte* NodeRanks::At(int64_t position, size_t offset, size_t bytes) {
  const size_t p = static_cast<size_t>(position);
  std::byte* block = members_[p].segment.base + offset;
  if (position != own_ && bytes >= kPopulateFrom && mapped_[p].insert(offset).second) {
    const size_t before = offset % kPage;
    madvise(block - before, before + bytes, MADV_POPULATE_READ);
  }
  return block;
}

void NodeRanks::SetWatchdog(Watchdog* watchdog) {
  watchdog_ = watchdog;
  watchdog->SetWhom([this] { return DescribeAwaited(); });
  watchdog->SetAtWork([this] { TellWork(); });
}

void NodeRanks::TellWork() {
  RankHeader& own = HeaderOf(own_);
  own.works.fetch_add(1);
  std::string text = WorkNote::Text();
  text.resize(RankHeader::kWorkBytes);
  text.copy(own.work, RankHeader::kWorkBytes - 1);
  own.works.fetch_add(1);
}

// Whoever is waited for may wait too: the one at the end holds up all. Only for the first can be said
// that it never comes: the others' waits are theirs to judge.
Watchdog::Awaited NodeRanks::DescribeAwaited() const {
  int64_t awaits = HeaderOf(own_).awaits;
  if (awaits <= kNobody) return {};
  Watchdog::Awaited awaited;
  for (int64_t steps = 0;; ++steps) {
    const int64_t position = awaits - 1;
    const char state = StateOf(members_[static_cast<size_t>(position)].process);
    if (steps == 0 && state == kEnded) {
      awaited.never_comes = !awaited_.load()->Reached(awaited_target_);
    }
    awaits = HeaderOf(position).awaits;
    if (awaits > kNobody && state != kStopped && state != kEnded && steps < size()) continue;
    awaited.in_words = "rank " + std::to_string(members_[static_cast<size_t>(position)].rank.value) +
                       ", which " + DescribeState(position, state);
    return awaited;
  }
}

std::string NodeRanks::DescribeState(int64_t position, char process_state) const {
  if (process_state == kStopped) return "is stopped";
  if (process_state == kEnded) return "has ended";
  const RankHeader& header = HeaderOf(position);
  if (header.awaits == kOtherNodes) return "waits for messages";
  if (header.awaits != kNobody) return "waits too";
  const uint32_t before = header.works.load();
  const std::string work(header.work, strnlen(header.work, RankHeader::kWorkBytes));
  const bool is_whole = before % 2 == 0 && before == header.works.load();
  if (is_whole && !work.empty()) return "computes " + work;
  return process_state == kRuns || !is_whole ? "computes" : "is busy elsewhere or hangs";
}

}  // namespace hv
