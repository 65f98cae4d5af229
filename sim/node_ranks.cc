#include "sim/node_ranks.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "sim/bytes.h"
#include "sim/work_note.h"

namespace hv {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 15;  // of a text, per round
constexpr size_t kStageBytes = size_t{1} << 22;  // for what lies outside of the arena, per post
constexpr size_t kWorkBytes = 120;
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

// Is the process stopped by a signal? Its state comes after its name, which ends in the last ')'.
bool IsStopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") T";
}

}  // namespace

struct NodeRanks::Header {
  // Written by the owner; of two rounds in turn, since a peer may be one round behind.
  struct Said {
    uint64_t signature = 0;
    uint64_t text_bytes = 0;  // of the whole text
  };
  alignas(128) SharedCounter entered;
  Said said[2];
  uint64_t bulletin_bytes[2];  // in the same cache line
  alignas(128) SharedCounter stages[kStages];
  alignas(128) std::atomic<uint32_t> works;  // odd while `work` changes
  char work[kWorkBytes];                     // what it computes, in words
  std::byte bulletin[2][kBulletinBytes];
  alignas(128) uint64_t late_bytes;
  std::byte late[kBulletinBytes];
  std::byte piece[2][kPieceBytes];
  alignas(kPage) std::byte stage[2][kStageBytes];
};

size_t NodeRanks::HeaderBytes() { return sizeof(Header); }

NodeRanks::NodeRanks(std::vector<Member> members, int64_t own, bool spins)
    : members_(std::move(members)),
      own_(own),
      mapped_(members_.size()),
      arena_(members_[static_cast<size_t>(own)].segment, sizeof(Header)),
      waiter_(spins ? kSpins : 0) {}

std::unique_ptr<NodeRanks> NodeRanks::Over(std::vector<Member> members, Rank mine, bool spins) {
  int64_t own = 0;
  while (members[static_cast<size_t>(own)].rank != mine) ++own;
  return std::unique_ptr<NodeRanks>(new NodeRanks(std::move(members), own, spins));
}

std::unique_ptr<NodeRanks> NodeRanks::OverMemfds(const std::vector<Rank>& ranks, Rank mine,
                                                 const Gather& gather) {
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
  if (reaches_all) return Over(std::move(members), mine, HaveCores(addresses));
  for (const Member& member : members) {
    if (member.segment.base != nullptr) munmap(member.segment.base, member.segment.bytes);
  }
  return nullptr;
}

NodeRanks::Header& NodeRanks::HeaderOf(int64_t position) const {
  return *reinterpret_cast<Header*>(members_[static_cast<size_t>(position)].segment.base);
}

int64_t NodeRanks::PositionOf(Rank rank) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), rank,
                                   [](const Member& a, Rank b) { return a.rank.value < b.value; });
  return at != members_.end() && at->rank == rank ? at - members_.begin() : -1;
}

void NodeRanks::Await(SharedCounter& counter, uint64_t target) {
  if (counter.Reached(target)) return;
  const Watchdog::Wait wait(watchdog_);
  waiter_.Await(counter, target);
}

void NodeRanks::EnterWith(uint64_t signature, std::string_view piece, uint64_t whole_bytes) {
  Header& own = HeaderOf(own_);
  const size_t turn = ++round_ % 2;
  own.said[turn] = {signature, whole_bytes};
  if (!piece.empty()) std::memcpy(own.piece[turn], piece.data(), piece.size());
  own.entered.Raise(round_);
  for (int64_t r = 0; r < size(); ++r) Await(HeaderOf(r).entered, round_);
}

void NodeRanks::Enter(uint64_t signature) { EnterWith(signature, {}, 0); }

bool NodeRanks::AllEntered(uint64_t signature) const {
  for (int64_t r = 0; r < size(); ++r) {
    if (HeaderOf(r).said[round_ % 2].signature != signature) return false;
  }
  return true;
}

uint64_t NodeRanks::SignatureOfLeader() const { return HeaderOf(0).said[round_ % 2].signature; }

std::vector<std::string> NodeRanks::GatherTexts(const std::string& mine) {
  std::vector<std::string> texts(members_.size());
  std::string_view rest = mine;
  size_t longest = 0;
  for (size_t begin = 0; begin == 0 || begin < longest; begin += kPieceBytes) {
    EnterWith(0, rest.substr(0, kPieceBytes), mine.size());
    rest.remove_prefix(std::min(rest.size(), kPieceBytes));
    for (size_t r = 0; r < texts.size(); ++r) {
      const Header& peer = HeaderOf(static_cast<int64_t>(r));
      const size_t whole = peer.said[round_ % 2].text_bytes;
      longest = std::max(longest, whole);
      if (begin >= whole) continue;
      texts[r].append(reinterpret_cast<const char*>(peer.piece[round_ % 2]),
                      std::min(kPieceBytes, whole - begin));
    }
  }
  return texts;
}

std::byte* NodeRanks::Scratch(size_t bytes) {
  const size_t begin = (staged_ + 63) / 64 * 64;
  if (bytes > kStageBytes || begin > kStageBytes - bytes) return nullptr;
  staged_ = begin + bytes;
  return HeaderOf(own_).stage[(posts_ + 1) % 2] + begin;
}

void NodeRanks::Post(std::span<const std::byte> bulletin) {
  HV_CHECK(bulletin.size() <= kBulletinBytes, "a bulletin too large");
  Header& own = HeaderOf(own_);
  const size_t turn = ++posts_ % 2;
  staged_ = 0;
  own.bulletin_bytes[turn] = bulletin.size();
  if (!bulletin.empty()) std::memcpy(own.bulletin[turn], bulletin.data(), bulletin.size());
}

std::span<const std::byte> NodeRanks::BulletinOf(int64_t position) const {
  const Header& peer = HeaderOf(position);
  const size_t turn = posts_ % 2;
  return {peer.bulletin[turn], peer.bulletin_bytes[turn]};
}

void NodeRanks::PostLate(std::span<const std::byte> bulletin) {
  HV_CHECK(bulletin.size() <= kBulletinBytes, "a bulletin too large");
  Header& own = HeaderOf(own_);
  own.late_bytes = bulletin.size();
  if (!bulletin.empty()) std::memcpy(own.late, bulletin.data(), bulletin.size());
}

std::span<const std::byte> NodeRanks::LateBulletinOf(int64_t position) const {
  const Header& peer = HeaderOf(position);
  return {peer.late, peer.late_bytes};
}

void NodeRanks::Reach(Stage stage) { HeaderOf(own_).stages[stage].Raise(round_); }

void NodeRanks::Await(Stage stage, int64_t position) {
  Await(HeaderOf(position).stages[stage], round_);
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
  Header& own = HeaderOf(own_);
  own.works.fetch_add(1);
  std::string text = WorkNote::Text();
  text.resize(kWorkBytes);
  text.copy(own.work, kWorkBytes - 1);
  own.works.fetch_add(1);
}

// Those that have not entered this rank's round; else those that are behind in it.
std::string NodeRanks::DescribeMissing() const {
  const auto behind = [this](auto progress) {
    int64_t first = 0;
    while (first < size() && progress(HeaderOf(first)) >= progress(HeaderOf(own_))) ++first;
    return first;
  };
  int64_t missing = behind([](const Header& h) { return h.entered.value.load(); });
  for (int stage = 0; missing == size() && stage < kStages; ++stage) {
    missing = behind([stage](const Header& h) { return h.stages[stage].value.load(); });
  }
  if (missing == size()) return "";
  const Member& member = members_[static_cast<size_t>(missing)];
  const std::string name = "rank " + std::to_string(member.rank.value);
  if (IsStopped(member.process)) return name + ", which is stopped";
  const Header& header = HeaderOf(missing);
  const uint32_t before = header.works.load();
  const std::string work(header.work, strnlen(header.work, kWorkBytes));
  const bool is_whole = before % 2 == 0 && before == header.works.load();
  if (work.empty() || !is_whole) return name + ", which hangs";
  return name + ", which computes " + work;
}

}  // namespace hv
