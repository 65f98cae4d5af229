#include "sim/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace hv {

int64_t DefaultMemoryLimit() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);  // "max" reads as no number
  }
  return bytes / 10 * 8;
}

}  // namespace hv
