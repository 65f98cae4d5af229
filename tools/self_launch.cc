#include "tools/self_launch.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "verify/report_model.h"

namespace hv {
namespace {

constexpr int kNotFound = 127;

// Both Open MPI 4 and 5 (PRRTE) spellings; what the user has set stands.
void PrepareEnvironment() {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT",
                           "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    setenv(name, "1", 0);
  }
  setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

std::vector<std::string> LaunchCommand(int64_t ranks, int argc, char** argv) {
  char self[4096];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self);
  std::vector<std::string> command{
      "mpirun", "--quiet", "-n", std::to_string(ranks),
      size > 0 ? std::string(self, static_cast<size_t>(size)) : std::string(argv[0])};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-n" || argument == "--ranks") {
      ++i;
    } else if (argument.rfind("--ranks=", 0) != 0 &&
               !(argument.rfind("-n", 0) == 0 && argument.size() > 2 && argument[1] != '-')) {
      command.emplace_back(argument);
    }
  }
  return command;
}

bool IsOurs(int code) {
  return code == kExitOk || code == kExitBadInput || code == kExitMissed || code == kExitUnknown ||
         code == kExitInternal;
}

// Becomes mpirun, with standard output to `output`; a signal that ends the parent ends the job too.
[[noreturn]] void BecomeLauncher(std::vector<std::string> command, int output, pid_t parent) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(output, STDOUT_FILENO) >= 0) {
    words[0] = const_cast<char*>("mpirun.openmpi");
    execvp(words[0], words.data());
    words[0] = command[0].data();
    execvp(words[0], words.data());
  }
  _exit(kNotFound);
}

// Copies all that comes from the job; mpirun itself would not tell that standard output cannot be
// written. Zero, or the error of the first write that failed.
int Relay(int from) {
  std::array<char, 65536> chunk;
  int failed = 0;
  while (true) {
    const ssize_t size = read(from, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failed;
    ssize_t written = 0;
    while (failed == 0 && written < size) {
      const ssize_t now =
          write(STDOUT_FILENO, chunk.data() + written, static_cast<size_t>(size - written));
      if (now > 0) written += now;
      if (now < 0 && errno != EINTR) failed = errno;
    }
  }
}

}  // namespace

int LaunchRanks(int64_t ranks, int argc, char** argv) {
  PrepareEnvironment();
  const std::vector<std::string> command = LaunchCommand(ranks, argc, argv);
  std::fflush(nullptr);
  int ends[2];
  const pid_t parent = getpid();
  const pid_t child = pipe(ends) == 0 ? fork() : -1;
  if (child == 0) {
    close(ends[0]);
    BecomeLauncher(command, ends[1], parent);
  }
  int status = 0, unwritten = 0;
  if (child > 0) {
    close(ends[1]);
    unwritten = Relay(ends[0]);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "error: cannot start mpirun\n");
    return kExitInternal;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (IsOurs(code) && unwritten == 0) return code;
  if (IsOurs(code)) {
    std::fprintf(stderr, "error: cannot write standard output: %s\n", std::strerror(unwritten));
    return WorseExitCode(code, kExitBadInput);
  }
  std::fprintf(stderr,
               code == kNotFound ? "error: mpirun was not found\n"
                                 : "error: the job of %lld ranks ended with code %d\n",
               static_cast<long long>(ranks), code);
  return kExitInternal;
}

}  // namespace hv
