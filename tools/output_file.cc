#include "tools/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace hv {
namespace {

Status CannotWrite(const std::string& path) {
  return Invalid("output-file", fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

// Writes, flushes and checks; errno tells what failed.
bool WriteAll(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

// To disk if `sync`: a device or a pipe cannot do that.
bool WriteFile(const std::string& path, std::string_view text, bool sync) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = WriteAll(file, text) && (!sync || ::fsync(::fileno(file)) == 0);
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  return written && closed;
}

}  // namespace

Status WriteOutput(const std::string& path, std::string_view text) {
  if (path == "-") {
    // A reader that leaves early has seen what it wanted.
    if (!WriteAll(stdout, text) && errno != EPIPE) return CannotWrite("standard output");
    return {};
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    if (!WriteFile(path, text, false)) return CannotWrite(path);
    return {};
  }
  const std::string beside = fmt::format("{}.{}.partial", path, ::getpid());
  if (WriteFile(beside, text, true) && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  std::remove(beside.c_str());
  errno = error;
  return CannotWrite(path);
}

}  // namespace hv
