// libFuzzer target: any bytes parse or are refused, and what is accepted prints and parses back.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "hlo/parser.h"
#include "hlo/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto module = hv::ParseModule("fuzz", text);
  if (!module) {
    hv::FormatError(module.error());
    return 0;
  }
  const auto again = hv::ParseModule("printed", hv::PrintModule(*module));
  HV_CHECK(again.has_value(), "printed text is refused:\n" + hv::FormatError(again.error()));
  std::string why;
  HV_CHECK(hv::SameModule(*module, *again, &why), "printing changed the module: " + why);
  return 0;
}
