// The 133 opcodes of HLO, one row each in ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hv {

enum class Opcode : uint8_t {
#define HV_OP(name, text) k##name,
#include "hlo/ops.def"
#undef HV_OP
};

inline constexpr std::string_view kOpcodeNames[] = {
#define HV_OP(name, text) text,
#include "hlo/ops.def"
#undef HV_OP
};
inline constexpr int kOpcodeCount = static_cast<int>(sizeof(kOpcodeNames) / sizeof(*kOpcodeNames));

constexpr std::string_view ToString(Opcode op) { return kOpcodeNames[static_cast<int>(op)]; }
std::optional<Opcode> ParseOpcode(std::string_view text);

}  // namespace hv
