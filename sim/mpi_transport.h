// The MPI side of StartSession; free of <mpi.h>.
#pragma once

#include <memory>

#include "sim/mpi_session.h"

namespace hv {

// `launched`: processes the launcher says it started.
Result<std::unique_ptr<Session>> StartMpiSession(int64_t launched);

}  // namespace hv
