#include "sim/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hlo/float_formats.h"
#include "sim/literal_json.h"

namespace hv {
namespace {

double RealAt(ElementType type, const std::byte* element) {
  if (type == ElementType::kF64) {
    double value;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(HostBytes(type)));
  return static_cast<double>(FloatFromBits(type, bits));
}

bool RealsAgree(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

bool ElementsAgree(ElementType type, const std::byte* a, const std::byte* b, double tolerance) {
  const size_t width = static_cast<size_t>(HostBytes(type));
  if (std::memcmp(a, b, width) == 0) return true;
  const ElementType part = ComponentType(type);
  if (!IsFloat(part)) return false;
  const size_t part_width = static_cast<size_t>(HostBytes(part));
  for (size_t at = 0; at < width; at += part_width) {
    if (!RealsAgree(RealAt(part, a + at), RealAt(part, b + at), tolerance)) return false;
  }
  return true;
}

std::vector<int64_t> IndexOf(const Shape& shape, int64_t position) {
  std::vector<int64_t> index(shape.dims.size());
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = position % shape.dims[d];
    position /= shape.dims[d];
  }
  return index;
}

}  // namespace

std::optional<ElementDifference> Compare(const Value& got, const Value& expected,
                                         double tolerance) {
  const ElementType type = got.shape()->type;
  const int64_t width = HostBytes(type);
  ElementDifference difference;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const std::byte* a = got.bytes().data() + i * width;
    const std::byte* b = expected.bytes().data() + i * width;
    if (ElementsAgree(type, a, b, tolerance)) continue;
    if (difference.count++ > 0) continue;
    difference.index = IndexOf(*got.shape(), i);
    AppendElementJson(type, a, &difference.got);
    AppendElementJson(type, b, &difference.expected);
  }
  if (difference.count == 0) return {};
  return difference;
}

}  // namespace hv
