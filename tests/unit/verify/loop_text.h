// Proofs of pairs whose loops may not be run, and texts that are another with a change.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proof_text.h"

namespace hv {

inline ProofResult ProveLoops(const std::string& before, const std::string& after) {
  ProofOptions options;
  options.most_loop_steps = 1;
  return ProveText(before, after, {1, 2}, options);
}

inline std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string Everywhere(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

inline constexpr char kSum[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
)";

}  // namespace hv
