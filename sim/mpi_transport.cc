// Ranks as MPI processes; with the mains the only file that knows <mpi.h>.
//
// Open MPI's defaults are wrong for many ranks on few cores: UCX probing costs 200 ms of start-up,
// ranks that wait spin, and large temporaries are unmapped after every call. They are set right before
// MPI_Init, unless the user has set them.
#include "sim/mpi_transport.h"

#define OMPI_SKIP_MPICXX 1  // the C++ bindings do not compile without warnings
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "sim/watchdog.h"

namespace hv {
namespace {

// Longest that ranks which have agreed on their exit code wait for each other to say goodbye.
constexpr double kLongestFarewellSeconds = 60;

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

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = Rank(rank);
    size_ = size;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    int here = 1;
    MPI_Comm_size(node, &here);
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    ranks_per_node_ = here;
  }

  Rank rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  int64_t ranks_per_node() const override { return ranks_per_node_; }

  void LimitWaits(double seconds) override {
    if (watchdog_ == nullptr && seconds > 0) watchdog_ = std::make_unique<Watchdog>(rank_);
    if (watchdog_ != nullptr) watchdog_->LimitWaits(seconds);
  }

  std::vector<std::string> AllGather(const std::string& mine) override {
    const Watchdog::Wait wait(watchdog_.get());
    const size_t ranks = static_cast<size_t>(size_);
    HV_CHECK(mine.size() < kLargestPiece / ranks, "a state too large to agree on");
    const int own = static_cast<int>(mine.size());
    std::vector<int> sizes(ranks), begins(ranks);
    MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int total = 0;
    for (size_t r = 0; r < ranks; ++r) {
      begins[r] = total;
      total += sizes[r];
    }
    std::string all(static_cast<size_t>(total), '\0');
    MPI_Allgatherv(mine.data(), own, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    std::vector<std::string> parts(ranks);
    for (size_t r = 0; r < ranks; ++r) {
      parts[r] = all.substr(static_cast<size_t>(begins[r]), static_cast<size_t>(sizes[r]));
    }
    return parts;
  }

  // Equal iff the minimum of the hash and of its complement are each other's complement.
  bool AllEqual(uint64_t hash) override {
    const Watchdog::Wait wait(watchdog_.get());
    std::array<uint64_t, 2> least{hash, ~hash};
    MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == ~least[1];
  }

  void Exchange(std::span<const OutgoingMessage> sends,
                std::span<const IncomingMessage> receives) override {
    const Watchdog::Wait wait(watchdog_.get());
    std::vector<MPI_Request> requests;
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
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void Barrier() override {
    const Watchdog::Wait wait(watchdog_.get());
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // The last wait of all.
  void Finalize() {
    LimitWaits(kLongestFarewellSeconds);
    const Watchdog::Wait wait(watchdog_.get());
    MPI_Finalize();
  }

  bool CanReduce(ElementType type, ScalarFn fn) const override {
    return TypeOf(type) != MPI_DATATYPE_NULL && OperationOf(fn) != MPI_OP_NULL;
  }

  void Reduce(std::span<std::byte> bytes, ElementType type, ScalarFn fn,
              const std::vector<Rank>& ranks) override {
    const Watchdog::Wait wait(watchdog_.get());
    const size_t width = static_cast<size_t>(HostBytes(type));
    MPI_Comm communicator = CommunicatorOf(ranks);
    ForEachPiece(bytes, [&](std::span<std::byte> piece) {
      MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size() / width),
                    TypeOf(type), OperationOf(fn), communicator);
    });
  }

 private:
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
  int64_t ranks_per_node_ = 1;
  std::map<std::vector<Rank>, MPI_Comm> communicators_;
  std::unique_ptr<Watchdog> watchdog_;  // once waits are limited
};

class MpiSession : public Session {
 public:
  ~MpiSession() override { transport_.Finalize(); }
  Transport& transport() override { return transport_; }

 private:
  MpiTransport transport_;
};

void TakeJobDown(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

void PrepareEnvironment() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const char* world = std::getenv("OMPI_COMM_WORLD_SIZE");
  const bool one_node =
      local != nullptr && world != nullptr && std::string_view(local) == std::string_view(world);
  if (one_node) setenv("OMPI_MCA_pml", "ob1", 0);
}

}  // namespace

Result<std::unique_ptr<Session>> StartMpiSession(int64_t launched) {
  PrepareEnvironment();
  int provided = 0;  // a watchdog is a thread that never calls MPI
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  auto session = std::make_unique<MpiSession>();
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
