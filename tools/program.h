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
#include "tools/command_line.h"

namespace hv {

// Call first. A write that fails (a full disk, a closed pipe) becomes an error of that write and no
// signal; a standard stream that the caller closed stays closed, whatever is opened later.
void PrepareStreams();

// Prints the diagnostics if this is the first rank; kExitBadInput.
int Fail(const Error& error, bool is_first);

// Writes a listing to standard output, once under a launcher too; the exit code.
int PrintOnce(const std::string& listing);

// What --ranks and --threads say.
struct Workers {
  std::optional<int64_t> ranks;    // of our own; absent: those a launcher started, or here alone
  std::optional<int64_t> threads;  // of each rank; absent: its share of the cores it may use

  void Declare(CommandLine* line);
};

// Runs `work` on the ranks and threads asked for. Standard input, if "-" is among `inputs`, reaches
// every rank. What `work` returns on the first rank is the exit code of all.
int RunOnRanks(const Workers& workers, const std::vector<std::string>& inputs, int argc,
               char** argv, const std::function<int(Session*)>& work);

}  // namespace hv
