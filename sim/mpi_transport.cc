// Ranks as MPI processes. Agreement goes through the memory of a node first and then, if there are
// several, between the leaders of the nodes; data that nobody can read in place goes by messages.
#include "sim/mpi_transport.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "eval/borrowing.h"
#include "eval/value.h"
#include "sim/bytes.h"
#include "sim/launch_settings.h"
#include "sim/mpi_node.h"
#include "sim/watchdog.h"

namespace hv {
namespace {

// Longest that ranks wait for each other where none has anything to do: when MPI has just begun, and
// when they have agreed on their exit code.
constexpr double kLongestMeetingSeconds = 60;

// Messages beyond this size travel in pieces: MPI counts are int.
constexpr size_t kLargestPiece = size_t{1} << 30;

MPI_Datatype TypeOf(ElementType type) {
  switch (type) {
    case ElementType::kS8: return MPI_INT8_T;
    case ElementType::kS16: return MPI_INT16_T;
    case ElementType::kS32: return MPI_INT32_T;
    case ElementType::kS64: return MPI_INT64_T;
    case ElementType::kU8: return MPI_UINT8_T;
    case ElementType::kU16: return MPI_UINT16_T;
    case ElementType::kU32: return MPI_UINT32_T;
    case ElementType::kU64: return MPI_UINT64_T;
    case ElementType::kF32: return MPI_FLOAT;
    case ElementType::kF64: return MPI_DOUBLE;
    default: return MPI_DATATYPE_NULL;
  }
}

MPI_Op OperationOf(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd: return MPI_SUM;
    case ScalarFn::kMultiply: return MPI_PROD;
    case ScalarFn::kMaximum: return MPI_MAX;
    case ScalarFn::kMinimum: return MPI_MIN;
    default: return MPI_OP_NULL;
  }
}

// Large values live where the other ranks of the node can read them.
class ArenaStorage : public StorageSource {
 public:
  explicit ArenaStorage(SharedArena* arena) : arena_(arena) {}
  std::byte* Allocate(size_t bytes) override { return arena_->Allocate(bytes); }
  bool Release(std::byte* data, size_t bytes) override { return arena_->Release(data, bytes); }

 private:
  SharedArena* arena_;
};

// A stretch of waiting in the MPI library; the other ranks of this one's node, if it has one, see it.
class MpiWait {
 public:
  MpiWait(Watchdog* watchdog, NodeRanks* node) {
    if (node != nullptr) {
      in_node_.emplace(node, NodeRanks::Wait::kElsewhere);
    } else {
      alone_.emplace(watchdog);
    }
  }

 private:
  std::optional<NodeRanks::Wait> in_node_;
  std::optional<Watchdog::Wait> alone_;
};

struct MpiFlight : Transport::Flight {
  MpiFlight(Watchdog* owner, NodeRanks* own_node) : watchdog(owner), node(own_node) {}
  void Wait() override {
    const MpiWait wait(watchdog, node);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  Watchdog* watchdog;
  NodeRanks* node;
  std::vector<MPI_Request> requests;
};

Rank OwnRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return Rank(rank);
}

class MpiTransport : public Transport {
 public:
  MpiTransport(const LaunchSettings& settings, std::unique_ptr<Watchdog> watchdog)
      : rank_(OwnRank()), nodes_(settings), watchdog_(std::move(watchdog)) {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_ = size;
    if (nodes_.own == nullptr) return;
    static ArenaStorage storage(&nodes_.own->arena());
    SetStorageSource(&storage);
    SetBorrowWatch(&nodes_.own->loans());
    nodes_.own->SetWatchdog(watchdog_.get());
    if (nodes_.ranks.size() > 1) nodes_.own->SetIdle(ServeMessages);
  }

  Rank rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  NodeRanks* node() override { return nodes_.own; }
  int64_t ranks_per_node() const override { return nodes_.most_ranks; }

  void LimitWaits(double seconds) override { watchdog_->LimitWaits(seconds); }

  std::vector<std::string> AllGather(const std::string& mine) override {
    if (!nodes_.share_memory) return GatherByMpi(mine, MPI_COMM_WORLD);
    std::vector<std::string> here =
        nodes_.own != nullptr ? nodes_.own->whole().GatherTexts(mine) : std::vector<std::string>{mine};
    if (nodes_.ranks.size() == 1) return here;
    std::string all;
    if (IsLeader()) all = GatherBetweenNodes(here);
    if (nodes_.own != nullptr) all = nodes_.own->whole().GatherTexts(all)[0];
    return UnpackByNode(all);
  }

  bool AllEqual(uint64_t hash) override {
    if (!nodes_.share_memory) return EqualByMpi(hash, MPI_COMM_WORLD);
    bool equal = true;
    if (nodes_.own != nullptr) {
      nodes_.own->whole().Enter(hash);
      equal = nodes_.own->whole().AllEntered(hash);
    }
    if (nodes_.ranks.size() == 1) return equal;
    if (IsLeader()) equal = EqualBetweenNodes(hash, equal);
    if (nodes_.own == nullptr) return equal;
    nodes_.own->whole().Enter(equal ? 1 : 0);
    return nodes_.own->whole().SignatureOfFirst() != 0;
  }

  std::unique_ptr<Flight> Start(std::span<const OutgoingMessage> sends,
                                std::span<const IncomingMessage> receives) override {
    auto flight = std::make_unique<MpiFlight>(watchdog_.get(), nodes_.own);
    std::vector<MPI_Request>& requests = flight->requests;
    for (const IncomingMessage& m : receives) {
      ForEachPiece(m.bytes, [&](std::span<std::byte> piece) {
        MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE,
                  static_cast<int>(m.from.value), TagOf(m.tag), MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    for (const OutgoingMessage& m : sends) {
      ForEachPiece(m.bytes, [&](std::span<const std::byte> piece) {
        MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE,
                  static_cast<int>(m.to.value), TagOf(m.tag), MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    return flight;
  }

  void Barrier() override { AllEqual(0); }

  // The last wait of all. Ranks meet before MPI ends, not in its end: a launcher that has to end a job
  // in which ranks wait there for one that is lost may hang itself.
  void Finalize() {
    LimitWaits(kLongestMeetingSeconds);
    Barrier();
    watchdog_->SetWhom(nullptr);  // what the node shares may be MPI's
    watchdog_->SetAtWork(nullptr);
    const Watchdog::Wait wait(watchdog_.get());
    MPI_Finalize();
  }

  bool CanReduce(ElementType type, ScalarFn fn) const override {
    return TypeOf(type) != MPI_DATATYPE_NULL && OperationOf(fn) != MPI_OP_NULL;
  }

  void Reduce(std::span<std::byte> bytes, ElementType type, ScalarFn fn,
              const std::vector<Rank>& ranks) override {
    const MpiWait wait(watchdog_.get(), nodes_.own);
    const size_t width = static_cast<size_t>(HostBytes(type));
    MPI_Comm communicator = CommunicatorOf(ranks);
    ForEachPiece(bytes, [&](std::span<std::byte> piece) {
      MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size() / width),
                    TypeOf(type), OperationOf(fn), communicator);
    });
  }

 private:
  // Ranks of other nodes may wait for what this one has still to pass on.
  static void ServeMessages() {
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
  }

  bool IsLeader() const { return nodes_.leaders != MPI_COMM_NULL; }

  std::vector<std::string> GatherByMpi(const std::string& mine, MPI_Comm communicator) const {
    const MpiWait wait(watchdog_.get(), nodes_.own);
    HV_CHECK(mine.size() < kLargestPiece / static_cast<size_t>(size_),
             "a state too large to agree on");
    return GatherTexts(mine, communicator);
  }

  // Equal iff the minimum of the hash and of its complement are each other's complement.
  bool EqualByMpi(uint64_t hash, MPI_Comm communicator) const {
    const MpiWait wait(watchdog_.get(), nodes_.own);
    std::array<uint64_t, 2> least{hash, ~hash};
    MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_UINT64_T, MPI_MIN, communicator);
    return least[0] == ~least[1];
  }

  // Of a leader: do all ranks of all nodes have this hash? `equal`: those of its own.
  bool EqualBetweenNodes(uint64_t hash, bool equal) const {
    const bool same = EqualByMpi(hash, nodes_.leaders);
    return EqualByMpi(equal ? 1 : 0, nodes_.leaders) && equal && same;
  }

  // Of a leader: the texts of all nodes, packed.
  std::string GatherBetweenNodes(const std::vector<std::string>& here) const {
    ByteWriter out;
    for (const std::string& text : here) out.PutText(text);
    std::string all;
    for (const std::string& node : GatherByMpi(out.Take(), nodes_.leaders)) all += node;
    return all;
  }

  std::vector<std::string> UnpackByNode(const std::string& all) const {
    std::vector<std::string> texts(static_cast<size_t>(size_));
    ByteReader in(all);
    for (const std::vector<Rank>& node : nodes_.ranks) {
      for (const Rank rank : node) texts[static_cast<size_t>(rank.value)] = in.GetText();
    }
    return texts;
  }

  // Made when a set of ranks first meets; the ranks of the set get here together.
  MPI_Comm CommunicatorOf(const std::vector<Rank>& ranks) {
    const auto [known, is_new] = communicators_.emplace(ranks, MPI_COMM_NULL);
    if (is_new) {
      std::vector<int> numbers;
      for (Rank rank : ranks) numbers.push_back(static_cast<int>(rank.value));
      MPI_Group world, group;
      MPI_Comm_group(MPI_COMM_WORLD, &world);
      MPI_Group_incl(world, static_cast<int>(numbers.size()), numbers.data(), &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &known->second);
      MPI_Group_free(&group);
      MPI_Group_free(&world);
    }
    return known->second;
  }

  // Tags are bounded (at least 32767); messages of one pair stay in order, so a wrapped tag matches.
  static int TagOf(int64_t tag) { return static_cast<int>(tag % 32768); }

  template <class Bytes, class Visit>
  static void ForEachPiece(Bytes bytes, Visit visit) {
    for (size_t begin = 0; begin < bytes.size(); begin += kLargestPiece) {
      visit(bytes.subspan(begin, std::min(kLargestPiece, bytes.size() - begin)));
    }
  }

  Rank rank_;
  int64_t size_ = 1;
  MpiNodes nodes_;
  std::map<std::vector<Rank>, MPI_Comm> communicators_;
  std::unique_ptr<Watchdog> watchdog_;
};

class MpiSession : public Session {
 public:
  MpiSession(const LaunchSettings& settings, std::unique_ptr<Watchdog> watchdog)
      : transport_(settings, std::move(watchdog)) {}
  ~MpiSession() override { transport_.Finalize(); }
  Transport& transport() override { return transport_; }

 private:
  MpiTransport transport_;
};

// Ranks that share memory in different ways would wait for each other for ever.
Result<LaunchSettings> AgreeOnSettings() {
  const std::vector<std::string> texts = GatherTexts(LaunchSettingsText(), MPI_COMM_WORLD);
  const auto other = std::find_if(texts.begin(), texts.end(),
                                  [&](const std::string& text) { return text != texts[0]; });
  if (other == texts.end()) return ReadLaunchSettings();
  const auto name = [](const std::string& text) { return text.empty() ? "nothing" : text; };
  return Invalid("launch-setting", "rank 0 has " + name(texts[0]) + " in its environment, rank " +
                                       std::to_string(other - texts.begin()) + " has " +
                                       name(*other));
}

void TakeJobDown(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

}  // namespace

Result<std::unique_ptr<Session>> StartMpiSession(int64_t launched) {
  PrepareRank();
  int provided = 0;  // a watchdog is a thread that never calls MPI
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  auto watchdog = std::make_unique<Watchdog>(OwnRank());
  watchdog->LimitWaits(kLongestMeetingSeconds);
  std::optional<Watchdog::Wait> wait(watchdog.get());
  const Result<LaunchSettings> settings = AgreeOnSettings();
  if (!settings) {
    // Ranks part when the first has said why: a launcher that sees one fail ends the others.
    std::atexit([] {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Finalize();
    });
    return tl::make_unexpected(settings.error());
  }
  auto session = std::make_unique<MpiSession>(*settings, std::move(watchdog));
  wait.reset();
  session->transport().LimitWaits(0);
  if (launched > 1 && session->transport().size() == 1) {
    return Invalid("mpi-mismatch",
                   "the launcher started " + std::to_string(launched) +
                       " processes, but each finds itself alone: it belongs to another MPI than the "
                       "one this program was built with");
  }
  SetInternalErrorHook(TakeJobDown);
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace hv
