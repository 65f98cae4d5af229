// Start and end of a program that may run under an MPI launcher. Knows nothing of <mpi.h>: a program
// without a launcher never initialises MPI.
#pragma once

#include <memory>

#include "base/result.h"
#include "sim/transport.h"

namespace hv {

class Session {
 public:
  virtual ~Session() = default;  // finalises MPI; collective over all ranks
  virtual Transport& transport() = 0;
  Rank rank() { return transport().rank(); }
  bool IsFirst() { return rank() == Rank(0); }
};

// Number of processes the launcher says it started; 0 without a launcher.
int64_t LaunchedRanks();

// False in all but one of the processes that a launcher started: what is said before MPI starts
// (--help, a wrong flag) is said once.
bool IsFirstLaunched();

// The local transport without a launcher, else MPI with the settings a node needs (see
// mpi_transport.cc). Call once, after the arguments are parsed. Errors: "mpi-mismatch" if the
// launcher started several processes that do not find each other; "launch-setting" as in
// launch_settings.h, or if processes differ in their settings: the same on all.
Result<std::unique_ptr<Session>> StartSession();

}  // namespace hv
