// `-n N`: a program starts itself again under mpirun, so that nobody needs to know how Open MPI
// wants to be called.
#pragma once

#include <cstdint>

namespace hv {

// Runs this program with its arguments, -n/--ranks left out, on `ranks` ranks; returns its exit
// code. A job that ended in no code of ours (killed, no mpirun) gives 70 and one line. The job ends
// with this process, however that ends.
int LaunchRanks(int64_t ranks, int argc, char** argv);

}  // namespace hv
