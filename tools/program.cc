#include "tools/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/parallel.h"
#include "base/standard_input.h"
#include "tools/output_file.h"
#include "tools/self_launch.h"
#include "verify/report_model.h"

namespace hv {
namespace {

constexpr int64_t kMostRanks = 4096;
constexpr int64_t kMostThreads = 1024;

Status CheckRanks(int64_t ranks, int64_t launched) {
  if (ranks < 1 || ranks > kMostRanks) {
    return Invalid("flag-ranks", "--ranks must lie between 1 and " + std::to_string(kMostRanks));
  }
  if (launched == 0 || launched == ranks) return {};
  return Invalid("flag-ranks", "--ranks=" + std::to_string(ranks) + ", but a launcher started " +
                                   std::to_string(launched) + " already");
}

Status CheckThreads(int64_t threads) {
  if (threads >= 1 && threads <= kMostThreads) return {};
  return Invalid("flag-threads",
                 "--threads must lie between 1 and " + std::to_string(kMostThreads));
}

// A launcher gives standard input to the first rank alone.
void ShareStandardInput(Transport* transport) {
  if (transport->size() == 1) return;
  const bool is_first = transport->rank() == Rank(0);
  ProvideStandardInput(transport->AllGather(is_first ? StandardInput() : "")[0]);
}

}  // namespace

void PrepareStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // In the place of a closed stream, one that cannot be written; descriptors fill up from below.
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor >= 0) close(descriptor);
}

void Workers::Declare(CommandLine* line) {
  line->Integer("-n,--ranks", &ranks, "start again under mpirun on this many ranks");
  line->Integer("--threads", &threads, "threads of each rank; default: its share of cores");
}

int Fail(const Error& error, bool is_first) {
  if (is_first) std::fputs(FormatError(error).c_str(), stderr);
  return kExitBadInput;
}

int PrintOnce(const std::string& listing) {
  if (!IsFirstLaunched()) return kExitOk;
  const Status written = WriteOutput("-", listing);
  return written ? kExitOk : Fail(written.error(), true);
}

int RunOnRanks(const Workers& workers, const std::vector<std::string>& inputs, int argc,
               char** argv, const std::function<int(Session*)>& work) {
  const int64_t launched = LaunchedRanks();
  if (workers.threads) {
    const Status fits = CheckThreads(*workers.threads);
    if (!fits) return Fail(fits.error(), IsFirstLaunched());
  }
  if (workers.ranks) {
    const Status fits = CheckRanks(*workers.ranks, launched);
    if (!fits) return Fail(fits.error(), IsFirstLaunched());
    if (launched == 0) return LaunchRanks(*workers.ranks, argc, argv);
  }
  Result<std::unique_ptr<Session>> session = StartSession();
  if (!session) return Fail(session.error(), IsFirstLaunched());
  Transport& transport = (*session)->transport();
  const int64_t share = std::max<int64_t>(1, AllowedCores() / transport.ranks_per_node());
  SetThreadCount(static_cast<int>(workers.threads.value_or(share)));
  const bool reads_stdin = std::find(inputs.begin(), inputs.end(), "-") != inputs.end();
  if (reads_stdin) ShareStandardInput(&transport);
  const int code = work(session->get());
  std::fflush(nullptr);
  return std::stoi(transport.AllGather(std::to_string(code))[0]);
}

}  // namespace hv
