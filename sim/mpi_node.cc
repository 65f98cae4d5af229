#include "sim/mpi_node.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/bytes.h"

namespace hv {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLargestWindow = size_t{1} << 28;  // per rank

int RankIn(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int SizeOf(MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  return size;
}

// The ranks of this node, or of the pretended one.
MPI_Comm SplitByNode(int rank, int64_t pretended) {
  MPI_Comm node = MPI_COMM_NULL;
  if (pretended > 0) {
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(rank / pretended), rank, &node);
  } else {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  }
  return node;
}

std::vector<Rank> WorldRanks(MPI_Comm node) {
  std::vector<Rank> ranks;
  for (const std::string& text : GatherTexts(std::to_string(RankIn(MPI_COMM_WORLD)), node)) {
    ranks.push_back(Rank(std::stoll(text)));
  }
  return ranks;
}

// Half of what /dev/shm has to give, for every rank alike; 0: too little to be of use.
size_t WindowBytes(int ranks) {
  struct statvfs space;
  if (statvfs("/dev/shm", &space) != 0) return 0;
  const size_t free = static_cast<size_t>(space.f_bavail) * space.f_frsize;
  const size_t bytes = std::min(free / 2 / static_cast<size_t>(ranks), kLargestWindow);
  return bytes < 2 * NodeRanks::HeaderBytes(1) ? 0 : bytes / kPage * kPage;
}

// At least half of a window is for values.
size_t CirclesIn(size_t window_bytes, size_t most) {
  while (most > 1 && window_bytes < 2 * NodeRanks::HeaderBytes(most)) --most;
  return most;
}

// Its whole pages. A window begins where the library likes; each rank maps it from a page on, so
// that all of them leave out the same.
SharedRange WholePages(std::byte* base, size_t bytes) {
  const size_t before = -reinterpret_cast<uintptr_t>(base) % kPage;
  return {base + before, (bytes - before) / kPage * kPage};
}

// The window outlives every value, so it is never freed.
std::unique_ptr<NodeRanks> OverWindow(const std::vector<Rank>& ranks, Rank mine, MPI_Comm node,
                                      size_t circles) {
  unsigned long bytes = WindowBytes(SizeOf(node));
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UNSIGNED_LONG, MPI_MIN, node);
  if (bytes == 0) return nullptr;
  MPI_Win window = MPI_WIN_NULL;
  std::byte* own = nullptr;
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node,
                                           static_cast<void*>(&own), &window);
  int failed = code == MPI_SUCCESS ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, node);
  if (failed != 0) return nullptr;
  std::vector<NodeRanks::Member> members;
  for (size_t r = 0; r < ranks.size(); ++r) {
    MPI_Aint size = 0;
    int unit = 1;
    std::byte* base = nullptr;
    MPI_Win_shared_query(window, static_cast<int>(r), &size, &unit, static_cast<void*>(&base));
    members.push_back({ranks[r], WholePages(base, static_cast<size_t>(size))});
  }
  circles = CirclesIn(bytes, circles);
  NodeRanks::Clear(WholePages(own, bytes), circles);
  MPI_Barrier(node);
  return NodeRanks::Over(std::move(members), mine, false, circles);
}

std::unique_ptr<NodeRanks> ShareMemory(const std::vector<Rank>& ranks, Rank mine, MPI_Comm node,
                                       const LaunchSettings& settings) {
  const Sharing sharing = settings.sharing;
  const size_t circles = settings.agree_by_groups ? kMostCircles : 1;
  std::unique_ptr<NodeRanks> own;
  if (ranks.size() == 1 || sharing == Sharing::kNone) return own;
  if (sharing != Sharing::kWindow) {
    own = NodeRanks::OverMemfds(
        ranks, mine, [node](const std::string& text) { return GatherTexts(text, node); }, circles);
  }
  if (own == nullptr && sharing != Sharing::kMemfd) own = OverWindow(ranks, mine, node, circles);
  return own;
}

}  // namespace

std::vector<std::string> GatherTexts(const std::string& mine, MPI_Comm communicator) {
  const size_t ranks = static_cast<size_t>(SizeOf(communicator));
  const int own = static_cast<int>(mine.size());
  std::vector<int> sizes(ranks), begins(ranks);
  MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, communicator);
  std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
  std::string all(static_cast<size_t>(begins.back() + sizes.back()), '\0');
  MPI_Allgatherv(mine.data(), own, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE,
                 communicator);
  std::vector<std::string> texts(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    texts[r] = all.substr(static_cast<size_t>(begins[r]), static_cast<size_t>(sizes[r]));
  }
  return texts;
}

MpiNodes::MpiNodes(const LaunchSettings& settings) {
  const int rank = RankIn(MPI_COMM_WORLD);
  MPI_Comm node = SplitByNode(rank, settings.ranks_per_node);
  const std::vector<Rank> here = WorldRanks(node);
  BindToCores(RankIn(node), SizeOf(node));
  own = ShareMemory(here, Rank(rank), node, settings).release();
  int least = here.size() == 1 || own != nullptr ? 1 : 0;  // all nodes, or none
  int shared = own != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  share_memory = least != 0 && shared != 0;
  if (!share_memory) own = nullptr;
  std::map<int, std::vector<Rank>> by_leader;
  const auto leaders_of_all = GatherTexts(std::to_string(here.front().value), MPI_COMM_WORLD);
  for (size_t r = 0; r < leaders_of_all.size(); ++r) {
    by_leader[std::stoi(leaders_of_all[r])].push_back(Rank(static_cast<int64_t>(r)));
  }
  for (auto& [leader, members] : by_leader) {
    most_ranks = std::max(most_ranks, static_cast<int64_t>(members.size()));
    ranks.push_back(std::move(members));
  }
  MPI_Comm_split(MPI_COMM_WORLD, RankIn(node) == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  MPI_Comm_free(&node);
}

}  // namespace hv
