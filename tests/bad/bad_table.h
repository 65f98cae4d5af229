// Tables of wrong inputs: blocks of "=== <diagnostic id> <line>:<column>" and the text that must be
// refused with that diagnostic first. "0:0" where no place can be told; "#" lines before the first
// block are comments.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/result.h"

namespace hv {

struct BadInput {
  std::string id;
  int line = 0, column = 0;
  std::string text;
};

inline std::vector<BadInput> ReadBadTable(const std::string& name) {
  std::ifstream file(HV_SOURCE_DIR "/tests/bad/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::vector<BadInput> inputs;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("=== ")) {
      if (!inputs.empty()) inputs.back().text += line + "\n";
      continue;
    }
    char id[64] = {};
    BadInput& input = inputs.emplace_back();
    EXPECT_EQ(std::sscanf(line.c_str(), "=== %63s %d:%d", id, &input.line, &input.column), 3)
        << line;
    input.id = id;
  }
  return inputs;
}

inline void ExpectDiagnostic(const BadInput& input, const Error& error) {
  const Diagnostic& first = error.diagnostics.front();
  EXPECT_EQ(first.id, input.id) << FormatError(error) << input.text;
  EXPECT_EQ(first.place.line, input.line) << input.id << "\n" << FormatError(error);
  EXPECT_EQ(first.place.column, input.column) << input.id << "\n" << FormatError(error);
}

}  // namespace hv
