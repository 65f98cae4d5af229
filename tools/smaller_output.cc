#include "tools/smaller_output.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "tools/output_file.h"

namespace hv {
namespace {

// A file name made of the name of a case, other than those before it.
std::string Stem(const std::string& name, std::set<std::string>* taken) {
  std::string stem;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain || (!stem.empty() && stem.back() != '-')) stem += plain ? c : '-';
  }
  if (stem.empty()) stem = "case";
  std::string own = stem;
  for (int n = 2; !taken->insert(own).second; ++n) own = fmt::format("{}-{}", stem, n);
  return own;
}

}  // namespace

Status WriteSmallerModules(const Report& report, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::set<std::string> taken;
  for (const CaseReport& c : report.cases) {
    if (!c.smaller) continue;
    const std::string stem = folder + "/" + Stem(c.name, &taken);
    HV_RETURN_IF_ERROR(WriteOutput(stem + ".before.hlo", c.smaller->before_hlo));
    HV_RETURN_IF_ERROR(WriteOutput(stem + ".after.hlo", c.smaller->after_hlo));
  }
  return {};
}

}  // namespace hv
