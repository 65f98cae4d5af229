// Reads shapes. Most shapes of a module are repetitions, so array shapes are looked up by their
// source text first. Source: hlo_text.md section 5.
#pragma once

#include <string_view>
#include <vector>

#include "hlo/reader.h"

namespace hv {

class ShapeReader {
 public:
  explicit ShapeReader(Reader* in);

  // A shape at the cursor; null after reporting what is wrong.
  const Shape* Read();
  // Does a shape start here? Names and opcodes are never followed by '['.
  bool AtShape();

 private:
  struct Entry {
    std::string_view text;
    const Shape* shape = nullptr;
  };

  const Shape* ReadTuple();
  const Shape* ReadBuffer();
  const Shape* ReadArray();  // through the cache
  const Shape* ParseArray();
  bool ParseDimension(bool* is_dynamic);
  bool ParseLayout(Shape* shape);
  bool ParseMinorToMajor(int64_t rank);
  bool ParseLayoutSuffix();
  bool ParseLayoutPart(std::string_view name);
  bool AtLayout();
  // End of the array shape that starts at `first` if it is spelled without blanks; else null.
  static const char* PlainEnd(const char* first);
  Entry* Find(std::string_view text);
  void Remember(std::string_view text, const Shape* shape);

  Reader& in_;
  std::vector<Entry> cache_;
  size_t cached_ = 0;
  std::vector<int64_t> dims_, minor_to_major_;
};

}  // namespace hv
