// What the programs do alike around their work: standard streams that fail loudly, MPI or none, one
// message, one exit code on all ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/mpi_session.h"

namespace hv {

// Call first. A write that fails (a full disk, a closed pipe) becomes an error of that write and no
// signal; a standard stream that the caller closed stays closed, whatever is opened later.
void PrepareStreams();

// Prints the diagnostics if this is the first rank; kExitBadInput.
int Fail(const Error& error, bool is_first);

// Writes a listing to standard output, once under a launcher too; the exit code.
int PrintOnce(const std::string& listing);

// Runs `work` on the ranks that a launcher started; on `ranks` of our own where --ranks asks for
// them; or here alone. Standard input, if "-" is among `inputs`, reaches every rank. What `work`
// returns on the first rank is the exit code of all.
int RunOnRanks(std::optional<int64_t> ranks, const std::vector<std::string>& inputs, int argc,
               char** argv, const std::function<int(Session*)>& work);

}  // namespace hv
