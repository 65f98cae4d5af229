// Tables in docs/ that tests generate: a test fails if the page does not hold the table as made
// anew. With HV_UPDATE_DOCS set in the environment it writes the table into the page instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/json.h"

namespace hv {

// `table` in Markdown, its first line the column heads: these tell which table of the page
// docs/`page` it is, and it ends where lines no longer start with a bar.
inline void ExpectTableInPage(const std::string& page, const std::string& table) {
  const std::string path = std::string(HV_SOURCE_DIR) + "/docs/" + page;
  Result<std::string> text = ReadFile(path);
  ASSERT_TRUE(text) << path;
  const size_t begin = text->find(table.substr(0, table.find('\n') + 1));
  ASSERT_NE(begin, std::string::npos) << path << " has no table with these heads:\n" << table;
  size_t end = begin;
  while (end < text->size() && (*text)[end] == '|') end = text->find('\n', end) + 1;
  const std::string old = text->substr(begin, end - begin);
  if (old == table) return;
  if (std::getenv("HV_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << text->replace(begin, end - begin, table);
    return;
  }
  EXPECT_EQ(old, table) << "HV_UPDATE_DOCS=1 writes docs/" << page << " anew";
}

}  // namespace hv
