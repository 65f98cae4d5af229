// The op table. One row of ops.def names an opcode, one OpDef in ops_*.cc says everything about it:
// arity, attributes, shape rule, extra rules, kernel kind, documentation. Parser, printer, validator,
// --list-ops, evaluation, proof and byte counting all read this table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hlo/module.h"
#include "hlo/view.h"

namespace hv {

// How an op is computed. Each value domain interprets each kind once.
enum class KernelKind : uint8_t {
  kSource,      // parameter, constant, iota, replica-id, partition-id, after-all
  kScalar,      // elementwise: ScalarFn
  kView,        // data movement with static or control starts: ViewFn
  kAlias,       // yields an operand or a part of it: tuple, get-tuple-element, copy, opt-barrier, ...
  kGather,      // indices are data
  kScatter,
  kReduce,      // reduce
  kWindow,      // reduce-window, select-and-scatter, convolution: windows over data
  kContract,    // dot and relatives
  kCollective,  // needs other devices, start forms included
  kDone,        // the second half of an asynchronous op
  kRegion,      // while, conditional, call, fusion, map, async-*: other computations run
  kOpaque,      // a function of its operands with an own evaluator: sort, fft, ...
  kHidden,      // draws from a hidden random state: rng, rng-get-and-update-state
  kRefused,     // needs a host or a target
};

// Scalar functions, the arithmetic a domain must provide. Named after the opcodes.
enum class ScalarFn : uint8_t {
  kNone,
  kAbs, kAcos, kAcosh, kAdd, kAnd, kAsin, kAsinh, kAtan2, kAtanh, kBitcastConvert, kCbrt, kCeil,
  kClamp, kCompare, kComplex, kConvert, kCos, kCosh, kCountLeadingZeros, kDivide, kErf, kExp,
  kExpm1, kFloor, kImag, kIsFinite, kLog, kLog1p, kLogistic, kMaximum, kMinimum, kMulhi, kMultiply,
  kNegate, kNot, kOr, kPopcnt, kPower, kReal, kReducePrecision, kRemainder, kRoundNearestAfz,
  kRoundNearestEven, kRsqrt, kSelect, kShiftLeft, kShiftRightArithmetic, kShiftRightLogical, kSign,
  kSin, kSinh, kSqrt, kStochasticConvert, kSubtract, kTan, kTanh, kXor,
};

// How exact a result is (hlo_ops.md "Det"): any implementation agrees bit for bit (E), one rounding
// (I), math library (L), free accumulation order (O), not reproducible (N).
enum class Exactness : uint8_t { kExact, kRounded, kLibrary, kOrder, kNone };

enum class Tier : uint8_t { kT1, kT2, kT3, kX };

// Sets of element types, by class.
using TypeSet = uint8_t;
constexpr TypeSet SetOf(TypeClass c) { return static_cast<TypeSet>(1 << static_cast<int>(c)); }
constexpr bool Contains(TypeSet set, ElementType type) {
  return (set & SetOf(Traits(type).type_class)) != 0;
}
inline constexpr TypeSet kPreds = SetOf(TypeClass::kPred);
inline constexpr TypeSet kSigneds = SetOf(TypeClass::kSigned);
inline constexpr TypeSet kIntegers = kSigneds | SetOf(TypeClass::kUnsigned);
inline constexpr TypeSet kFloats = SetOf(TypeClass::kFloat);
inline constexpr TypeSet kComplexes = SetOf(TypeClass::kComplex);
inline constexpr TypeSet kArrays = kPreds | kIntegers | kFloats | kComplexes;

struct AttrSpec {
  Attr key;
  bool required = false;
};

struct OpDef;

// What shape inference and extra rules see: one instruction with its module.
struct OpContext {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  ShapeTable& shapes;

  size_t operand_count() const { return instruction.operands.size(); }
  const Shape& operand(size_t i) const {
    return *computation.At(instruction.operands[i]).shape;
  }
};

// Infers the result shape or says what is wrong with operands and attributes. Its layout means
// nothing. context.instruction.shape is the declared shape, null if the text has none. Arity and
// attribute keys have been checked.
using InferFn = Result<const Shape*> (*)(const OpContext&);
// Rules beyond the result shape; `declared` is the instruction's shape.
using RuleFn = Status (*)(const OpContext&);

struct OpDef {
  Opcode opcode;
  int min_operands = 0;
  int max_operands = 0;                     // -1: any number
  std::span<const AttrSpec> attributes = {};  // in printing order; common ones not repeated here
  InferFn infer = nullptr;                  // null: the declared shape is taken, `rule` checks it
  bool shape_required = false;              // text must state the result shape
  RuleFn rule = nullptr;                    // null: none
  KernelKind kernel = KernelKind::kOpaque;
  ScalarFn scalar = ScalarFn::kNone;        // kScalar, and of each element kView first
  TypeSet accepts = kArrays;                // kScalar: element types of the data operands
  ViewFn view = nullptr;                    // kView
  Exactness exactness = Exactness::kExact;
  Tier tier = Tier::kT1;
  bool side_effect = false;                 // kept by dead-code elimination
  std::string_view types = {};              // operand types in words; empty: `accepts` says it
  std::string_view doc = {};                // one line; the heading of XLA's operation semantics
};

const OpDef& Definition(Opcode opcode);
inline const OpDef& Definition(const Instruction& instruction) {
  return Definition(instruction.opcode);
}

// The shape that operands and attributes imply; arity and required attributes are checked first.
// Error "shape-needed" where only the text can tell.
Result<const Shape*> InferShape(const OpContext& context);

// Does the instruction have an effect beyond its value (send, outfeed, custom calls that say so, ...)?
bool HasSideEffect(const Instruction& instruction);

// Opcodes that need other devices (start forms, send and recv included), and the opcode a -start form stands for (kAllReduceStart ->
// kAllReduce); the opcode itself otherwise.
bool IsCollective(Opcode opcode);
Opcode PlainOpcode(Opcode opcode);

// Recognises a reducer computation: a root that applies one associative and commutative ScalarFn
// (add, multiply, maximum, minimum, and, or, xor) to its two parameters in either order, through
// optional convert pairs to a wider type. `element` is the type it is applied in.
struct Reducer {
  ScalarFn fn = ScalarFn::kNone;  // kNone: not recognised; an ordered fold of the computation
  ElementType element = ElementType::kF32;
};
Reducer RecognizeReducer(const Module& module, ComputationIndex computation);

}  // namespace hv
