// run_transcript [--update] FILE BUILD_DIR SCRATCH_DIR
// Runs every step of a transcript from the repository's root and compares what comes out. The
// build's programs are on PATH, and "build/release/" means the build under test. $SCRATCH is an
// empty folder.
// --update writes what came out into FILE instead, for a person to read and commit.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/transcript.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReleaseFolder = "build/release/";

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

struct Places {
  std::string build;  // ends in a slash
  fs::path scratch;
};

// What really comes out of the step, in the transcript's own words.
Step Run(const Step& step, const Places& places) {
  WriteText(places.scratch / "command.sh", Replaced(step.command, kReleaseFolder, places.build));
  WriteText(places.scratch / "stdin", step.input);
  const std::string at = places.scratch.string() + "/";
  const int status = std::system(
      ("bash " + at + "command.sh <" + at + "stdin >" + at + "stdout 2>" + at + "stderr").c_str());
  const auto lines = [&](const char* name) {
    std::string text = Replaced(ReadText(at + name), at, "$SCRATCH/");  // may lie in the build
    return SplitLines(Replaced(std::move(text), places.build, kReleaseFolder));
  };
  Step actual = step;
  actual.output = lines("stdout");
  actual.errors = lines("stderr");
  actual.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return actual;
}

bool Agrees(const Step& expected, const Step& actual) {
  return LinesMatch(expected.output, actual.output) &&
         (!expected.checks_errors || LinesMatch(expected.errors, actual.errors)) &&
         (!expected.checks_exit_code || expected.exit_code == actual.exit_code);
}

void PrintLines(const char* title, const Step& step) {
  std::printf("--- %s\n", title);
  for (const std::string& line : PrintStep(step, false)) std::printf("%s\n", line.c_str());
}

// Replaces the lines of one step; `shift` follows how much longer the file has become.
void Update(const Step& expected, const Step& actual, bool markdown, std::ptrdiff_t* shift,
            std::vector<std::string>* lines) {
  const std::vector<std::string> now = PrintStep(actual, markdown);
  const auto first = lines->begin() + static_cast<std::ptrdiff_t>(expected.first_line) + *shift;
  const auto length = static_cast<std::ptrdiff_t>(expected.last_line - expected.first_line);
  const auto at = lines->erase(first, first + length);
  lines->insert(at, now.begin(), now.end());
  *shift += static_cast<std::ptrdiff_t>(now.size()) - length;
}

int RunTranscript(const fs::path& file, const Places& places, bool update) {
  const bool markdown = file.extension() == ".md";
  std::vector<std::string> lines = SplitLines(ReadText(file));
  const std::vector<Step> steps = markdown ? ParseMarkdown(lines) : ParseTestFile(lines);
  if (steps.empty()) {
    std::printf("%s holds no command\n", file.c_str());
    return 1;
  }
  int wrong = 0;
  std::ptrdiff_t shift = 0;
  for (const Step& step : steps) {
    const Step actual = Run(step, places);
    if (Agrees(step, actual)) continue;
    ++wrong;
    if (update) {
      Update(step, actual, markdown, &shift, &lines);
      continue;
    }
    std::printf("%s:%zu: not as expected\n", file.c_str(), step.first_line + 1);
    PrintLines("expected", step);
    PrintLines("actual", actual);
  }
  std::printf("%zu steps, %d not as expected\n", steps.size(), wrong);
  if (!update) return wrong == 0 ? 0 : 1;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  WriteText(file, text);
  return 0;
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  const bool update = argc > 1 && std::string_view(argv[1]) == "--update";
  if (argc - update != 4) {
    std::printf("usage: run_transcript [--update] FILE BUILD_DIR SCRATCH_DIR\n");
    return 2;
  }
  const std::string build = std::string(argv[2 + update]) + "/";
  const hv::fs::path scratch = argv[3 + update];
  hv::fs::remove_all(scratch);
  hv::fs::create_directories(scratch);
  setenv("PATH", (build + ":" + std::getenv("PATH")).c_str(), 1);
  setenv("SCRATCH", scratch.c_str(), 1);
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"}) {
    setenv(name, "1", 1);
  }
  hv::fs::current_path(HV_SOURCE_DIR);
  return hv::RunTranscript(argv[1 + update], {build, scratch}, update);
}
