// Recognition by first bytes, then one pass that looks for NULs and malformed UTF-8.
#include "hlo/input_check.h"

#include <cstdint>
#include <cstring>

namespace hv {
namespace {

tl::unexpected<Error> Refuse(std::string_view file, std::string_view text, size_t offset,
                             std::string id, std::string message, std::string advice = {}) {
  auto error = Invalid(std::move(id), std::move(message), PlaceAt(file, text, offset));
  Diagnostic& diagnostic = error.value().diagnostics.front();
  if (!advice.empty()) diagnostic.notes.push_back(std::move(advice));
  return error;
}

// Length of the well-formed UTF-8 sequence at text[at], which is no ASCII character; 0 if
// malformed.
size_t SequenceLength(std::string_view text, size_t at) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(at);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

// Position of the first byte that cannot stand in HLO text (NUL, malformed UTF-8); npos if none.
size_t FindBadByte(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word;
    if (at + 8 <= text.size()) {
      std::memcpy(&word, text.data() + at, 8);
      // The subtraction borrows into bit 7 of bytes that are zero.
      if (((word | (word - kOnes)) & kHigh) == 0) {
        at += 8;
        continue;
      }
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0) return at;
    const size_t length = byte < 0x80 ? 1 : SequenceLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

// Does the text begin as MLIR does? Comments and aliases may precede the module.
bool LooksLikeMlir(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  for (std::string_view start : {"module @", "module {", "module attributes", "#loc", "func.func",
                                 "builtin.module", "\"builtin.module\""}) {
    if (text.substr(0, start.size()) == start) return true;
  }
  return text[0] == '#';
}

}  // namespace

Status CheckInput(std::string_view file, std::string_view text) {
  if (text.size() >= UINT32_MAX) {
    return Refuse(file, {}, 0, "too-large", "the text has 4 GiB or more");
  }
  if (text.substr(0, 2) == "\x1f\x8b") {
    return Refuse(file, {}, 0, "gzip-input", "this is gzip data, not HLO text",
                  "unpack it first: gunzip -k FILE.gz");
  }
  if (text.substr(0, 4) == "ML\xEFR") {
    return Refuse(file, {}, 0, "stablehlo-input", "this is MLIR bytecode, not HLO text",
                  "convert it: stablehlo-translate --deserialize, then xla-translate "
                  "--mlir-hlo-to-hlo-text");
  }
  if (const size_t bad = FindBadByte(text); bad != std::string_view::npos) {
    if (text[0] == '\n') {  // field 1, a string or a message: HloModuleProto and HloProto alike
      return Refuse(file, {}, 0, "protobuf-input", "this is a protocol buffer, not HLO text",
                    "convert it: run_hlo_module --input_format=pb --print_module, or dump with "
                    "--xla_dump_hlo_as_text");
    }
    if (text[bad] == '\0') return Refuse(file, text, bad, "nul-byte", "NUL byte in HLO text");
    return Refuse(file, text, bad, "not-utf8", "the text is not UTF-8");
  }
  if (LooksLikeMlir(text)) {
    return Refuse(file, text, 0, "stablehlo-input", "this is MLIR (StableHLO), not HLO text",
                  "convert it: xla-translate --mlir-hlo-to-hlo-text FILE, or in JAX: "
                  "lowered.as_text(dialect=\"hlo\")");
  }
  return {};
}

}  // namespace hv
