#include "sim/recipe.h"

#include <string>

#include "base/check.h"

namespace hv {
namespace {

using Dims = std::vector<int64_t>;

Dims DimsOf(const Shape& shape) { return {shape.dims.begin(), shape.dims.end()}; }

// Block `block` of `count` equal ones along `dimension`.
Part Block(const Collective& collective, int64_t member, int64_t operand, size_t dimension,
           int64_t block, int64_t count) {
  Part part = WholeOperand(collective, member, operand);
  part.sizes[dimension] /= count;
  part.starts[dimension] = block * part.sizes[dimension];
  return part;
}

size_t Dimension(const Collective& collective) {
  return static_cast<size_t>(collective.instruction->Ints(Attr::kDimensions)[0]);
}

// What one member receives of a group of `size`, op by op.
class RecipeWriter {
 public:
  RecipeWriter(const Collective& collective, int64_t position, const std::vector<DeviceId>& members,
               const Controls& controls)
      : collective_(collective), position_(position), members_(members), controls_(controls),
        size_(static_cast<int64_t>(members.size())) {
    for (const Shape* shape : collective.results) leaves_.push_back({shape, false, {}});
  }

  Result<std::vector<LeafRecipe>> Write() {
    switch (collective_.opcode) {
      case Opcode::kAllReduce: AllReduce(); break;
      case Opcode::kReduceScatter: ReduceScatter(); break;
      case Opcode::kAllGather: AllGather(); break;
      case Opcode::kAllToAll: AllToAll(); break;
      case Opcode::kCollectivePermute: Permute(); break;
      case Opcode::kRecv: FromMember(0); break;
      case Opcode::kSend: break;
      case Opcode::kCollectiveBroadcast: HV_RETURN_IF_ERROR(Broadcast()); break;
      case Opcode::kRaggedAllToAll: HV_RETURN_IF_ERROR(RaggedAllToAll()); break;
      default: HV_CHECK(false, "no recipe for " + std::string(ToString(collective_.opcode)));
    }
    return std::move(leaves_);
  }

 private:
  void AllReduce() {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      leaves_[i].fold = true;
      leaves_[i].parts = {WholeOperand(collective_, 0, static_cast<int64_t>(i))};
    }
  }

  void ReduceScatter() {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      leaves_[i].fold = true;
      leaves_[i].parts = {Block(collective_, 0, static_cast<int64_t>(i), Dimension(collective_),
                                position_, size_)};
    }
  }

  void AllGather() {
    const size_t d = Dimension(collective_);
    for (size_t i = 0; i < leaves_.size(); ++i) {
      for (int64_t m = 0; m < size_; ++m) {
        Part part = WholeOperand(collective_, m, static_cast<int64_t>(i));
        part.at[d] = m * part.sizes[d];
        leaves_[i].parts.push_back(std::move(part));
      }
    }
  }

  void AllToAll() {
    if (!collective_.instruction->Has(Attr::kDimensions)) {
      for (int64_t m = 0; m < size_; ++m) {
        leaves_[static_cast<size_t>(m)].parts = {WholeOperand(collective_, m, position_)};
      }
      return;
    }
    const size_t d = Dimension(collective_);
    for (int64_t m = 0; m < size_; ++m) {
      Part part = Block(collective_, m, 0, d, position_, size_);
      part.at[d] = m * part.sizes[d];
      leaves_[0].parts.push_back(std::move(part));
    }
  }

  // Every result leaf is the operand of that number on one member.
  void FromMember(int64_t member) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      Part part;
      part.member = member;
      part.operand = static_cast<int64_t>(i);
      part.type = leaves_[i].shape->type;
      part.sizes = DimsOf(*leaves_[i].shape);
      part.starts.assign(part.sizes.size(), 0);
      part.at = part.starts;
      leaves_[i].parts = {std::move(part)};
    }
  }

  void Permute() {
    const DeviceId self = members_[static_cast<size_t>(position_)];
    const int64_t source = collective_.grouping->source_of[static_cast<size_t>(self.value)];
    if (source < 0) return;  // no pair targets it: zeros
    FromMember(collective_.grouping->position_of[static_cast<size_t>(source)]);
  }

  Status Broadcast() {
    if (!collective_.instruction->Bool(Attr::kHasDynamicRoot)) {
      FromMember(0);
      return {};
    }
    const std::vector<int64_t>& roots = controls_[static_cast<size_t>(position_)][0];
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const int64_t root = i < roots.size() ? roots[i] : -1;
      if (root < 0 || root >= size_) {
        return Invalid("undefined-input", "collective-broadcast from root " + std::to_string(root) +
                                              " of a group of " + std::to_string(size_));
      }
      leaves_[i].parts = {WholeOperand(collective_, root, static_cast<int64_t>(i))};
    }
    return {};
  }

  // Controls: input_offsets, send_sizes, output_offsets, recv_sizes of each member, [size] or
  // [size, updates] in row-major order.
  Status RaggedAllToAll() {
    leaves_[0].parts.push_back(WholeOperand(collective_, position_, 1));
    for (int64_t m = 0; m < size_; ++m) {
      const auto& sender = controls_[static_cast<size_t>(m)];
      const int64_t updates = static_cast<int64_t>(sender[0].size()) / size_;
      for (int64_t u = 0; u < updates; ++u) {
        HV_RETURN_IF_ERROR(AddRows(m, static_cast<size_t>(position_ * updates + u)));
      }
    }
    return {};
  }

  Status AddRows(int64_t sender, size_t index) {
    const auto& control = controls_[static_cast<size_t>(sender)];
    const int64_t from = control[0][index], rows = control[1][index], to = control[2][index];
    const int64_t input_rows = collective_.operands[0]->dims[0];
    const int64_t output_rows = collective_.operands[1]->dims[0];
    if (rows < 0 || from < 0 || to < 0 || from > input_rows - rows || to > output_rows - rows) {
      return Invalid("undefined-input",
                     "ragged-all-to-all moves rows " + std::to_string(from) + "+" +
                         std::to_string(rows) + " to row " + std::to_string(to) +
                         ": outside of the input or output");
    }
    if (rows == 0) return {};
    Part part = WholeOperand(collective_, sender, 0);
    part.starts[0] = from;
    part.sizes[0] = rows;
    part.at[0] = to;
    leaves_[0].parts.push_back(std::move(part));
    return {};
  }

  const Collective& collective_;
  const int64_t position_;
  const std::vector<DeviceId>& members_;
  const Controls& controls_;
  const int64_t size_;
  std::vector<LeafRecipe> leaves_;
};

}  // namespace

Part WholeOperand(const Collective& collective, int64_t member, int64_t operand) {
  Part part;
  part.member = member;
  part.operand = operand;
  part.type = collective.operands[static_cast<size_t>(operand)]->type;
  part.sizes = DimsOf(*collective.operands[static_cast<size_t>(operand)]);
  part.starts.assign(part.sizes.size(), 0);
  part.at = part.starts;
  return part;
}

size_t FirstControl(const Collective& collective) {
  const size_t count = collective.operands.size();
  if (collective.opcode == Opcode::kRaggedAllToAll) return 2;
  if (collective.opcode == Opcode::kCollectiveBroadcast &&
      collective.instruction->Bool(Attr::kHasDynamicRoot)) {
    return count - 1;
  }
  return count;
}

bool Reduces(const Collective& collective) {
  return collective.opcode == Opcode::kAllReduce || collective.opcode == Opcode::kReduceScatter;
}

std::optional<Part> ShareOf(const Collective& collective, int64_t operand,
                            std::span<const int64_t> positions, int64_t size) {
  if (collective.opcode == Opcode::kAllReduce) return WholeOperand(collective, 0, operand);
  const int64_t count = static_cast<int64_t>(positions.size());
  if (positions.back() - positions.front() + 1 != count) return {};
  const size_t d = Dimension(collective);
  Part share = Block(collective, 0, operand, d, positions.front(), size);
  share.sizes[d] *= count;
  return share;
}

bool ResultIsShared(const Collective& collective) {
  const Opcode opcode = collective.opcode;
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather ||
         (opcode == Opcode::kCollectiveBroadcast &&
          FirstControl(collective) == collective.operands.size());
}

Result<std::vector<LeafRecipe>> RecipeFor(const Collective& collective, int64_t position,
                                          const std::vector<DeviceId>& members,
                                          const Controls& controls) {
  return RecipeWriter(collective, position, members, controls).Write();
}

}  // namespace hv
