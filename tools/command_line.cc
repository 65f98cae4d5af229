#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>

#include "sim/mpi_session.h"

namespace hv {
namespace {

constexpr int kBadCommandLine = 2;

// --num_partitions=2 -> --num-partitions=2; values keep their underscores.
std::string WithDashes(std::string argument) {
  if (argument.rfind("--", 0) != 0) return argument;
  const size_t end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

// "4GiB", "500M", "1048576"; nothing if it is no size or zero.
std::optional<int64_t> ParseBytes(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return {};
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.ends_with("iB")) {
    unit.remove_suffix(2);
  } else if (unit.ends_with("B")) {
    unit.remove_suffix(1);
  }
  if (unit.empty()) return number;
  const size_t power = std::string_view("KMGT").find(unit);
  if (unit.size() != 1 || power == std::string_view::npos) return {};
  const int shift = 10 * (static_cast<int>(power) + 1);
  if (number > (INT64_MAX >> shift)) return {};
  return number << shift;
}

CLI::Validator SizeToNumber() {
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<int64_t> bytes = ParseBytes(text);
        if (!bytes) return "no size: " + text;
        text = std::to_string(*bytes);
        return std::string();
      },
      "");
}

}  // namespace

struct CommandLine::Impl {
  CLI::App app;

  bool TakesValue(const std::string& flag) const {
    const CLI::Option* option = flag.starts_with("-") ? app.get_option_no_throw(flag) : nullptr;
    return option != nullptr && option->get_items_expected_min() > 0;
  }
};

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : impl_(std::make_unique<Impl>()) {
  impl_->app.name(program);
  impl_->app.description(description);
  impl_->app.set_version_flag("--version", program + " " HV_VERSION);
  impl_->app.get_formatter()->column_width(36);
}

CommandLine::~CommandLine() = default;

void CommandLine::Flag(const std::string& names, bool* value, const std::string& help) {
  impl_->app.add_flag(names, *value, help);
}

void CommandLine::Integer(const std::string& names, int64_t* value, const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Integer(const std::string& names, std::optional<int64_t>* value,
                          const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Unsigned(const std::string& names, uint64_t* value, const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Bytes(const std::string& names, int64_t* value, const std::string& help) {
  impl_->app.add_option(names, *value, help)->transform(SizeToNumber())->type_name("SIZE");
}

void CommandLine::Bytes(const std::string& names, std::optional<int64_t>* value,
                        const std::string& help) {
  impl_->app.add_option(names, *value, help)->transform(SizeToNumber())->type_name("SIZE");
}

void CommandLine::Real(const std::string& names, std::optional<double>* value,
                       const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Text(const std::string& names, std::string* value, const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Text(const std::string& names, std::optional<std::string>* value,
                       const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void CommandLine::Texts(const std::string& names, std::vector<std::string>* values,
                        const std::string& help) {
  // One value each: a word that follows stays a positional.
  impl_->app.add_option(names, *values, help)->allow_extra_args(false);
}

void CommandLine::OptionalText(const std::string& names, std::string* value,
                               const std::string& help) {
  // A flag with a value: a word that follows stays a positional.
  impl_->app.add_flag(names + "{-}", *value, help);
}

void CommandLine::Choice(const std::string& names, std::span<const std::string_view> words,
                         int* value, const std::string& help) {
  std::string list;
  for (std::string_view word : words) list += (list.empty() ? "" : "|") + std::string(word);
  const CLI::Validator to_number(
      [words, list](std::string& text) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) return "'" + text + "' is none of " + list;
        text = std::to_string(found - words.begin());
        return std::string();
      },
      "");
  impl_->app.add_option(names, *value, help)->transform(to_number)->type_name(list);
}

void CommandLine::Positionals(const std::string& name, std::vector<std::string>* values,
                              const std::string& help) {
  impl_->app.add_option(name, *values, help);
}

void CommandLine::Footer(const std::string& text) { impl_->app.footer(text); }

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  std::vector<std::string> arguments;  // CLI11 reads them from the back
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = WithDashes(argv[i]);
    if (argument.ends_with('=') && impl_->TakesValue(argument.substr(0, argument.size() - 1))) {
      // CLI11 would take the next argument for the value that "--passes=" leaves empty.
      arguments.emplace_back();
      argument.pop_back();
    }
    arguments.push_back(std::move(argument));
  }
  try {
    impl_->app.parse(std::move(arguments));
  } catch (const CLI::Success& success) {
    if (IsFirstLaunched()) impl_->app.exit(success);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (IsFirstLaunched()) {
      std::cerr << "error: " << error.what() << "\nRun " << impl_->app.get_name()
                << " --help for its flags.\n";
    }
    return kBadCommandLine;
  }
  return {};
}

std::string_view ProgramVersion() { return HV_VERSION; }

}  // namespace hv
