// A value domain gives meaning to arithmetic; moving data does not depend on it. One interpreter
// runs over any domain: native HLO types, 64-bit wrap, the field F_p, exact sums, symbolic terms.
//
// Control stays concrete: operands that are all native are evaluated in the native domain whatever
// the domain (constants, iota, device ids and what depends on them alone); a code domain lifts a
// native operand when it meets a code.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strong_id.h"
#include "eval/value.h"
#include "hlo/op.h"

namespace hv {

// Everything a kernel needs about its instruction. `operands` are moved in: a kernel may reuse the
// storage of an operand whose handle is unique.
struct KernelCall {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  const Shape* shape;  // of the result, the instruction's
};

// An instruction made ready once to run many times: what its operands' elements cannot change (the
// loop to run, whose storage the result may take) is settled.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  // The instruction's value; the operands are native and moved from.
  virtual Value Run(std::span<Value> operands) = 0;
  // Does it change the first operand, in place if that is the only handle, else in a copy?
  virtual bool Overwrites() const { return false; }
};

class Domain {
 public:
  virtual ~Domain() = default;
  virtual std::string_view name() const = 0;
  virtual bool IsNative() const { return false; }
  // Width of one code; 0 for the native domain and for domains of extended values.
  virtual int code_bytes() const { return 0; }

  // One method per kernel kind. Each returns a value of call.shape, or kUnsupported with the op's
  // name in the message when this domain cannot (a code as a gather index, say).
  virtual Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Window(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) = 0;
  virtual Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) = 0;
  // Applies a scalar computation elementwise (map, and reducers nobody recognises).
  virtual Result<Value> Map(const KernelCall& call, std::vector<Value> operands) = 0;

  // Moves elements: `pieces` of the operands (piece.operand indexes them) into a new value of
  // `shape`; kZeros pieces are zeros of the element type.
  virtual Result<Value> Move(const Shape* shape, const Pieces& pieces,
                             std::vector<Value> operands) = 0;
  // Elementwise fold of equally shaped values in the order given with the scalar computation
  // `reducer` of `module` (collectives). `accumulate_wide`: bf16/f16/f8 sums in f32, rounded once.
  virtual Result<Value> Fold(const Module& module, ComputationIndex reducer,
                             std::vector<Value> values, bool accumulate_wide) = 0;

  // What EvaluateInstruction does to native operands of the shapes that the computation states; null
  // where nothing is gained, or where the domain gives native operands a meaning of its own.
  virtual std::unique_ptr<PreparedKernel> Prepare(const KernelCall& call);

  virtual Result<Value> Constant(const Literal& literal);  // default: native copy
  // A concrete native value of `value` if there is one: control needs it.
  virtual std::optional<Value> Concrete(const Value& value) const;

  // What a domain of terms keeps in a form of its own; the defaults are a native array and
  // refusals.
  virtual Result<Value> Iota(const KernelCall& call);
  virtual Result<Value> ElidedConstant(const Instruction& constant);
  // A conditional whose selector has no concrete value runs all its branches where ChoosesByData();
  // Choose makes one value of theirs, of the same shape each.
  virtual bool ChoosesByData() const { return false; }
  virtual Result<Value> Choose(const Value& selector, std::vector<Value> branches);
  // Are two selectors known to be equal?
  virtual bool SameSelector(const Value&, const Value&) const { return false; }
  // dynamic-slice and dynamic-update-slice whose starts have no concrete value.
  virtual Result<Value> DataDependentView(const KernelCall& call, std::vector<Value> operands);
  // rng and rng-get-and-update-state on one device, whose hidden state moves on; default: refused.
  virtual Result<Value> HiddenRandom(const KernelCall& call, std::vector<Value> operands,
                                     int64_t replica, int64_t partition);
  // Comes before the folds of one collective among the devices of one group, in group order.
  virtual void EnterCollective(const Instruction& collective, std::span<const DeviceId> group);
};

// The native domain: exact HLO semantics (hlo_ops.md, EVAL column). With a seed it has the hidden
// state that rng draws from; without one those ops are refused.
std::unique_ptr<Domain> MakeNativeDomain(std::optional<uint64_t> seed = {});

// Evaluates one instruction of a kind that needs no other device and no frame: everything but
// kCollective, kDone, kRegion (map excepted) and parameter. Ids come from `replica`, `partition`.
Result<Value> EvaluateInstruction(Domain& domain, const KernelCall& call,
                                  std::vector<Value> operands, int64_t replica, int64_t partition);

// Integers held by a native array of integer or pred type, sign- or zero-extended (u64 above
// INT64_MAX saturates to INT64_MAX: it is meant as a position).
std::vector<int64_t> IntegersOf(const Value& value);
// The first of them.
int64_t IntegerOf(const Value& value);

}  // namespace hv
