// Attribute values of instructions. The table attributes.def gives each attribute its text and value
// kind; parser and printer handle one kind each, in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hlo/device_list.h"
#include "hlo/literal.h"
#include "hlo/shape.h"

namespace hv {

using InstructionIndex = int32_t;  // position in its computation
using ComputationIndex = int32_t;  // position in its module

enum class Attr : uint8_t {
#define HV_ATTRIBUTE(name, text, kind) k##name,
#include "hlo/attributes.def"
#undef HV_ATTRIBUTE
};

enum class AttrKind : uint8_t {
  kBool,          // true / false
  kInt,           // 7
  kReal,          // 0.001
  kInts,          // {1,0}; also a bare integer is read as one element where XLA does
  kIntLists,      // {{1,2},{3}} or {1,2} (then one list)
  kBools,         // {true,false}
  kWord,          // an enum word, exact spelling
  kWordAnyCase,   // an enum word, read in any case, kept in its usual spelling
  kWordsAnyCase,  // {default,highest}
  kString,        // "text"
  kBraces,        // a balanced {...}, kept as written
  kConfig,        // "text" or {json}, kept as written
  kDictionary,    // frontend_attributes: {key="text",other={...}}
  kSlice,         // {[0:8:2], [1:3]}
  kPadding,       // 0_1x2_-1_3
  kWindow,        // {size=3x3 stride=2x2 ...}
  kDimLabels,     // b01f_01io->b01f
  kDeviceList,    // replica_groups
  kPairs,         // {{0,1},{1,0}}
  kShape,
  kShapes,        // {shape, shape}
  kLiteral,       // shape literal
  kSharding,      // braces, checked, kept as written
  kComputation,   // name
  kComputations,  // {a, b}
  kInstructions,  // {a, %b}
};

struct AttrRow {
  std::string_view text;
  AttrKind kind;
};

inline constexpr AttrRow kAttributes[] = {
#define HV_ATTRIBUTE(name, text, kind) {text, AttrKind::kind},
#include "hlo/attributes.def"
#undef HV_ATTRIBUTE
};
inline constexpr int kAttributeCount = static_cast<int>(std::size(kAttributes));
constexpr const AttrRow& Row(Attr attr) { return kAttributes[static_cast<int>(attr)]; }
std::optional<Attr> ParseAttr(std::string_view text);

struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
};

struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
};

struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
};

// Convolution dimension numbers. Spatial vectors list, per spatial digit, the dimension it labels.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0, kernel_input = 0, kernel_output = 0, output_batch = 0,
          output_feature = 0;
  std::span<const int64_t> input_spatial, kernel_spatial, output_spatial;
  std::string_view text;  // as written
};

struct SourceTarget {
  int64_t source = 0, target = 0;
};

struct DictionaryEntry {
  std::string_view key;
  std::string_view value;  // unescaped text of a string value, or the raw {...}
  bool is_string = true;
};

// One attribute of one instruction. Which member holds the value follows from Row(key).kind:
// kBool, kInt, kComputation -> integer; kReal -> real; lists -> pointer+size; words, strings, raw
// text -> text. Trivially destructible; everything it points to lives in the module's arena or text.
struct Attribute {
  Attr key = Attr::kIndex;
  uint32_t offset = 0;  // byte offset in the module's text, for diagnostics
  union {
    int64_t integer = 0;
    double real;
    const void* data;  // first element of the list, or the object
  };
  uint64_t size = 0;      // number of elements of a list
  std::string_view text;  // words, strings (unescaped), raw texts (as written)
};

}  // namespace hv
