// Reads attribute values, one function per AttrKind. Kinds that name computations or instructions
// are the parser's, as they need its scopes. Source: hlo_text.md sections 8 and 9.
#pragma once

#include <vector>

#include "hlo/attribute.h"
#include "hlo/shape_reader.h"

namespace hv {

class ValueReader {
 public:
  ValueReader(Reader* in, ShapeReader* shapes) : in_(*in), shapes_(*shapes) {}

  // The value of attribute->key, after its '='. Not for kComputation(s) and kInstructions.
  bool Read(Attribute* attribute);

 private:
  bool ReadInts(Attribute* attribute);
  bool ReadIntLists(Attribute* attribute);
  bool ReadBools(Attribute* attribute);
  bool ReadWords(Attribute* attribute);
  bool ReadConfig(Attribute* attribute);
  bool ReadDictionary(Attribute* attribute);
  bool ReadDictionaryEntry(DictionaryEntry* entry);
  bool ReadSlice(Attribute* attribute);
  bool ReadPadding(Attribute* attribute);
  bool ReadPaddingDim(PaddingDim* dim, bool with_interior);
  bool ReadWindow(Attribute* attribute);
  bool ReadWindowPart(std::string_view key, std::vector<WindowDim>* dims);
  bool ReadDimLabels(Attribute* attribute);
  bool ReadPairs(Attribute* attribute);
  bool ReadShapes(Attribute* attribute);
  bool ReadTypedLiteral(Attribute* attribute);
  bool ReadEnumWord(Attr key, std::string_view* word);

  // item (x item)*, as in 2x3x4; blanks end it.
  template <class Item>
  bool Crossed(Item&& item);
  template <class T>
  bool Store(const std::vector<T>& values, Attribute* attribute);

  Reader& in_;
  ShapeReader& shapes_;
  std::vector<int64_t> ints_;
};

}  // namespace hv
