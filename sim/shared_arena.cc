#include "sim/shared_arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

namespace hv {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kReturnedFrom = size_t{1} << 20;  // pages of smaller blocks are kept

size_t WholePages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

int CreateSharedMemory(size_t bytes) {
  const int descriptor = memfd_create("hlo_values", MFD_CLOEXEC);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) return descriptor;
  close(descriptor);
  return -1;
}

SharedRange MapSharedMemory(int descriptor, size_t bytes) {
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) return {};
  madvise(base, bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(base), bytes};
}

SharedRange MapSharedMemoryOf(pid_t process, int descriptor, size_t bytes) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) return {};
  const SharedRange range = MapSharedMemory(own, bytes);
  close(own);
  return range;
}

SharedArena::SharedArena(SharedRange range, size_t header_bytes) : range_(range) {
  const size_t begin = WholePages(header_bytes);
  if (begin < range.bytes) free_.Give(begin, range.bytes);
}

std::byte* SharedArena::Allocate(size_t bytes) {
  const size_t size = WholePages(bytes > 0 ? bytes : 1);
  const std::optional<size_t> begin = free_.Take(size);
  if (!begin) return nullptr;
  std::byte* const block = range_.base + *begin;
  const size_t end = *begin + size;
  if (size >= kReturnedFrom || end > touched_) {
    // Without room in the machine this fails; touching the pages would end the process.
    if (madvise(block, size, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
      free_.Give(*begin, end);
      return nullptr;
    }
    touched_ = std::max(touched_, end);
  }
  return block;
}

bool SharedArena::Release(std::byte* data, size_t bytes) {
  if (!Holds(data)) return false;
  const size_t size = WholePages(bytes > 0 ? bytes : 1), begin = OffsetOf(data);
  if (size >= kReturnedFrom) madvise(data, size, MADV_REMOVE);
  free_.Give(begin, begin + size);
  return true;
}

}  // namespace hv
