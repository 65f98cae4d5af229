// What the files of op rows (ops_*.cc) share: the declaration of every row, and short spellings for
// families of ops. Each row is the constant k<Enumerator>Op; op.cc gathers them into the table.
#pragma once

#include "hlo/op.h"

namespace hv {

#define HV_OP(name, text) extern const OpDef k##name##Op;
#include "hlo/ops.def"
#undef HV_OP

inline constexpr bool kRequired = true;
inline constexpr int kAnyNumber = -1;

}  // namespace hv
