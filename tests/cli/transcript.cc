#include "tests/cli/transcript.h"

#include <cstdlib>
#include <regex>
#include <span>

namespace hv {
namespace {

constexpr std::string_view kAnyLines = "...";
constexpr std::string_view kAnyCharacters = "[..]";

// Text behind a one-letter mark and a space; the mark alone is an empty line.
std::string Behind(const std::string& line) { return line.size() > 2 ? line.substr(2) : ""; }

bool TextMatches(std::string_view expected, std::string_view actual) {
  const size_t any = expected.find(kAnyCharacters);
  if (any == std::string_view::npos) return expected == actual;
  if (actual.substr(0, any) != expected.substr(0, any)) return false;
  const std::string_view rest = expected.substr(any + kAnyCharacters.size());
  for (size_t at = any; at <= actual.size(); ++at) {
    if (TextMatches(rest, actual.substr(at))) return true;
  }
  return false;
}

bool Match(std::span<const std::string> expected, std::span<const std::string> actual) {
  for (; !expected.empty(); expected = expected.subspan(1), actual = actual.subspan(1)) {
    if (expected[0] == kAnyLines) {
      for (size_t skipped = 0; skipped <= actual.size(); ++skipped) {
        if (Match(expected.subspan(1), actual.subspan(skipped))) return true;
      }
      return false;
    }
    if (actual.empty()) return false;
    if (!TextMatches(WithoutTimes(expected[0]), WithoutTimes(actual[0]))) return false;
  }
  return actual.empty();
}

}  // namespace

std::vector<Step> ParseTestFile(const std::vector<std::string>& lines) {
  std::vector<Step> steps;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '$') {
      steps.emplace_back().command = Behind(line);
      steps.back().first_line = i;
    }
    if (steps.empty()) continue;
    Step& step = steps.back();
    step.last_line = i + 1;
    switch (line[0]) {
      case '<':
        step.input += Behind(line) + "\n";
        break;
      case '>':
        step.output.push_back(Behind(line));
        break;
      case '!':
        step.errors.push_back(Behind(line));
        break;
      case '?':
        step.exit_code = std::atoi(Behind(line).c_str());
        break;
      default:
        break;
    }
  }
  return steps;
}

std::vector<Step> ParseMarkdown(const std::vector<std::string>& lines) {
  std::vector<Step> steps;
  bool inside = false, continued = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("```")) {
      inside = line == "```console";
      continued = false;
      continue;
    }
    if (!inside) continue;
    if (line.starts_with("$ ")) {
      Step& step = steps.emplace_back();
      step.command = Behind(line);
      step.first_line = i;
      step.checks_exit_code = step.checks_errors = false;
    } else if (continued) {
      steps.back().command += "\n" + line;
    } else if (!steps.empty()) {
      steps.back().output.push_back(line);
    }
    if (steps.empty()) continue;
    steps.back().last_line = i + 1;
    continued = steps.back().output.empty() && line.ends_with('\\');
  }
  return steps;
}

std::vector<std::string> PrintStep(const Step& step, bool markdown) {
  std::vector<std::string> lines = SplitLines("$ " + step.command);
  if (markdown) {
    lines.insert(lines.end(), step.output.begin(), step.output.end());
    return lines;
  }
  const auto add = [&](std::string_view mark, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      lines.push_back(std::string(mark) + (text.empty() ? "" : " ") + text);
    }
  };
  add("<", SplitLines(step.input));
  add(">", step.output);
  add("!", step.errors);
  if (step.exit_code != 0) lines.push_back("? " + std::to_string(step.exit_code));
  return lines;
}

std::string WithoutTimes(std::string_view line) {
  static const std::regex in_text(R"(\([0-9.]+ (ns|us|ms|s)\))");
  static const std::regex in_json(R"("seconds": ?[0-9.e+-]+)");
  std::string text = std::regex_replace(std::string(line), in_text, "(TIME)");
  return std::regex_replace(text, in_json, "\"seconds\": TIME");
}

bool LinesMatch(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  return Match(expected, actual);
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace hv
