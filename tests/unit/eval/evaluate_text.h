// Evaluates small HLO texts without collectives on one device, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "eval/domain.h"
#include "eval/pure_call.h"
#include "hlo/literal.h"
#include "hlo/parser.h"

namespace hv::test {

inline Module Parse(const std::string& entry_body, const std::string& computations = "") {
  Result<Module> module = ParseModule(
      "test.hlo", "HloModule test\n" + computations + "\nENTRY main {\n" + entry_body + "\n}\n");
  HV_CHECK(module.has_value(), module ? "" : FormatError(module.error()));
  return std::move(*module);
}

// ENTRY on device (2, 3) with the arguments given.
inline Result<Value> Evaluate(Domain& domain, const Module& module, std::vector<Value> arguments) {
  return CallPure(domain, module, module.entry, std::move(arguments), {2, 3});
}

inline std::string TextOf(const Value& value) {
  if (value.shape()->IsTuple()) {
    std::string text = "(";
    for (const Value& element : value.elements()) {
      text += (text.size() > 1 ? ", " : "") + TextOf(element);
    }
    return text + ")";
  }
  Literal literal;
  literal.shape = value.shape();
  literal.bytes = value.bytes();
  return ToString(literal);
}

// The root's value as HLO prints it, or the error.
inline std::string EvaluateText(const std::string& entry_body,
                                const std::string& computations = "") {
  const Module module = Parse(entry_body, computations);
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const Result<Value> value = Evaluate(*domain, module, {});
  return value ? TextOf(*value) : "error: " + value.error().Message();
}

}  // namespace hv::test
