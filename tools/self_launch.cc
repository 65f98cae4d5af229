#include "tools/self_launch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace hv {
namespace {

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
  std::vector<std::string> command{"mpirun", "--quiet", "-n", std::to_string(ranks),
                                   size > 0 ? std::string(self, static_cast<size_t>(size))
                                            : std::string(argv[0])};
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

bool IsOurs(int code) { return code == 0 || code == 2 || code == 10 || code == 11 || code == 70; }

}  // namespace

int LaunchRanks(int64_t ranks, int argc, char** argv) {
  PrepareEnvironment();
  std::vector<std::string> command = LaunchCommand(ranks, argc, argv);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    words[0] = const_cast<char*>("mpirun.openmpi");
    execvp(words[0], words.data());
    words[0] = command[0].data();
    execvp(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "error: cannot start mpirun\n");
    return 70;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (IsOurs(code)) return code;
  std::fprintf(stderr, code == 127 ? "error: mpirun was not found\n"
                                   : "error: the job of %lld ranks ended with code %d\n",
               static_cast<long long>(ranks), code);
  return 70;
}

}  // namespace hv
