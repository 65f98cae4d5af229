#include "verify/pass_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "base/time_limit.h"

namespace hv {
namespace {

using Clock = std::chrono::steady_clock;

// A pipe whose ends close themselves and are not inherited by other children.
struct Pipe {
  int read_end = -1, write_end = -1;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void Close(int* end) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
  ~Pipe() {
    Close(&read_end);
    Close(&write_end);
  }
};

struct Child {
  Pipe in, out, err;
  pid_t pid = -1;
};

bool Start(const std::string& command, Child* child) {
  if (!child->in.Open() || !child->out.Open() || !child->err.Open()) return false;
  child->pid = fork();
  if (child->pid < 0) return false;
  if (child->pid == 0) {
    setpgid(0, 0);  // so that a timeout takes the command's own children along
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(child->in.read_end, STDIN_FILENO);
    dup2(child->out.write_end, STDOUT_FILENO);
    dup2(child->err.write_end, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  Pipe::Close(&child->in.read_end);
  Pipe::Close(&child->out.write_end);
  Pipe::Close(&child->err.write_end);
  return true;
}

constexpr size_t kLargestOutput = size_t{1} << 30;
constexpr size_t kErrorTail = 400;  // of what the command says on standard error

// Reads what is there; closes the end at end of file.
void Drain(int* end, std::string* text) {
  std::array<char, 65536> chunk;
  const ssize_t n = read(*end, chunk.data(), chunk.size());
  if (n > 0) {
    text->append(chunk.data(), static_cast<size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    Pipe::Close(end);
  }
}

void Feed(int* end, const std::string& input, size_t* sent) {
  const ssize_t n = write(*end, input.data() + *sent, input.size() - *sent);
  if (n > 0) *sent += static_cast<size_t>(n);
  // A command that does not read all of its input is free not to.
  const bool gone = n < 0 && errno != EINTR && errno != EAGAIN;
  if (gone || *sent == input.size()) Pipe::Close(end);
}

enum class Ending { kDone, kTimeout, kTooLarge };

// Moves data until the command has closed its outputs.
Ending Transfer(Child* child, const std::string& input, double timeout_seconds, std::string* out,
                std::string* err) {
  const auto start = Clock::now();
  size_t sent = 0;
  fcntl(child->in.write_end, F_SETFL, O_NONBLOCK);
  if (input.empty()) Pipe::Close(&child->in.write_end);
  while (child->out.read_end >= 0 || child->err.read_end >= 0) {
    pollfd fds[3] = {{child->out.read_end, POLLIN, 0},
                     {child->err.read_end, POLLIN, 0},
                     {child->in.write_end, POLLOUT, 0}};
    poll(fds, 3, 100);
    if (fds[0].revents != 0) Drain(&child->out.read_end, out);
    if (fds[1].revents != 0) Drain(&child->err.read_end, err);
    if (fds[2].revents != 0) Feed(&child->in.write_end, input, &sent);
    if (out->size() > kLargestOutput) return Ending::kTooLarge;
    if (err->size() > 2 * kErrorTail) err->erase(0, err->size() - kErrorTail);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (timeout_seconds > 0 && elapsed.count() > timeout_seconds) return Ending::kTimeout;
  }
  return Ending::kDone;
}

tl::unexpected<Error> Failed(const std::string& command, const std::string& how,
                             const std::string& err) {
  auto error = Invalid("pass-command", fmt::format("pass command '{}' {}", command, how));
  const std::string_view said = TrimSpace(err);
  if (!said.empty()) {
    error.value().diagnostics[0].notes.emplace_back(
        said.substr(said.size() - std::min(said.size(), kErrorTail)));
  }
  return error;
}

}  // namespace

Result<std::string> RunPassCommand(const std::string& command, const std::string& input,
                                   double timeout_seconds) {
  Child child;
  struct sigaction ignore = {}, previous = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &previous);
  std::string out, err;
  const bool started = Start(command, &child);
  const Ending ending =
      started ? Transfer(&child, input, timeout_seconds, &out, &err) : Ending::kDone;
  int status = 0;
  if (started) {
    if (ending != Ending::kDone) kill(-child.pid, SIGKILL);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  sigaction(SIGPIPE, &previous, nullptr);
  if (!started) return Failed(command, std::string("cannot be started: ") + strerror(errno), "");
  if (ending == Ending::kTooLarge) return Failed(command, "prints more than 1 GiB", "");
  if (ending == Ending::kTimeout) {
    return OutOfTime(fmt::format("pass command '{}' ran out of time", command));
  }
  if (WIFSIGNALED(status)) {
    return Failed(command, fmt::format("was killed by signal {}", WTERMSIG(status)), err);
  }
  if (WEXITSTATUS(status) != 0) {
    return Failed(command, fmt::format("failed with exit code {}", WEXITSTATUS(status)), err);
  }
  return out;
}

}  // namespace hv
