// Transcripts of command lines: what is typed, and what must come out. Two spellings:
//   *.test   "$ command", "< stdin", "> stdout", "! stderr", "? exit code"; "#" starts a comment.
//            Everything is compared: no ">" line means no output at all, no "?" means exit code 0.
//   *.md     the ```console blocks: "$ command" (continued by a final backslash), then its stdout.
// In expected text a line "..." stands for any lines, "[..]" for any characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hv {

struct Step {
  std::string command;
  std::string input;
  std::vector<std::string> output, errors;
  int exit_code = 0;
  bool checks_exit_code = true, checks_errors = true;
  size_t first_line = 0;  // of the transcript, from 0
  size_t last_line = 0;   // one past the step's last line
};

std::vector<Step> ParseTestFile(const std::vector<std::string>& lines);
std::vector<Step> ParseMarkdown(const std::vector<std::string>& lines);

// The transcript's lines of a step as it really ran.
std::vector<std::string> PrintStep(const Step& step, bool markdown);

// Times of this run, "(12 ms)" and "\"seconds\": 0.012", are no part of the comparison.
std::string WithoutTimes(std::string_view line);

bool LinesMatch(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

std::vector<std::string> SplitLines(std::string_view text);

}  // namespace hv
