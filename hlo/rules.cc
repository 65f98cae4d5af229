#include "hlo/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hv {
namespace {

tl::unexpected<Error> At(const OpContext& context, uint32_t offset, std::string_view id,
                         const std::string& message) {
  Error error;
  error.diagnostics.push_back(
      MakeDiagnostic(context.module, offset, std::string(id),
                     fmt::format("{}: {}", ToString(context.instruction.opcode), message)));
  return tl::make_unexpected(std::move(error));
}

bool HasUnbounded(const Shape& shape) {
  return std::find(shape.dims.begin(), shape.dims.end(), kUnboundedSize) != shape.dims.end() ||
         std::any_of(shape.elements.begin(), shape.elements.end(),
                     [](const Shape* element) { return HasUnbounded(*element); });
}

bool SameKind(ElementType a, ElementType b) {
  return a == b || (IsFloat(a) && IsFloat(b)) || (IsInteger(a) && IsInteger(b)) ||
         (IsComplex(a) && IsComplex(b));
}

Status CheckOperandCount(const OpContext& context) {
  const OpDef& def = Definition(context.instruction);
  const int count = static_cast<int>(context.operand_count());
  if (count >= def.min_operands && (def.max_operands < 0 || count <= def.max_operands)) return {};
  const std::string expected = def.max_operands < 0 ? fmt::format("at least {}", def.min_operands)
                                                    : fmt::format("{}", def.min_operands);
  return Wrong(context, "operand-count",
               fmt::format("{} operands, but it takes {}", count, expected));
}

Status CheckAttributes(const OpContext& context) {
  const std::span<const AttrSpec> specs = Definition(context.instruction).attributes;
  for (const AttrSpec& spec : specs) {
    if (spec.required && !context.instruction.Has(spec.key)) {
      return Wrong(context, "attribute-missing",
                   fmt::format("attribute {} is missing", Row(spec.key).text));
    }
  }
  for (const Attribute& attribute : context.instruction.attributes) {
    if (attribute.key >= Attr::kSharding) continue;  // any instruction may carry these
    if (std::none_of(specs.begin(), specs.end(),
                     [&](const AttrSpec& spec) { return spec.key == attribute.key; })) {
      return Wrong(context, attribute.key, "attribute-unknown",
                   fmt::format("takes no attribute {}", Row(attribute.key).text));
    }
  }
  return {};
}

}  // namespace

tl::unexpected<Error> Wrong(const OpContext& context, std::string_view id, std::string message) {
  return At(context, context.instruction.offset, id, message);
}

tl::unexpected<Error> Wrong(const OpContext& context, Attr key, std::string_view id,
                            std::string message) {
  const Attribute* attribute = context.instruction.Find(key);
  const bool placed = attribute != nullptr && attribute->offset != Instruction::kNoOffset;
  return At(context, placed ? attribute->offset : context.instruction.offset, id, message);
}

Status CheckForm(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckOperandCount(context));
  HV_RETURN_IF_ERROR(CheckAttributes(context));
  // Where the result is declared, its operands have been looked at as results.
  const Shape* declared = context.instruction.shape;
  bool unbounded = declared != nullptr && HasUnbounded(*declared);
  for (size_t i = 0; declared == nullptr && i < context.operand_count(); ++i) {
    unbounded = unbounded || HasUnbounded(context.operand(i));
  }
  if (!unbounded) return {};
  return Wrong(context, "unbounded-dimension", "a dimension has no bound");
}

Result<const Shape*> InferShape(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckForm(context));
  const InferFn infer = Definition(context.instruction).infer;
  if (infer == nullptr) return Wrong(context, "shape-needed", "its result shape must be written");
  return infer(context);
}

bool SameType(ElementType a, ElementType b, FloatWidth width) {
  return a == b || (width == FloatWidth::kAny && IsFloat(a) && IsFloat(b));
}

bool Compatible(const Shape& a, const Shape& b, FloatWidth width) {
  if (&a == &b) return true;
  return a.is_buffer == b.is_buffer && SameType(a.type, b.type, width) && SameDims(a, b) &&
         std::equal(
             a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
             [width](const Shape* x, const Shape* y) { return Compatible(*x, *y, width); });
}

Result<const Shape*> MakeArray(const OpContext& context, ElementType type, Dims dims) {
  if (CountElements(dims) < 0) {
    return Wrong(context, "size-overflow", fmt::format("a result of dimensions {}", Text(dims)));
  }
  return context.shapes.Array(type, dims);
}

const Shape* WithType(const OpContext& context, const Shape& shape, ElementType type) {
  return shape.type == type ? &shape : context.shapes.WithType(shape, type);
}

const Shape* TupleOrSingle(const OpContext& context, std::span<const Shape* const> shapes) {
  return shapes.size() == 1 ? shapes[0] : context.shapes.Tuple(shapes);
}

Status CheckArrays(const OpContext& context, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (!context.operand(i).IsArray()) {
      return Wrong(context, "operand-array",
                   fmt::format("operand {} is {}, no array", i, Text(context.operand(i))));
    }
  }
  return {};
}

Status CheckScalar(const OpContext& context, size_t operand) {
  return CheckRank(context, operand, 0);
}

Status CheckRank(const OpContext& context, size_t operand, int64_t rank) {
  const Shape& shape = context.operand(operand);
  if (shape.IsArray() && shape.rank() == rank) return {};
  return Wrong(context, "operand-rank",
               fmt::format("operand {} is {}, but must have rank {}", operand, Text(shape), rank));
}

Status CheckSameDims(const OpContext& context, size_t a, size_t b) {
  if (SameDims(context.operand(a), context.operand(b))) return {};
  return Wrong(context, "operand-dims",
               fmt::format("dimensions of operands {} and {} differ: {} and {}", a, b,
                           Text(context.operand(a)), Text(context.operand(b))));
}

Status CheckSameType(const OpContext& context, size_t a, size_t b, FloatWidth width) {
  if (SameType(context.operand(a).type, context.operand(b).type, width)) return {};
  return Wrong(context, "operand-types",
               fmt::format("element types of operands {} and {} differ: {} and {}", a, b,
                           Text(context.operand(a)), Text(context.operand(b))));
}

Status CheckSameKind(const OpContext& context, size_t a, size_t b) {
  if (SameKind(context.operand(a).type, context.operand(b).type)) return {};
  return CheckSameType(context, a, b, FloatWidth::kExact);
}

ElementType ProductType(const OpContext& context, size_t a, size_t b) {
  const ElementType x = context.operand(a).type, y = context.operand(b).type;
  const Shape* declared = context.instruction.shape;
  if (declared != nullptr && SameKind(declared->type, x)) return declared->type;
  return BitWidth(y) > BitWidth(x) ? y : x;
}

Status CheckAccepted(const OpContext& context, size_t operand, TypeSet accepted) {
  const ElementType type = context.operand(operand).type;
  if (Contains(accepted, type)) return {};
  return Wrong(context, "operand-type",
               fmt::format("operand {} of type {} is not accepted", operand, ToString(type)));
}

Status CheckResult(const OpContext& context, const Shape& expected, FloatWidth width) {
  if (Compatible(*context.instruction.shape, expected, width)) return {};
  return Wrong(context, "result-shape",
               fmt::format("result is declared {}, but is {}", Text(*context.instruction.shape),
                           Text(expected)));
}

Status CheckDimension(const OpContext& context, Attr key, int64_t dimension, int64_t rank) {
  if (dimension >= 0 && dimension < rank) return {};
  return Wrong(context, key, "dimension-range",
               fmt::format("{} names dimension {} of rank {}", Row(key).text, dimension, rank));
}

Status CheckDimensions(const OpContext& context, Attr key, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t d : context.instruction.Ints(key)) {
    HV_RETURN_IF_ERROR(CheckDimension(context, key, d, rank));
    if (seen[static_cast<size_t>(d)]) {
      return Wrong(context, key, "dimension-twice",
                   fmt::format("{} names dimension {} twice", Row(key).text, d));
    }
    seen[static_cast<size_t>(d)] = true;
  }
  return {};
}

Status CheckCount(const OpContext& context, Attr key, size_t count) {
  const Attribute* attribute = context.instruction.Find(key);
  const size_t found = attribute == nullptr ? 0 : attribute->size;
  if (found == count) return {};
  return Wrong(context, key, "dimension-count",
               fmt::format("{} has {} entries, but must have {}", Row(key).text, found, count));
}

Result<int64_t> OneDimension(const OpContext& context, Attr key, int64_t rank) {
  HV_RETURN_IF_ERROR(CheckCount(context, key, 1));
  const int64_t dimension = context.instruction.Ints(key)[0];
  HV_RETURN_IF_ERROR(CheckDimension(context, key, dimension, rank));
  return dimension;
}

Status CheckSignature(const OpContext& context, Attr key, ComputationIndex callee,
                      std::span<const Shape* const> parameters, const Shape* result,
                      FloatWidth width) {
  const Computation& computation = context.module.At(callee);
  if (computation.parameters.size() != parameters.size()) {
    return Wrong(context, key, "computation-parameters",
                 fmt::format("{} takes {} parameters, but is called with {}", computation.name,
                             computation.parameters.size(), parameters.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& formal = *computation.At(computation.parameters[i]).shape;
    if (!Compatible(formal, *parameters[i], width)) {
      return Wrong(context, key, "computation-parameters",
                   fmt::format("parameter {} of {} is {}, but it is called with {}", i,
                               computation.name, Text(formal), Text(*parameters[i])));
    }
  }
  if (result == nullptr || Compatible(*computation.Root().shape, *result, width)) return {};
  return Wrong(context, key, "computation-result",
               fmt::format("{} returns {}, but must return {}", computation.name,
                           Text(*computation.Root().shape), Text(*result)));
}

Status CheckReducer(const OpContext& context, Attr key, size_t n) {
  std::vector<const Shape*> scalars;
  for (size_t i = 0; i < n; ++i) scalars.push_back(context.shapes.Scalar(context.operand(i).type));
  const Shape* result = TupleOrSingle(context, scalars);
  for (size_t i = 0; i < n; ++i) scalars.push_back(scalars[i]);
  return CheckSignature(context, key, scalars, result, FloatWidth::kAny);
}

const Shape& ResultOf(const OpContext& context, Attr key) {
  return *context.module.At(context.instruction.Computation(key)).Root().shape;
}

std::string Text(const Shape& shape) { return ToString(shape, /*with_layout=*/false); }

std::string Text(Dims dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

}  // namespace hv
