// Writes steps into a body of a sketch, at its end or at a place inside, and works out their shapes.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/sketch.h"

namespace hv {

// A value already written.
struct SketchValue {
  std::string name, type;
  Extent dims;
};

class SketchWriter {
 public:
  explicit SketchWriter(Sketch* sketch, size_t body = 0)
      : SketchWriter(sketch, body, sketch->bodies[body].steps.size()) {}
  // Before step `at`.
  SketchWriter(Sketch* sketch, size_t body, size_t at) : sketch_(sketch), body_(body), at_(at) {}

  Sketch& sketch() { return *sketch_; }
  const Mesh& mesh() const { return sketch_->mesh; }
  SketchBody& body() { return sketch_->bodies[body_]; }
  size_t at() const { return at_; }
  void Root(const SketchValue& value) { body().root = value.name; }

  // The step last written, to finish it.
  SketchStep& Last() { return body().steps[at_ - 1]; }
  SketchValue Put(SketchStep step);
  SketchValue Op(const std::string& opcode, const std::string& type, Extent dims,
                 const std::vector<SketchValue>& operands);

  SketchValue Parameter(const std::string& type, Extent dims);
  // `stem` names the constant, so that mutants know what it is for.
  SketchValue Constant(const std::string& type, int64_t value,
                       const std::string& stem = "constant");
  SketchValue ConstantText(const std::string& type, Extent dims, const std::string& text,
                           const std::string& stem);
  SketchValue Table(const std::string& type, const std::vector<int64_t>& values,
                    const std::string& stem);
  SketchValue Splat(const SketchValue& scalar, Extent dims);

  SketchValue Unary(const std::string& opcode, const SketchValue& a);
  SketchValue Binary(const std::string& opcode, const SketchValue& a, const SketchValue& b);
  SketchValue Compare(const std::string& direction, const SketchValue& a, const SketchValue& b);
  SketchValue Select(const SketchValue& p, const SketchValue& a, const SketchValue& b);
  SketchValue Convert(const SketchValue& a, const std::string& type);
  SketchValue Reshape(const SketchValue& a, Extent dims);
  SketchValue Transpose(const SketchValue& a, const std::vector<int64_t>& order);
  SketchValue Reverse(const SketchValue& a, int64_t dim);
  SketchValue Broadcast(const SketchValue& a, Extent dims, const std::vector<int64_t>& mapping);
  SketchValue Slice(const SketchValue& a, int64_t dim, int64_t low, int64_t high);
  SketchValue Pad(const SketchValue& a, const SketchValue& with, int64_t dim, int64_t low,
                  int64_t high);
  SketchValue Concatenate(const std::vector<SketchValue>& parts, int64_t dim);
  // Starts at `start` (a scalar) in `dim`, at 0 elsewhere.
  SketchValue DynamicSlice(const SketchValue& a, const SketchValue& start, int64_t dim,
                           int64_t size);
  SketchValue DynamicUpdate(const SketchValue& a, const SketchValue& update,
                            const SketchValue& start, int64_t dim);
  SketchValue Reduce(const SketchValue& a, const SketchValue& start,
                     const std::vector<int64_t>& dims, const std::string& fn);
  SketchValue Dot(const SketchValue& a, const SketchValue& b, int64_t a_dim, int64_t b_dim);
  SketchValue Tuple(const std::vector<SketchValue>& elements);
  SketchValue Element(const SketchValue& tuple, int64_t index, const SketchValue& like);

  SketchValue AllReduce(const SketchValue& a, const SketchGroups& groups, const std::string& fn);
  SketchValue ReduceScatter(const SketchValue& a, const SketchGroups& groups, int64_t dim,
                            int64_t size, const std::string& fn);
  SketchValue AllGather(const SketchValue& a, const SketchGroups& groups, int64_t dim,
                        int64_t size);
  SketchValue AllToAll(const SketchValue& a, const SketchGroups& groups, int64_t dim);
  SketchValue Permute(const SketchValue& a, const Pairs& pairs, bool channel);

  // replica-id * partitions + partition-id, as u32.
  SketchValue DeviceNumber();
  // The entry of `table` for this device, a scalar.
  SketchValue Lookup(const SketchValue& table);
  SketchValue PerDevice(const std::string& type, const std::vector<int64_t>& values,
                        const std::string& stem) {
    return Lookup(Table(type, values, stem));
  }

 private:
  Sketch* sketch_;
  size_t body_;
  size_t at_;
};

// The shape of a tuple of these.
std::string TupleType(const std::vector<SketchValue>& elements);
// 0 but for 1 of multiplication and what leaves maximum, minimum, and, or unchanged.
std::string IdentityText(const std::string& fn, const std::string& type);
bool IsFloatType(const std::string& type);

}  // namespace hv
