// The command lines of all programs: flags, values, choices and files, with --help and --version.
// The one place that knows CLI11. Underscore spellings of flags are accepted (XLA's way); unknown
// flags, doubled values and wrong words are errors with exit code 2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hv {

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description);
  ~CommandLine();

  // `names`: "-q,--quiet". Values keep what they hold if the flag is absent.
  void Flag(const std::string& names, bool* value, const std::string& help);
  void Integer(const std::string& names, int64_t* value, const std::string& help);
  void Integer(const std::string& names, std::optional<int64_t>* value, const std::string& help);
  void Unsigned(const std::string& names, uint64_t* value, const std::string& help);
  // A size as people write it: "4GiB", "500M", "1048576". Not zero.
  void Bytes(const std::string& names, int64_t* value, const std::string& help);
  void Bytes(const std::string& names, std::optional<int64_t>* value, const std::string& help);
  void Real(const std::string& names, std::optional<double>* value, const std::string& help);
  void Text(const std::string& names, std::string* value, const std::string& help);
  void Text(const std::string& names, std::optional<std::string>* value, const std::string& help);
  void Texts(const std::string& names, std::vector<std::string>* values, const std::string& help);
  // --flag or --flag=value; "-" if there is no value.
  void OptionalText(const std::string& names, std::string* value, const std::string& help);
  // Index of the word given.
  void Choice(const std::string& names, std::span<const std::string_view> words, int* value,
              const std::string& help);
  void Positionals(const std::string& name, std::vector<std::string>* values,
                   const std::string& help);
  // Text after the flags in --help.
  void Footer(const std::string& text);

  // Nothing if the program goes on, else its exit code: help, version or the error has been
  // printed, once under a launcher too. The words of a Choice must outlive this.
  std::optional<int> Parse(int argc, char** argv);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The version of this build.
std::string_view ProgramVersion();

}  // namespace hv
