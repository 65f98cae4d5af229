// Reading modules from files and standard input.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/standard_input.h"
#include "hlo/parser.h"

namespace hv {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<Module> ParseModuleFile(const std::string& path) {
  if (path == "-") return ParseModule("<stdin>", StandardInput());
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return Invalid("no-file", std::string("cannot open: ") + std::strerror(errno), {path, 0, 0});
  }
  std::string text;
  char buffer[1 << 16];
  size_t count;
  while ((count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) text.append(buffer, count);
  if (std::ferror(file.get()) != 0) {
    return Invalid("no-file", std::string("cannot read: ") + std::strerror(errno), {path, 0, 0});
  }
  text.shrink_to_fit();
  return ParseModule(path, std::move(text));
}

}  // namespace hv
