// Small text helpers shared by readers of flags, scenarios and HLO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hv {

// Letters to insert, delete or replace to make one word the other.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate closest to `word` in edit distance, if it is close enough to be a likely typo
// (about a third of the word's letters, at least one); empty otherwise. Ties: the first.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

// " (did you mean 'x'?)" with the nearest word, or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

// "a,b,,c" -> {"a", "b", "", "c"}; empty text gives an empty list.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

// "1 run", "2 runs".
std::string CountOf(int64_t n, std::string_view noun);

std::string_view TrimSpace(std::string_view text);

}  // namespace hv
