// The op table as a document: docs/ops.md and --list-ops.
#pragma once

#include <string>
#include <string_view>

#include "hlo/op.h"

namespace hv {

std::string_view ToString(KernelKind kernel);
std::string_view ToString(Exactness exactness);
std::string_view ToString(Tier tier);

// "2", "0+", ...
std::string ArityOf(const OpDef& def);
// "dimensions*, to_apply*": in printing order, required ones marked.
std::string AttributesOf(const OpDef& def);
// Operand types in words: "pred, integer, float".
std::string TypesOf(const OpDef& def);
// Which value domains compute it: "all", "native" (elsewhere it is a function nobody knows more
// about), "none".
std::string_view DomainsOf(const OpDef& def);

// One row per op, as a Markdown document with its legend.
std::string OpTableMarkdown();

}  // namespace hv
