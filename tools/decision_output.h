// What the passes decided, for people (--explain, --list-passes) and as JSON.
#pragma once

#include <span>
#include <string>

#include "passes/registry.h"

namespace hv {

// "file:line:col: dynamic-slice ds.1: pass: fired: ..." or "... not: ...".
std::string ExplainLine(const Module& module, const RewriteDecision& decision);

// One document: module, changed, decisions, and `hlo` unless it is empty.
std::string RewriteJson(const Module& original, const PipelineResult& result,
                        const std::string& hlo);
std::string RewriteErrorJson(const std::string& module, const Error& error);

// One pass per line with its options and precondition; mutants too if `all`.
std::string ListPasses(bool all);

}  // namespace hv
