// Runs a module on all devices at once: the value of an instruction is one tensor over devices and
// elements, so an all-reduce is a sum over digits of the device, an all-gather moves them, and a
// slice at an offset that follows the device id is a diagonal. Cost follows the digits of the mesh,
// not the devices. For straight programs whose control is concrete and whose groups are regular;
// whatever else is met, nothing comes out and the devices are run one by one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/mesh.h"
#include "verify/device_digits.h"
#include "verify/prover.h"
#include "verify/symbolic_domain.h"

namespace hv {

// A leaf of the result on all devices: element e of device d stands at d * count + e.
struct LockstepOutput {
  SymbolicTensor tensor;
  int64_t count = 0;  // elements of one device
};

class Lockstep {
 public:
  Lockstep(SymbolicDomain* domain, const Module& module, const Mesh& mesh,
           const ProofOptions& options);

  std::optional<std::vector<LockstepOutput>> Run();

 private:
  // One array on all devices: a value of the array's shape if all devices hold the same, else of
  // the shape with the devices as first dimension.
  struct Lane {
    Value value;
    const Shape* shape = nullptr;  // on one device
    bool uniform = false;
  };
  using Lanes = std::vector<Lane>;  // the arrays of a value
  using MaybeLanes = std::optional<Lanes>;

  MaybeLanes RunComputation(const Computation& computation, const std::vector<Lanes>& arguments);
  MaybeLanes RunInstruction(const Computation& computation, const Instruction& instruction,
                            std::vector<Lanes> operands);
  MaybeLanes Parameter(const Instruction& parameter);
  MaybeLanes DeviceIds(const Instruction& instruction);
  MaybeLanes Uniform(const Computation& computation, const Instruction& instruction,
                     const Lanes& operands);
  MaybeLanes Scalar(const Computation& computation, const Instruction& instruction,
                    const Lanes& operands);
  MaybeLanes View(const Computation& computation, const Instruction& instruction, Lanes operands);
  MaybeLanes Reduce(const Computation& computation, const Instruction& instruction,
                    const Lanes& operands);
  MaybeLanes Dot(const Computation& computation, const Instruction& instruction,
                 const Lanes& operands);
  MaybeLanes Collective(const Instruction& instruction, const Shape& result, const Lanes& operands);
  std::optional<Lane> Reduction(const Instruction& instruction, const GroupDigits& digits,
                                const std::string& instance, const Lane& operand,
                                const Shape& result);
  std::optional<SymbolicTensor> Sum(const Reducer& reducer, const GroupDigits& digits,
                                    const SymbolicTensor& tensor, int64_t count);
  std::optional<Lane> Exchange(const Instruction& instruction, const GroupDigits& digits,
                               const Lane& operand, const Shape& result);
  std::optional<Lane> Permute(const Grouping& grouping, const Lane& operand, const Shape& result);

  // Starts of all devices, clamped; one list for all if they are the same everywhere.
  std::optional<std::vector<std::vector<int64_t>>> StartsOf(const Shape& array, const Shape& window,
                                                            std::span<const Lane> starts);
  // Pieces of every device (or one list for all) as pieces of all devices at once.
  std::optional<Pieces> OnAllDevices(const std::vector<Pieces>& by_device,
                                     std::span<const Lane> operands, int64_t result_count);
  std::optional<Lane> Moved(const Shape* shape, const Pieces& pieces, std::vector<Value> operands);
  // The lane over devices and elements; `repeats`: a scalar taken that many times.
  std::optional<Value> Batch(const Lane& lane, int64_t repeats = 1);
  const Shape* Batched(const Shape& shape);
  const Shape* Batched(const Shape& shape, std::vector<int64_t> dims);
  Instruction Shifted(const Instruction& instruction, std::initializer_list<Attr> dimensions,
                      std::initializer_list<Attr> batch);

  SymbolicDomain& domain_;
  const Module& module_;
  const Mesh mesh_;
  const int64_t devices_;
  const ProofOptions& options_;
  int64_t met_ = 0;  // instructions, each as often as it is called
  int depth_ = 0;    // of calls
  GroupingTable groupings_;
  std::deque<Shape> shapes_;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<std::vector<Attribute>> attributes_;
  std::map<const Shape*, const Shape*> batched_;
};

}  // namespace hv
