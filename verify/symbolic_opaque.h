// Functions that terms do not look into: equal functions of equal operands are the same source. A
// source is whatever a leaf refers to: an ENTRY parameter of a device or one result of an opaque
// function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/symbolic_tensor.h"

namespace hv {

class SourceTable {
 public:
  explicit SourceTable(TensorMaker* maker) : maker_(maker) {}

  // The source called `name`, made if new.
  int64_t Named(const std::string& name);
  // First of `results` consecutive sources that stand for the function `key` of `operands`; `name`
  // is for people.
  int64_t ResultsOf(const std::string& key, std::string_view name, size_t results,
                    std::vector<SymbolicTensor> operands);
  const std::string& NameOf(int64_t source) const { return names_[static_cast<size_t>(source)]; }

 private:
  struct Instance {
    uint64_t hash;
    std::vector<SymbolicTensor> operands;
    int64_t first_source;
  };

  TensorMaker* maker_;
  std::vector<std::string> names_;
  std::map<std::string, int64_t> named_;
  std::map<std::string, std::vector<Instance>> instances_;
  int64_t comparisons_ = 0;
};

}  // namespace hv
