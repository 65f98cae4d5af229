#include "sim/node_ranks.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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

// Is the process stopped by a signal? Its state comes after its name, which ends in the last ')'.
bool IsStopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") T";
}

}  // namespace

size_t NodeRanks::HeaderBytes(size_t circles) {
  return sizeof(RankHeader) - (kMostCircles - circles) * sizeof(CircleHeader);
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

void NodeRanks::Await(SharedCounter& counter, uint64_t target) {
  if (counter.Reached(target)) return;
  const Watchdog::Wait wait(watchdog_);
  waiter_.Await(counter, target);
}

bool NodeRanks::AwaitUnlessAtRest(SharedCounter& counter, uint64_t target) {
  if (counter.Reached(target)) return true;
  const Watchdog::Wait wait(watchdog_);
  return waiter_.AwaitUnless(counter, target, [this] { return IsAtRest(); });
}

// Whoever rests last sees it first.
NodeRanks::Rest::Rest(NodeRanks* node, size_t circle, uint64_t round) : node_(*node) {
  node_.waits_in_.store(circle, std::memory_order_relaxed);
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
  watchdog->SetWhom([this] { return DescribeMissing(); });
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

// Those that have not entered this rank's round; else those that are behind in it.
std::string NodeRanks::DescribeMissing() const {
  const size_t circle = waits_in_.load(std::memory_order_relaxed);
  const auto behind = [&](auto progress) {
    const uint64_t own = progress(HeaderOf(own_).circles[circle]);
    int64_t first = 0;
    while (first < size() && (!AreTogether(circle, own_, first) ||
                              progress(HeaderOf(first).circles[circle]) >= own)) {
      ++first;
    }
    return first;
  };
  int64_t missing = behind([](const CircleHeader& h) { return h.entered.value.load(); });
  for (int stage = 0; missing == size() && stage < CircleHeader::kStages; ++stage) {
    missing = behind([stage](const CircleHeader& h) { return h.stages[stage].value.load(); });
  }
  if (missing == size()) return "";
  const Member& member = members_[static_cast<size_t>(missing)];
  const std::string name = "rank " + std::to_string(member.rank.value);
  if (IsStopped(member.process)) return name + ", which is stopped";
  const RankHeader& header = HeaderOf(missing);
  const uint32_t before = header.works.load();
  const std::string work(header.work, strnlen(header.work, RankHeader::kWorkBytes));
  const bool is_whole = before % 2 == 0 && before == header.works.load();
  if (work.empty() || !is_whole) return name + ", which hangs";
  return name + ", which computes " + work;
}

}  // namespace hv
