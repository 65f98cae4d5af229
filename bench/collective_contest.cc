#include "bench/collective_contest.h"

#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include "base/check.h"
#include "eval/stream_copy.h"
#include "eval/stream_fold.h"
#include "eval/value.h"
#include "hlo/parser.h"
#include "hlo/validator.h"
#include "sim/node_ranks.h"
#include "sim/run.h"
#include "sim/segmented_fold.h"

namespace hv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSliceSeconds = 0.01;                   // of one contestant in one repeat
constexpr int kMostIterations = 400, kFewestTurns = 10;  // of a loop: its start counts too
constexpr int64_t kReduceAllBytes = 32 * 1024;           // up to here everybody reduces everything
constexpr int64_t kPairBytes = 64 * 1024;
constexpr size_t kWaitForReadersBytes = 256 * 1024;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Contestants take turns; all ranks time each of them together.
class Race {
 public:
  explicit Race(NodeRanks* node) : node_(node) {}

  // `run` does it so often and says how long one took.
  void AddTimed(std::string name, std::function<double(int iterations)> run) {
    contestants_.push_back({std::move(name), std::move(run), 1, {}});
  }
  void Add(std::string name, const std::function<void()>& once) {
    AddTimed(std::move(name), [once](int iterations) {
      const auto start = Clock::now();
      for (int i = 0; i < iterations; ++i) once();
      return SecondsSince(start) / iterations;
    });
  }

  // Of work in which nobody waits: until the last rank has done it.
  void AddTogether(std::string name, const std::function<void()>& once) {
    AddTimed(std::move(name), [this, once](int iterations) {
      const auto start = Clock::now();
      for (int i = 0; i < iterations; ++i) once();
      node_->whole().Enter(0);
      return SecondsSince(start) / iterations;
    });
  }

  ContestRow Run(int64_t bytes, int repeats) {
    for (Contestant& c : contestants_) {
      Time(c, 2);
      c.iterations = std::clamp(static_cast<int>(kSliceSeconds / Time(c, 2)), 1, kMostIterations);
    }
    for (int r = 0; r < repeats; ++r) {
      for (Contestant& c : contestants_) c.seconds.push_back(Time(c, c.iterations));
    }
    ContestRow row{bytes, {}};
    for (Contestant& c : contestants_) {
      const auto middle = c.seconds.begin() + repeats / 2;
      std::nth_element(c.seconds.begin(), middle, c.seconds.end());
      row.seconds.emplace_back(c.name, *middle);
    }
    return row;
  }

 private:
  struct Contestant {
    std::string name;
    std::function<double(int)> run;
    int iterations;
    std::vector<double> seconds;
  };

  double Time(const Contestant& c, int iterations) {
    if (iterations < kFewestTurns) c.run(1);  // the one before may have given memory back
    node_->whole().Enter(0);
    double seconds = c.run(iterations);
    node_->whole().Enter(0);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return std::max(seconds, 1e-9);
  }

  NodeRanks* node_;
  std::vector<Contestant> contestants_;
};

// Floats whose sums are exact, in storage that values have.
class Floats {
 public:
  // In `arena` for good, if there is one.
  explicit Floats(int64_t bytes, int64_t seed = 0, SharedArena* arena = nullptr)
      : size_(static_cast<size_t>(bytes)),
        buffer_(arena == nullptr ? Buffer::New(size_) : nullptr),
        bytes_(arena == nullptr ? buffer_->data() : arena->Allocate(size_)) {
    for (int64_t i = 0; i < bytes / 4; ++i) data()[i] = static_cast<float>((i + seed) % 61);
  }
  ~Floats() {
    if (buffer_ != nullptr) Buffer::Delete(buffer_);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() const { return reinterpret_cast<float*>(bytes_); }
  std::byte* bytes() const { return bytes_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  Buffer* buffer_;
  std::byte* bytes_;
};

// The sum of f32 as the interpreter folds it.
class Sum {
 public:
  Sum() {
    module_ = *ParseModule("<bench>",
                           "HloModule m\nsum { a = f32[] parameter(0) b = f32[] parameter(1) "
                           "ROOT c = f32[] add(a, b) }\nENTRY e { ROOT x = f32[] parameter(0) }");
    fold_ = *StreamFold::Make(*module_, 0, ElementType::kF32);
  }
  void Run(std::span<const std::byte* const> in, std::byte* out, size_t bytes) const {
    fold_->Run(in, out, bytes / sizeof(float));
  }
  const StreamFold& fold() const { return *fold_; }

 private:
  std::optional<Module> module_;
  std::optional<StreamFold> fold_;
};

// As the interpreter copies: past the caches if they hold less than what all ranks move.
void CopyBytes(const std::byte* from, std::byte* to, size_t bytes, size_t bytes_of_all) {
  constexpr size_t kBeyondCaches = size_t{1} << 25;
  if (bytes_of_all < kBeyondCaches) {
    std::memcpy(to, from, bytes);
  } else {
    StreamCopy(from, to, bytes);
  }
}

// Collectives over the memory of a node: publish, meet once, read in place.
class SharedPath {
 public:
  // Of each rank's devices, equally many on all of them, one operand each.
  SharedPath(NodeRanks* node, Rank own, const std::vector<const Floats*>& operands)
      : node_(node),
        own_(static_cast<size_t>(node->PositionOf(own))),
        operands_(operands),
        ranks_(static_cast<size_t>(node->size())) {}

  void ReduceScatter(std::byte* out) {
    Begin();
    const size_t share = operands_[0]->size() / ranks_;
    Fold(own_ * share, share, out);
    End();
  }
  void AllReduce(std::byte* out) {
    const size_t bytes = operands_[0]->size(), share = bytes / ranks_;
    Begin(static_cast<int64_t>(bytes) > kReduceAllBytes);
    if (static_cast<int64_t>(bytes) <= kReduceAllBytes) {
      Fold(0, bytes, out);
    } else {
      // Everybody's share lies behind its operand.
      Fold(own_ * share, share, reduced_.bytes());
      node_->whole().Reach(Circle::kReduced);
      for (size_t k = 0; k < ranks_; ++k) {
        const size_t r = (own_ + k) % ranks_;
        node_->whole().Await(Circle::kReduced, static_cast<int64_t>(r));
        CopyBytes(PlaceOf(r, operands_.size(), share), out + r * share, share, bytes * ranks_);
      }
    }
    End();
  }
  // One array of the first rank's for all, to be read only.
  void AllReduceShared() {
    Begin(true);
    const size_t bytes = operands_[0]->size(), share = bytes / ranks_;
    std::byte* const whole = const_cast<std::byte*>(PlaceOf(0, operands_.size(), bytes));
    Fold(own_ * share, share, whole + own_ * share);
    node_->whole().Reach(Circle::kReduced);
    for (size_t r = 0; r < ranks_; ++r) {
      node_->whole().Await(Circle::kReduced, static_cast<int64_t>(r));
    }
    End();
  }
  const std::byte* Shared() { return PlaceOf(0, operands_.size(), operands_[0]->size()); }
  void AllGather(size_t shard, std::byte* out) {
    Begin();
    for (size_t k = 0; k < ranks_; ++k) {
      const size_t r = (own_ + k) % ranks_;
      CopyBytes(PlaceOf(r, 0, shard), out + r * shard, shard, shard * ranks_ * ranks_);
    }
    End();
  }
  void AllToAll(std::byte* out) {
    Begin();
    const size_t bytes = operands_[0]->size(), block = bytes / ranks_;
    for (size_t k = 0; k < ranks_; ++k) {
      const size_t r = (own_ + k) % ranks_;
      CopyBytes(PlaceOf(r, 0, bytes) + own_ * block, out + r * block, block, bytes * ranks_);
    }
    End();
  }
  void Permute(std::byte* out) {
    Begin();
    const size_t bytes = operands_[0]->size();
    CopyBytes(PlaceOf((own_ + ranks_ - 1) % ranks_, 0, bytes), out, bytes, bytes * ranks_);
    End();
  }

 private:
  void Begin(bool reduces = false) {
    offsets_.clear();
    for (const Floats* operand : operands_) offsets_.push_back(Publish(*operand));
    if (reduces) offsets_.push_back(Publish(reduced_));
    node_->whole().Post(std::as_bytes(std::span(offsets_)));
    node_->whole().Enter(kSignature);
    HV_CHECK(node_->whole().AllEntered(kSignature), "ranks at different collectives");
  }
  size_t Publish(const Floats& array) {
    std::byte* place = array.bytes();
    if (!node_->arena().Holds(place)) {
      place = node_->whole().Scratch(array.size());
      std::memcpy(place, array.bytes(), array.size());
    }
    return node_->arena().OffsetOf(place);
  }
  const std::byte* PlaceOf(size_t rank, size_t number, size_t bytes) {
    const auto position = static_cast<int64_t>(rank);
    size_t offset = 0;
    std::memcpy(&offset, node_->whole().BulletinOf(position).data() + number * sizeof offset,
                sizeof offset);
    return node_->At(position, offset, bytes);
  }
  void Fold(size_t begin, size_t bytes, std::byte* out) {
    streams_.clear();
    for (size_t r = 0; r < ranks_; ++r) {
      for (size_t o = 0; o < operands_.size(); ++o) {
        streams_.push_back(PlaceOf(r, o, operands_[o]->size()) + begin);
      }
    }
    sum_.Run(streams_, out, bytes);
  }
  void End() {
    node_->whole().Reach(Circle::kRead);
    if (operands_[0]->size() < kWaitForReadersBytes) return;
    for (size_t r = 0; r < ranks_; ++r) node_->whole().Await(Circle::kRead, static_cast<int64_t>(r));
  }

  static constexpr uint64_t kSignature = 0x5347;

  NodeRanks* node_;
  size_t own_;
  std::vector<const Floats*> operands_;
  size_t ranks_;
  Floats reduced_{static_cast<int64_t>(std::max(operands_[0]->size(), size_t{kReduceAllBytes}))};
  Sum sum_;
  std::vector<size_t> offsets_;
  std::vector<const std::byte*> streams_;
};

// Open MPI as its users run it: large temporaries come from the system and go back after every
// call.
class UntunedMalloc {
 public:
  UntunedMalloc() { Set(65536, 128 << 10, 128 << 10); }
  ~UntunedMalloc() { Set(0, INT_MAX, 64 << 20); }

 private:
  static void Set(int most_maps, int trim, int pad) {
    mallopt(M_MMAP_MAX, most_maps);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, trim);
    mallopt(M_TOP_PAD, pad);
  }
};

// Ranks that agree as they do on `transport`, but send their data.
class ByMessages : public Transport {
 public:
  explicit ByMessages(Transport* transport) : transport_(*transport) {}
  Rank rank() const override { return transport_.rank(); }
  int64_t size() const override { return transport_.size(); }
  std::vector<std::string> AllGather(const std::string& mine) override {
    return transport_.AllGather(mine);
  }
  bool AllEqual(uint64_t hash) override { return transport_.AllEqual(hash); }
  std::unique_ptr<Flight> Start(std::span<const OutgoingMessage> sends,
                                std::span<const IncomingMessage> receives) override {
    return transport_.Start(sends, receives);
  }
  void Barrier() override { transport_.Barrier(); }

 private:
  Transport& transport_;
};

class Contest {
 public:
  Contest(Transport* transport, int64_t bytes)
      : transport_(transport),
        messages_(transport),
        node_(*transport->node()),
        race_(&node_),
        bytes_(bytes),
        ranks_(transport->size()),
        share_(bytes / ranks_),
        in_(bytes, transport->rank().value),
        out_(bytes),
        check_(bytes),
        path_(&node_, transport->rank(), {&in_}) {}

  ContestRow Run(int repeats) {
    heap_in_.assign(in_.data(), in_.data() + bytes_ / 4);
    heap_out_.resize(heap_in_.size());
    AddMpi();
    AddShared();
    AddMessages();
    AddFloors();
    AddInterpreter();
    AddPair();
    Check();
    return race_.Run(bytes_, repeats);
  }

 private:
  int Count(int64_t bytes) const { return static_cast<int>(bytes / 4); }

  void MpiReduceScatter(float* out) {
    MPI_Reduce_scatter_block(heap_in_.data(), out, Count(share_), MPI_FLOAT, MPI_SUM,
                             MPI_COMM_WORLD);
  }
  void MpiAllReduce(float* out) {
    MPI_Allreduce(heap_in_.data(), out, Count(bytes_), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }

  void AddMpi() {
    race_.Add("mpi all-reduce", [this] { MpiAllReduce(heap_out_.data()); });
    race_.Add("mpi reduce-scatter", [this] { MpiReduceScatter(heap_out_.data()); });
    if (bytes_ >= 4 << 20) {
      race_.AddTimed("mpi all-reduce, untuned", [this](int n) {
        return Untuned(n, [this] { MpiAllReduce(heap_out_.data()); });
      });
      race_.AddTimed("mpi reduce-scatter, untuned", [this](int n) {
        return Untuned(n, [this] { MpiReduceScatter(heap_out_.data()); });
      });
    }
    race_.Add("mpi all-gather", [this] {
      MPI_Allgather(heap_in_.data(), Count(share_), MPI_FLOAT, heap_out_.data(), Count(share_),
                    MPI_FLOAT, MPI_COMM_WORLD);
    });
    race_.Add("mpi all-to-all", [this] {
      MPI_Alltoall(heap_in_.data(), Count(share_), MPI_FLOAT, heap_out_.data(), Count(share_),
                   MPI_FLOAT, MPI_COMM_WORLD);
    });
    race_.Add("mpi permute", [this] {
      const int ranks = static_cast<int>(ranks_), own = static_cast<int>(transport_->rank().value);
      MPI_Sendrecv(heap_in_.data(), Count(bytes_), MPI_FLOAT, (own + 1) % ranks, 0,
                   heap_out_.data(), Count(bytes_), MPI_FLOAT, (own + ranks - 1) % ranks, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }

  static double Untuned(int iterations, const std::function<void()>& once) {
    const UntunedMalloc untuned;
    once();
    const auto start = Clock::now();
    for (int i = 0; i < iterations; ++i) once();
    return SecondsSince(start) / iterations;
  }

  void AddShared() {
    race_.Add("reduce-scatter", [this] { path_.ReduceScatter(out_.bytes()); });
    race_.Add("all-reduce", [this] { path_.AllReduce(out_.bytes()); });
    if (bytes_ > kReduceAllBytes / 4) {
      race_.Add("all-reduce, result shared", [this] { path_.AllReduceShared(); });
    }
    race_.Add("all-gather", [this] { path_.AllGather(static_cast<size_t>(share_), out_.bytes()); });
    race_.Add("all-to-all", [this] { path_.AllToAll(out_.bytes()); });
    race_.Add("permute", [this] { path_.Permute(out_.bytes()); });
  }

  // Segment by segment to all, folded in the order of the group, as the interpreter does.
  void AddMessages() {
    const std::byte* const in = std::as_bytes(std::span(heap_in_)).data();
    const int64_t own = transport_->rank().value;
    const auto size = static_cast<size_t>(share_);
    for (int64_t r = 0; r < ranks_; ++r) {
      summands_.push_back({Rank(r), r == own ? in + r * share_ : nullptr});
      if (r != own) sent_.push_back({Rank(r), {in + r * share_, size}});
    }
    race_.Add("reduce-scatter by messages", [this, size] {
      FoldSegments(transport_, sum_.fold(), sizeof(float), summands_, {HeapOut(), size}, sent_);
    });
  }
  void AddFloors() {
    race_.AddTogether("floor of reducing", [this] {
      std::vector<const std::byte*> streams;
      const std::byte* in = std::as_bytes(std::span(heap_in_)).data();
      for (int64_t r = 0; r < ranks_; ++r) streams.push_back(in + r * share_);
      sum_.Run(streams, HeapOut(), static_cast<size_t>(share_));
    });
    race_.AddTogether("floor of copying", [this] {
      CopyBytes(std::as_bytes(std::span(heap_in_)).data(), HeapOut(), in_.size(),
                in_.size() * static_cast<size_t>(ranks_));
    });
  }

  std::byte* HeapOut() { return std::as_writable_bytes(std::span(heap_out_)).data(); }

  // The same collectives as run_hlo runs them: a loop over an operand that stays.
  void AddInterpreter() {
    const int64_t n = bytes_ / 4, s = n / ranks_;
    const std::string scatter = "reduce-scatter(x), dimensions={0}, to_apply=sum, GROUPS";
    AddLoop("interpreter: reduce-scatter", n, s, scatter);
    AddLoop("interpreter: reduce-scatter by messages", n, s, scatter, &messages_);
    AddLoop("interpreter: all-reduce", n, n, "all-reduce(x), to_apply=sum, GROUPS");
    AddLoop("interpreter: all-gather", s, n, "all-gather(x), dimensions={0}, GROUPS");
    AddLoop("interpreter: all-to-all", n, n, "all-to-all(x), dimensions={0}, GROUPS");
  }
  void AddLoop(const std::string& name, int64_t in, int64_t out, std::string op,
               Transport* transport = nullptr) {
    std::string group;
    for (int64_t r = 0; r < ranks_; ++r) group += (r > 0 ? "," : "") + std::to_string(r);
    op.replace(op.find("GROUPS"), 6, "replica_groups={{" + group + "}}");
    race_.AddTimed(name, [=, this](int iterations) {
      return Interpret(in, out, op, std::max(iterations, kFewestTurns),
                       transport != nullptr ? transport : transport_);
    });
  }
  double Interpret(int64_t in, int64_t out, const std::string& op, int iterations,
                   Transport* transport) {
    const std::string state = fmt::format("(s32[], f32[{}], f32[{}])", in, out);
    const std::string text = fmt::format(
        "HloModule m, replica_count={0}\n"
        "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}\n"
        "cond {{ p = {1} parameter(0) i = s32[] get-tuple-element(p), index=0\n"
        "n = s32[] constant({2}) ROOT m = pred[] compare(i, n), direction=LT }}\n"
        "body {{ p = {1} parameter(0) i = s32[] get-tuple-element(p), index=0\n"
        "x = f32[{3}] get-tuple-element(p), index=1\n r = f32[{4}] {5}\n"
        "one = s32[] constant(1) j = s32[] add(i, one) ROOT t = {1} tuple(j, x, r) }}\n"
        "ENTRY e {{ x = f32[{3}] parameter(0) z = s32[] constant(0) f = f32[] constant(0)\n"
        "y = f32[{4}] broadcast(f), dimensions={{}} s = {1} tuple(z, x, y)\n"
        "ROOT w = {1} while(s), condition=cond, body=body }}\n",
        ranks_, state, iterations, in, out, op);
    const Result<Module> module = ParseModule("<bench>", text);
    HV_CHECK(module && Validate(*module, {ranks_, 1}), "the module of a bench is wrong");
    const std::unique_ptr<Domain> domain = MakeNativeDomain();
    RunOptions options;
    options.domain = domain.get();
    options.transport = transport;
    const auto input = [&](DeviceId, int64_t) {
      Value value = Value::NewNative(module->Entry().At(module->Entry().parameters[0]).shape);
      std::memcpy(value.MutableBytes().data(), in_.bytes(), value.bytes().size());
      return Result<Value>(std::move(value));
    };
    const auto outcome = RunModule(*module, Mesh{ranks_, 1}, input, options);
    HV_CHECK(outcome && !outcome->stall, "the module of a bench does not run");
    return outcome->seconds / iterations;
  }

  // As many devices on two ranks, while the other ranks sleep.
  void AddPair() {
    if (ranks_ < 4 || ranks_ % 2 != 0 || bytes_ > kPairBytes) return;
    const bool takes_part = transport_->rank().value < 2;
    const auto gather = [this](const std::string& mine) {
      std::vector<std::string> all = node_.whole().GatherTexts(mine);
      all.resize(2);
      return all;
    };
    if (takes_part) {
      pair_ = NodeRanks::OverMemfds({Rank(0), Rank(1)}, transport_->rank(), gather);
      HV_CHECK(pair_ != nullptr, "two ranks that share no memory");
      std::vector<const Floats*> operands;
      for (int64_t d = 0; d < ranks_ / 2; ++d) {
        pair_operands_.push_back(std::make_unique<Floats>(bytes_, d, &pair_->arena()));
        operands.push_back(pair_operands_.back().get());
      }
      pair_path_ = std::make_unique<SharedPath>(pair_.get(), transport_->rank(), operands);
    } else {
      gather("");
      gather("");
    }
    race_.Add("reduce-scatter, 2 ranks", [this] {
      if (pair_path_ != nullptr) pair_path_->ReduceScatter(out_.bytes());
    });
  }

  // Sums of small whole numbers are exact in any order.
  void Check() {
    MpiReduceScatter(check_.data());
    path_.ReduceScatter(out_.bytes());
    ExpectSame("reduce-scatter", share_);
    MpiAllReduce(check_.data());
    path_.AllReduce(out_.bytes());
    ExpectSame("all-reduce", bytes_);
    path_.AllReduceShared();
    std::memcpy(out_.bytes(), path_.Shared(), static_cast<size_t>(bytes_));
    ExpectSame("all-reduce, result shared", bytes_);
  }
  void ExpectSame(const char* what, int64_t bytes) const {
    HV_CHECK(std::memcmp(out_.bytes(), check_.bytes(), static_cast<size_t>(bytes)) == 0, what);
  }

  Transport* transport_;
  ByMessages messages_;
  NodeRanks& node_;
  Race race_;
  int64_t bytes_, ranks_, share_;
  Floats in_, out_, check_;
  SharedPath path_;
  Sum sum_;
  // What MPI gets, and what is measured without sharing, lies where programs have their arrays.
  std::vector<float> heap_in_, heap_out_;
  std::vector<FoldedStream> summands_;
  std::vector<SentStream> sent_;
  std::unique_ptr<NodeRanks> pair_;
  std::vector<std::unique_ptr<Floats>> pair_operands_;
  std::unique_ptr<SharedPath> pair_path_;
};

}  // namespace

ContestRow RaceBarriers(Transport* transport, int repeats) {
  NodeRanks& node = *transport->node();
  Race race(&node);
  race.Add("mpi barrier", [] { MPI_Barrier(MPI_COMM_WORLD); });
  race.Add("barrier", [&] { node.whole().Enter(0); });
  race.Add("barrier and signature", [&] {
    node.whole().Enter(7);
    HV_CHECK(node.whole().AllEntered(7), "ranks at different barriers");
  });
  return race.Run(0, repeats);
}

ContestRow RaceCollectives(Transport* transport, int64_t bytes, int repeats) {
  return Contest(transport, bytes).Run(repeats);
}

}  // namespace hv
