#include "verify/symbolic_domain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "eval/code_algebra.h"
#include "eval/code_domain.h"
#include "eval/combiner.h"
#include "eval/convolution.h"
#include "eval/gather_scatter.h"
#include "eval/native_kernels.h"
#include "eval/window.h"
#include "verify/exact_number.h"
#include "verify/symbolic_key.h"
#include "verify/symbolic_leaves.h"
#include "verify/symbolic_program.h"

namespace hv {
namespace {

// Native values of this many elements and less are made where all operands are native; larger ones
// (a broadcast constant of a terabyte) become terms.
constexpr int64_t kLargestNative = int64_t{1} << 16;
constexpr size_t kMostWindowParts = 256;  // into which padding may cut a window's operand and result

tl::unexpected<Error> TooManyPieces(std::string_view op) {
  return Unsupported("too-many-pieces", std::string(op) + ": more pieces than the prover handles");
}

tl::unexpected<Error> TooMuchWork(std::string_view op) {
  return Unsupported("too-many-terms",
                     std::string(op) + ": terms grow beyond what the prover handles");
}

bool IsExact(ElementType type) { return IsInteger(type) || IsPred(type); }

// Pieces that read the source positions `positions` in order: maximal runs of constant stride. From
// `second` on they are those of operand 1.
Pieces RunsOf(std::span<const int64_t> positions, int64_t second) {
  Pieces pieces;
  for (size_t i = 0; i < positions.size();) {
    const bool is_second = positions[i] >= second;
    const auto goes_on = [&](size_t at, int64_t step) {
      return at < positions.size() && positions[at] - positions[at - 1] == step &&
             (positions[at] >= second) == is_second;
    };
    size_t end = i + 1;
    const int64_t step = end < positions.size() ? positions[end] - positions[i] : 0;
    while (goes_on(end, step)) ++end;
    Piece piece;
    piece.operand = is_second ? 1 : 0;
    piece.in_base = positions[i] - (is_second ? second : 0);
    piece.out_base = static_cast<int64_t>(i);
    if (end - i > 1) piece.digits.push_back({static_cast<int64_t>(end - i), step, 1});
    pieces.push_back(std::move(piece));
    i = end;
  }
  return pieces;
}

// Is the result of arithmetic on two numbers not the number that it is over the reals?
bool Rounded(const KernelCall& call, const std::vector<Value>& operands, const Value& result) {
  if (operands.size() != 2 || !call.shape->IsScalar() || !IsFloat(call.shape->type)) return false;
  const auto exact = [](const Value& value) -> std::optional<ExactNumber> {
    if (!IsFloat(value.shape()->type)) return std::nullopt;
    const double number = NumberAt(value.shape()->type, value.bytes().data(), 0).real;
    return std::isfinite(number) ? std::optional(ExactNumber::Of(number)) : std::nullopt;
  };
  const auto a = exact(operands[0]), b = exact(operands[1]), c = exact(result);
  if (!a || !b || !c) return false;
  switch (Definition(call.instruction).scalar) {
    case ScalarFn::kAdd: return ExactNumber::Sum(*a, *b) != c;
    case ScalarFn::kSubtract: return ExactNumber::Sum(*b, *c) != a;
    case ScalarFn::kMultiply: return ExactNumber::Product(*a, *b) != c;
    case ScalarFn::kDivide: return ExactNumber::Product(*b, *c) != a;
    default: return false;
  }
}

}  // namespace

SymbolicDomain::SymbolicDomain(Strictness strictness, size_t most_pieces)
    : algebra_(strictness),
      maker_(&algebra_, most_pieces),
      sources_(&maker_),
      native_(MakeNativeDomain()) {}

SymbolicTensor SymbolicDomain::TensorOf(const Value& value) {
  const auto* tensor = dynamic_cast<const SymbolicTensor*>(value.extended());
  return tensor != nullptr ? *tensor : maker_.FromNative(value);
}

SymbolicDomain::Tensors SymbolicDomain::TensorsOf(std::span<const Value> values) {
  Tensors tensors;
  for (const Value& value : values) tensors.push_back(TensorOf(value));
  return tensors;
}

std::vector<SymbolicTensor> SymbolicDomain::LeavesOf(const Value& value) {
  std::vector<Value> leaves;
  AppendLeaves(value, &leaves);
  return TensorsOf(leaves);
}

SymbolicTensor SymbolicDomain::Opaquely(const std::string& key, std::string_view name,
                                        SymbolicTensor operand, const Shape& result) {
  return maker_.Source(sources_.ResultsOf(key, name, 1, {std::move(operand)}), result);
}

Value SymbolicDomain::Wrap(const Shape* shape, SymbolicTensor tensor) {
  return Value::Extended(shape, std::make_unique<SymbolicTensor>(std::move(tensor)));
}

Result<Value> SymbolicDomain::Made(const KernelCall& call, std::optional<SymbolicTensor> tensor) {
  if (!tensor) return TooManyPieces(ToString(call.instruction.opcode));
  return Wrap(call.shape, std::move(*tensor));
}

Value SymbolicDomain::Unknown(const Shape* shape, const std::string& name) {
  int64_t leaf = 0;
  const bool single = !shape->IsTuple();
  return BuildFromLeaves(shape, [&](const Shape* array) {
    const std::string full = single ? name : name + "." + std::to_string(leaf++);
    return Wrap(array, maker_.Source(sources_.Named(full), *array));
  });
}

Result<Value> SymbolicDomain::Uninterpreted(const KernelCall& call,
                                            std::span<const Value> operands) {
  if (HasSideEffect(call.instruction) || call.instruction.opcode == Opcode::kRng ||
      call.instruction.opcode == Opcode::kRngGetAndUpdateState) {
    return Unsupported("unsupported-op", std::string(ToString(call.instruction.opcode)) +
                                             " has effects or is not a function of its operands");
  }
  std::string key = OpKey(call.module, call.instruction);
  std::vector<Value> arrays;
  for (const Value& operand : operands) AppendLeaves(operand, &arrays);
  for (const Value& array : arrays) AppendShape(*array.shape(), false, &key);
  std::vector<const Shape*> results;
  AppendLeafShapes(call.shape, &results);
  int64_t source =
      sources_.ResultsOf(key, ToString(call.instruction.opcode), results.size(), TensorsOf(arrays));
  return BuildFromLeaves(
      call.shape, [&](const Shape* array) { return Wrap(array, maker_.Source(source++, *array)); });
}

SymbolicTensor SymbolicDomain::Spread(const SymbolicTensor& scalar, const Shape& shape) {
  if (shape.element_count == 0) return SymbolicTensor({});
  Term term = scalar.pieces()[0].term;
  DigitMap map;
  if (shape.element_count > 1) map.columns.push_back({shape.element_count, -1, 0});
  return SymbolicTensor({{WholeRegion(shape.element_count), algebra_.Substitute(term, map)}});
}

SymbolicTensor SymbolicDomain::ConvertedTo(const SymbolicTensor& tensor, ElementType from,
                                           ElementType to) {
  if (from == to) return tensor;
  std::vector<SymbolicPiece> pieces = tensor.pieces();
  for (SymbolicPiece& piece : pieces) {
    piece.term = algebra_.Scalar(ScalarFn::kConvert, to, {std::move(piece.term)});
  }
  return maker_.Simplified(std::move(pieces));
}

Result<Value> SymbolicDomain::Scalar(const KernelCall& call, std::vector<Value> operands) {
  const ScalarFn fn = Definition(call.instruction).scalar;
  if (AllNative(operands)) {
    HV_ASSIGN(Value result, native_->Scalar(call, operands));
    if (!algebra_.IsReal() || !Rounded(call, operands, result)) return result;
    const bool product = fn == ScalarFn::kMultiply || fn == ScalarFn::kDivide;
    if (product && algebra_.strictness() == Strictness::kRoundedConstant) return result;
  }
  if (algebra_.IsExhausted()) return TooMuchWork(ToString(call.instruction.opcode));
  Tensors tensors = TensorsOf(operands);
  std::vector<ElementType> types;
  std::vector<const SymbolicTensor*> pointers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = *operands[i].shape();
    types.push_back(shape.type);
    const bool spreads = shape.IsScalar() && !call.shape->IsScalar();
    if (spreads) tensors[i] = Spread(tensors[i], *call.shape);
    pointers.push_back(&tensors[i]);
  }
  const bool reshapes = operands[0].element_count() != call.shape->element_count &&
                        Definition(call.instruction).scalar == ScalarFn::kBitcastConvert;
  if (reshapes) return Uninterpreted(call, operands);
  auto cells = maker_.Zip(pointers);
  if (!cells) return TooManyPieces(ToString(call.instruction.opcode));
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    auto term =
        ApplyInstruction(&algebra_, call.instruction, *call.shape, types, std::move(cell.terms));
    if (!term) return Uninterpreted(call, operands);
    pieces.push_back({std::move(cell.region), std::move(*term)});
  }
  return Wrap(call.shape, maker_.Simplified(std::move(pieces)));
}

Result<Value> SymbolicDomain::Map(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Map(call, std::move(operands));
  // Floats of other widths become what the computation takes, and yields what the map does.
  const Computation& body = call.module.At(call.instruction.Computation(Attr::kToApply));
  Tensors tensors = TensorsOf(operands);
  std::vector<const SymbolicTensor*> pointers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = ConvertedTo(tensors[i], operands[i].shape()->type,
                             body.At(body.parameters[i]).shape->type);
    pointers.push_back(&tensors[i]);
  }
  auto cells = maker_.Zip(pointers);
  if (!cells) return TooManyPieces("map");
  if (call.shape->IsTuple()) return Uninterpreted(call, operands);
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    auto terms =
        ApplyComputation(&algebra_, call.module, call.instruction.Computation(Attr::kToApply),
                         std::move(cell.terms));
    if (!terms) return Uninterpreted(call, operands);
    pieces.push_back({std::move(cell.region), std::move((*terms)[0])});
  }
  return Wrap(call.shape, ConvertedTo(maker_.Simplified(std::move(pieces)),
                                      body.Root().shape->type, call.shape->type));
}

std::optional<Reducer> SymbolicDomain::FreeReducer(const KernelCall& call,
                                                   std::span<const Value> operands) const {
  const Reducer reducer =
      RecognizeReducer(call.module, call.instruction.Computation(Attr::kToApply));
  const bool known = operands.size() == 2 && reducer.fn != ScalarFn::kNone &&
                     !call.shape->IsTuple() && algebra_.OrderFree(reducer.element);
  return known ? std::optional(reducer) : std::nullopt;
}

std::optional<SymbolicTensor> SymbolicDomain::Reduced(const KernelCall& call,
                                                      const Reducer& reducer, TensorMaker* maker,
                                                      const ReductionDomain& domain,
                                                      const ReductionOperand& operand,
                                                      const Value& init) {
  const ElementType type = reducer.element;
  const SymbolicTensor first = ConvertedTo(TensorOf(init), init.shape()->type, type);
  const SymbolicTensor start = Spread(first, *call.shape);
  std::optional<Term> term;
  if (!start.pieces().empty()) term = start.pieces()[0].term;
  return ReduceTensors(
      maker, {reducer.fn, type}, domain, {&operand, 1},
      [](std::vector<Term> terms) { return std::move(terms[0]); }, term,
      [&](std::vector<Term> terms) {
        return algebra_.Scalar(ScalarFn::kConvert, call.shape->type, std::move(terms));
      });
}

Result<Value> SymbolicDomain::Reduce(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Reduce(call, std::move(operands));
  if (algebra_.IsExhausted()) return TooMuchWork(ToString(call.instruction.opcode));
  const std::optional<Reducer> reducer = FreeReducer(call, operands);
  if (!reducer) return Uninterpreted(call, operands);
  const Shape& shape = *operands[0].shape();
  const SymbolicTensor tensor = ConvertedTo(TensorOf(operands[0]), shape.type, reducer->element);
  ReductionOperand operand{&tensor, {}};
  const ReductionDomain domain =
      DomainOfReduce(shape, call.instruction.Ints(Attr::kDimensions), &operand.strides);
  return Made(call, Reduced(call, *reducer, &maker_, domain, operand, operands[1]));
}

// Does an attribute of a dot let it round its operands, or add elsewhere than in the result's type?
bool HasOwnPrecision(const Instruction& dot) {
  const auto words = dot.List<std::string_view>(Attr::kOperandPrecision);
  return dot.Has(Attr::kAlgorithm) ||
         std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return word != "default"; });
}

ElementType ComputedIn(ElementType result) {
  return IsFloat(result) && BitWidth(result) < 32 ? ElementType::kF32 : result;
}

// Products are taken and added in the compute type of the result: f32 for narrow floats, rounded
// once.
std::optional<SymbolicTensor> SymbolicDomain::SumOfProducts(const KernelCall& call,
                                                            TensorMaker* maker,
                                                            const ReductionDomain& domain,
                                                            std::span<const ReductionOperand> sides,
                                                            bool from_zero) {
  const ElementType result = call.shape->type, compute = ComputedIn(result);
  std::optional<Term> zero;
  if (from_zero) zero = algebra_.Integer(algebra_.Canonical(compute), 0);
  return ReduceTensors(
      maker, {ScalarFn::kAdd, compute}, domain, sides,
      [&](std::vector<Term> terms) {
        return algebra_.Scalar(ScalarFn::kMultiply, compute, std::move(terms));
      },
      zero,
      [&](std::vector<Term> terms) {
        return algebra_.Scalar(ScalarFn::kConvert, result, std::move(terms));
      });
}

Result<Value> SymbolicDomain::Contract(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Contract(call, std::move(operands));
  if (algebra_.IsExhausted()) return TooMuchWork(ToString(call.instruction.opcode));
  const ElementType result = call.shape->type;
  if (call.instruction.opcode != Opcode::kDot || call.instruction.Has(Attr::kSparsity) ||
      !algebra_.OrderFree(result) ||
      (IsFloat(result) && !algebra_.IsReal() && HasOwnPrecision(call.instruction))) {
    return Uninterpreted(call, operands);
  }
  Tensors tensors;
  for (const Value& operand : operands) {
    SymbolicTensor tensor = ConvertedTo(TensorOf(operand), operand.shape()->type, result);
    tensors.push_back(ConvertedTo(tensor, result, ComputedIn(result)));
  }
  ReductionOperand sides[] = {{&tensors[0], {}}, {&tensors[1], {}}};
  const ReductionDomain domain =
      DomainOfDot(call.instruction, *operands[0].shape(), *operands[1].shape(), &sides[0].strides,
                  &sides[1].strides);
  const bool empty = domain.kept == domain.extents.size() || CountElements(domain.extents) == 0;
  return Made(call, SumOfProducts(call, &maker_, domain, sides, empty));
}

std::optional<SymbolicTensor> SymbolicDomain::OnGrid(const WindowDomain& window,
                                                     const SymbolicTensor& array, ElementType type,
                                                     TensorMaker* maker) {
  if (!window.elements) return SymbolicTensor({});
  const SymbolicTensor* const moved[] = {&array};
  return maker->Move({*window.elements}, moved, type, window.places);
}

// A reduction over the positions in the window.
std::optional<SymbolicTensor> SymbolicDomain::ReducedWindows(const KernelCall& call,
                                                             std::span<const Value> operands) {
  const std::optional<Reducer> reducer = FreeReducer(call, operands);
  if (!reducer) return std::nullopt;
  const Shape& shape = *operands[0].shape();
  const auto window = DomainOfWindow(
      WindowOf(call.instruction.List<WindowDim>(Attr::kWindow), shape.dims.size()), shape,
      call.shape->dims);
  if (!window) return std::nullopt;
  TensorMaker few(&algebra_, kMostWindowParts);
  const SymbolicTensor tensor = ConvertedTo(TensorOf(operands[0]), shape.type, reducer->element);
  const auto grid = OnGrid(*window, tensor, reducer->element, &few);
  if (!grid) return std::nullopt;
  return Reduced(call, *reducer, &few, window->domain, {&*grid, window->strides}, operands[1]);
}

// A dot over positions and input features. Integers saturate, which is no sum.
std::optional<SymbolicTensor> SymbolicDomain::Convolved(const KernelCall& call,
                                                        std::span<const Value> operands) {
  const ElementType result = call.shape->type;
  if (!IsFloat(result) || !algebra_.OrderFree(result) || !IsForward(call.instruction) ||
      (!algebra_.IsReal() && HasOwnPrecision(call.instruction))) {
    return std::nullopt;
  }
  ReductionOperand sides[2] = {};
  const auto window = DomainOfConvolution(call.instruction, *operands[0].shape(),
                                          *operands[1].shape(), *call.shape, &sides[1]);
  if (!window) return std::nullopt;
  Tensors tensors;
  for (const Value& operand : operands) {
    SymbolicTensor tensor = ConvertedTo(TensorOf(operand), operand.shape()->type, result);
    tensors.push_back(ConvertedTo(tensor, result, ComputedIn(result)));
  }
  TensorMaker few(&algebra_, kMostWindowParts);
  const auto grid = OnGrid(*window, tensors[0], ComputedIn(result), &few);
  if (!grid) return std::nullopt;
  sides[0] = {&*grid, window->strides};
  sides[1].tensor = &tensors[1];
  return SumOfProducts(call, &few, window->domain, sides, true);
}

// What padding cuts into too many parts is a function of its operands, like other windows.
Result<Value> SymbolicDomain::Window(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Window(call, std::move(operands));
  if (algebra_.IsExhausted()) return TooMuchWork(ToString(call.instruction.opcode));
  std::optional<SymbolicTensor> result;
  if (call.shape->element_count > 0 && call.instruction.opcode == Opcode::kReduceWindow) {
    result = ReducedWindows(call, operands);
  } else if (call.shape->element_count > 0 && call.instruction.opcode == Opcode::kConvolution) {
    result = Convolved(call, operands);
  }
  return result ? Wrap(call.shape, std::move(*result)) : Uninterpreted(call, operands);
}

// The native gather run on positions says which element goes where.
std::optional<Pieces> SymbolicDomain::GatherPieces(const KernelCall& call,
                                                   std::span<const Value> operands) {
  const Shape& operand = *operands[0].shape();
  const std::optional<Value> indices = Concrete(operands[1]);
  if (!indices || operand.element_count > kLargestNative ||
      call.shape->element_count > kLargestNative || operand.element_count == 0) {
    return std::nullopt;
  }
  ShapeTable& shapes = call.module.context->shapes;
  Value positions = Value::NewNative(shapes.WithType(operand, ElementType::kS64));
  const auto all = positions.MutableAs<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const IndexPlan plan = PlanGather(call.instruction, operand, *operands[1].shape(), *call.shape);
  const Value moved = GatherWith(plan, positions, *indices,
                                 shapes.WithType(*call.shape, ElementType::kS64));
  return RunsOf(moved.As<int64_t>(), operand.element_count);
}

// Of a scatter that overwrites, likewise: the positions of the updates follow those of the operand.
std::optional<Pieces> SymbolicDomain::ScatterPieces(const KernelCall& call,
                                                    std::span<const Value> operands) {
  const ComputationIndex body = call.instruction.Computation(Attr::kToApply);
  if (operands.size() != 3 || !ReturnsParameter(call.module, body, 1)) return std::nullopt;
  const Shape &operand = *operands[0].shape(), &updates = *operands[2].shape();
  const std::optional<Value> indices = Concrete(operands[1]);
  if (!indices || operand.element_count > kLargestNative || operand.type != updates.type ||
      updates.element_count > kLargestNative) {
    return std::nullopt;
  }
  ShapeTable& shapes = call.module.context->shapes;
  int64_t next = 0;
  const auto count = [&](const Shape& shape) {
    Value positions = Value::NewNative(shapes.WithType(shape, ElementType::kS64));
    for (int64_t& position : positions.MutableAs<int64_t>()) position = next++;
    return positions;
  };
  Value result = count(operand);
  const Value moved = count(updates);
  const ElementType type = ElementType::kS64;
  const auto copies = MakeNativeCombiner(call.module, body, {&type, 1});
  const IndexPlan plan = PlanScatter(call.instruction, operand, *indices->shape(), updates);
  if (!copies || !ScatterWith(plan, {&result, 1}, *indices, {&moved, 1}, **copies)) {
    return std::nullopt;
  }
  return RunsOf(result.As<int64_t>(), operand.element_count);
}

Result<Value> SymbolicDomain::Gather(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Gather(call, std::move(operands));
  const std::optional<Pieces> pieces = GatherPieces(call, operands);
  if (!pieces) return Uninterpreted(call, operands);
  operands.resize(1);
  return Move(call.shape, *pieces, std::move(operands));
}

// scatter(x, i, u) is f(x, scatter(e, i, u)) for a reducer f that may reorder and its neutral
// element e: which elements are hit depends on the indices alone.
Result<Value> SymbolicDomain::Scatter(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Scatter(call, std::move(operands));
  if (const std::optional<Pieces> pieces = ScatterPieces(call, operands)) {
    return Move(call.shape, *pieces, {std::move(operands[0]), std::move(operands[2])});
  }
  const Reducer reducer =
      RecognizeReducer(call.module, call.instruction.Computation(Attr::kToApply));
  const Shape& shape = *operands[0].shape();
  const bool nests = IsExact(shape.type) || algebra_.strictness() >= Strictness::kNestedSums;
  std::optional<Term> neutral;
  if (operands.size() == 3 && !call.shape->IsTuple() && reducer.element == shape.type && nests) {
    neutral = algebra_.NeutralOf(reducer.fn, shape.type);
  }
  if (!neutral) return Uninterpreted(call, operands);
  const SymbolicTensor start = TensorOf(operands[0]);
  operands[0] = Wrap(operands[0].shape(), maker_.Uniform(*neutral, shape.element_count));
  HV_ASSIGN(const Value updates, Uninterpreted(call, operands));
  const SymbolicTensor scattered = TensorOf(updates);
  const SymbolicTensor* both[] = {&start, &scattered};
  auto cells = maker_.Zip(both);
  if (!cells) return TooManyPieces("scatter");
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    Term term = algebra_.Fold(reducer.fn, shape.type, std::move(cell.terms), {});
    pieces.push_back({std::move(cell.region), std::move(term)});
  }
  return Wrap(call.shape, maker_.Simplified(std::move(pieces)));
}

Result<Value> SymbolicDomain::Opaque(const KernelCall& call, std::vector<Value> operands) {
  switch (call.instruction.opcode) {
    case Opcode::kGetDimensionSize:
      return native_->Opaque(call, std::move(operands));
    case Opcode::kCustomCall:
      if (IsAnnotation(call.instruction) && operands.size() == 1 &&
          SameShape(*operands[0].shape(), *call.shape)) {
        return std::move(operands[0]);
      }
      break;
    default:
      break;
  }
  if (AllNative(operands)) {
    Result<Value> value = native_->Opaque(call, operands);
    if (value || value.error().kind != ErrorKind::kUnsupported) return value;
  }
  return Uninterpreted(call, operands);
}

Result<Value> SymbolicDomain::Move(const Shape* shape, const Pieces& pieces,
                                   std::vector<Value> operands) {
  if (AllNative(operands) && shape->element_count <= kLargestNative) {
    return native_->Move(shape, pieces, std::move(operands));
  }
  if (algebra_.IsExhausted()) return TooMuchWork("data movement");
  const Tensors tensors = TensorsOf(operands);
  std::vector<const SymbolicTensor*> pointers;
  for (const SymbolicTensor& tensor : tensors) pointers.push_back(&tensor);
  auto moved = maker_.Move(pieces, pointers, shape->type, shape->element_count);
  if (!moved) return TooManyPieces("data movement");
  return Wrap(shape, std::move(*moved));
}

Result<Value> SymbolicDomain::Iota(const KernelCall& call) {
  if (call.shape->element_count <= kLargestNative) return native_->Iota(call);
  return Wrap(call.shape, maker_.Iota(*call.shape, call.instruction.Int(Attr::kIotaDimension, 0)));
}

Result<Value> SymbolicDomain::ElidedConstant(const Instruction& constant) {
  return Unknown(constant.shape, "elided constant " + std::string(constant.name));
}

void SymbolicDomain::EnterCollective(const Instruction& instruction,
                                     std::span<const DeviceId> group) {
  instance_ = ToString(PlainOpcode(instruction.opcode));
  if (folds_by_position_) return;
  for (const DeviceId device : group) instance_.append(" ").append(std::to_string(device.value));
}

Result<Value> SymbolicDomain::Fold(const Module& module, ComputationIndex reducer,
                                   std::vector<Value> values, bool accumulate_wide) {
  if (AllNative(values)) return native_->Fold(module, reducer, std::move(values), accumulate_wide);
  if (algebra_.IsExhausted()) return TooMuchWork("a reduction over devices");
  const Shape* shape = values[0].shape();
  const Reducer known = RecognizeReducer(module, reducer);
  const bool wide = accumulate_wide && IsFloat(known.element) && BitWidth(known.element) < 32;
  const ElementType parameter = module.At(reducer).At(module.At(reducer).parameters[0]).shape->type;
  const ElementType type = known.fn == ScalarFn::kNone ? parameter
                           : wide                      ? ElementType::kF32
                                                       : known.element;
  Tensors tensors;
  std::vector<const SymbolicTensor*> pointers;
  for (const Value& value : values) {
    tensors.push_back(ConvertedTo(TensorOf(value), value.shape()->type, type));
  }
  for (const SymbolicTensor& tensor : tensors) pointers.push_back(&tensor);
  auto cells = maker_.Zip(pointers);
  if (!cells) return TooManyPieces("a reduction over devices");
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    Term folded = cell.terms[0];
    if (known.fn != ScalarFn::kNone) {
      folded = algebra_.Fold(known.fn, type, std::move(cell.terms), instance_);
    } else {
      for (size_t i = 1; i < cell.terms.size(); ++i) {
        auto next = ApplyComputation(&algebra_, module, reducer,
                                     {std::move(folded), std::move(cell.terms[i])});
        if (!next) return Unsupported("unsupported-op", "a reducer that is not elementwise");
        folded = std::move((*next)[0]);
      }
    }
    folded = algebra_.Scalar(ScalarFn::kConvert, shape->type, {std::move(folded)});
    pieces.push_back({std::move(cell.region), std::move(folded)});
  }
  return Wrap(shape, maker_.Simplified(std::move(pieces)));
}

// Terms that turned out to be constant; integers and pred, small ones only.
std::optional<Value> SymbolicDomain::Concrete(const Value& value) const {
  if (value.IsNative()) return value;
  const auto* tensor = dynamic_cast<const SymbolicTensor*>(value.extended());
  if (tensor == nullptr || !IsExact(value.shape()->type) ||
      value.element_count() > kLargestNative) {
    return std::nullopt;
  }
  Value result = Value::NewNative(value.shape());
  std::byte* out = result.MutableBytes().data();
  const size_t width = static_cast<size_t>(result.element_bytes());
  for (const SymbolicPiece& piece : tensor->pieces()) {
    if (!Algebra::IsConstant(piece.term)) return std::nullopt;
    std::vector<int64_t> offsets = {piece.region.base};
    for (const RegionDigit& d : piece.region.digits) {
      const size_t before = offsets.size();
      for (int64_t i = 1; i < d.extent; ++i) {
        for (size_t k = 0; k < before; ++k) offsets.push_back(offsets[k] + i * d.stride);
      }
    }
    for (int64_t offset : offsets) {
      std::memcpy(out + static_cast<size_t>(offset) * width, piece.term.node->bytes.data(), width);
    }
  }
  return result;
}

}  // namespace hv
