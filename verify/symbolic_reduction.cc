#include "verify/symbolic_reduction.h"

#include <algorithm>
#include <utility>

#include "base/integers.h"
#include "eval/window.h"
#include "verify/symbolic_pieces.h"

namespace hv {
namespace {

// A box of the common domain and the operands' terms over it.
struct DomainPart {
  DigitMap map;
  std::vector<Term> terms;
};

// `inner` maps to the columns of `outer`.
DigitMap Compose(const DigitMap& outer, const DigitMap& inner) {
  DigitMap map;
  map.offset = outer.offset;
  for (size_t c = 0; c < outer.columns.size(); ++c) {
    const DigitMap::Column& column = outer.columns[c];
    if (column.row >= 0)
      map.offset[static_cast<size_t>(column.row)] += column.step * inner.offset[c];
  }
  for (const DigitMap::Column& c : inner.columns) {
    const DigitMap::Column& column = outer.columns[static_cast<size_t>(c.row)];
    map.columns.push_back({c.extent, column.row, column.step * c.step});
  }
  return map;
}

DigitMap WholeDomain(const Extents& extents) {
  DigitMap map;
  map.offset.assign(extents.size(), 0);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] > 1) map.columns.push_back({extents[d], static_cast<int>(d), 1});
  }
  return map;
}

Region AccessOf(const Extents& extents, const std::vector<int64_t>& strides) {
  Region region;
  for (size_t d = 0; d < extents.size(); ++d) region.digits.push_back({extents[d], strides[d]});
  return region;
}

std::optional<std::vector<DomainPart>> ReadAll(TensorMaker* maker, const Extents& extents,
                                               std::span<const ReductionOperand> operands) {
  std::vector<DomainPart> parts = {{WholeDomain(extents), {}}};
  for (const ReductionOperand& operand : operands) {
    Region access = AccessOf(extents, operand.strides);
    access.base = operand.base;
    std::vector<DomainPart> finer;
    for (const DomainPart& part : parts) {
      std::vector<ReadPart> read;
      if (!maker->Read(*operand.tensor, Restrict(access, part.map), &read)) return std::nullopt;
      if (finer.size() + read.size() > maker->limit()) return std::nullopt;
      for (ReadPart& r : read) {
        DomainPart smaller{Compose(part.map, r.access), {}};
        for (const Term& term : part.terms) {
          smaller.terms.push_back(maker->algebra().Substitute(term, r.access));
        }
        smaller.terms.push_back(std::move(r.term));
        finer.push_back(std::move(smaller));
      }
    }
    parts = std::move(finer);
  }
  return parts;
}

// Adds a term over a region to cells that may overlap it: cells are split so that each stays
// uniform.
class Overlay {
 public:
  explicit Overlay(TensorMaker* maker) : maker_(maker) {}

  bool Add(Region region, Term term, int64_t count) {
    std::vector<SymbolicPiece> fresh = {{std::move(region), std::move(term)}};
    for (size_t c = 0; c < cells_.size() && !fresh.empty(); ++c) {  // splitting appends cells
      std::vector<SymbolicPiece> outside;
      for (SymbolicPiece& piece : fresh) {
        if (!Meet(c, &piece, &outside, count)) return false;
      }
      fresh = std::move(outside);
    }
    for (SymbolicPiece& piece : fresh) cells_.push_back({piece.region, {std::move(piece.term)}});
    std::erase_if(cells_, [](const ZippedCell& cell) { return cell.terms.empty(); });
    return cells_.size() <= maker_->limit();
  }

  std::vector<ZippedCell>& cells() { return cells_; }

 private:
  // Splits cell c and `piece` along each other; what of the piece lies outside goes to `outside`.
  bool Meet(size_t c, SymbolicPiece* piece, std::vector<SymbolicPiece>* outside, int64_t count) {
    if (cells_[c].terms.empty()) {
      outside->push_back(std::move(*piece));
      return true;
    }
    if (cells_[c].region == piece->region) {
      cells_[c].terms.push_back(std::move(piece->term));
      return true;
    }
    std::vector<Overlap> overlaps;
    if (!Intersect(piece->region, cells_[c].region, maker_->limit(), &overlaps)) return false;
    if (overlaps.empty()) {
      outside->push_back(std::move(*piece));
      return true;
    }
    const ZippedCell cell = std::move(cells_[c]);
    cells_[c].terms.clear();
    Algebra& algebra = maker_->algebra();
    for (const Overlap& o : overlaps) {
      ZippedCell both{Restrict(piece->region, o.access), {}};
      for (const Term& term : cell.terms) both.terms.push_back(algebra.Substitute(term, o.region));
      both.terms.push_back(algebra.Substitute(piece->term, o.access));
      cells_.push_back(std::move(both));
    }
    for (const Region& rest : ComplementOf(piece->region, count)) {
      overlaps.clear();
      if (!Intersect(rest, cell.region, maker_->limit(), &overlaps)) return false;
      for (const Overlap& o : overlaps) {
        ZippedCell left{Restrict(rest, o.access), {}};
        for (const Term& term : cell.terms)
          left.terms.push_back(algebra.Substitute(term, o.region));
        cells_.push_back(std::move(left));
      }
    }
    for (const Region& rest : ComplementOf(cell.region, count)) {
      overlaps.clear();
      if (!Intersect(rest, piece->region, maker_->limit(), &overlaps)) return false;
      for (const Overlap& o : overlaps) {
        outside->push_back({Restrict(rest, o.access), algebra.Substitute(piece->term, o.region)});
      }
    }
    return true;
  }

  TensorMaker* maker_;
  std::vector<ZippedCell> cells_;
};

bool Contains(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::optional<SymbolicTensor> ReduceTensors(TensorMaker* maker, const ReductionSpec& spec,
                                            const ReductionDomain& domain,
                                            std::span<const ReductionOperand> operands,
                                            const TermFn& body, const std::optional<Term>& init,
                                            const TermFn& finish) {
  Algebra& algebra = maker->algebra();
  const std::span<const int64_t> kept(domain.extents.data(), domain.kept);
  const int64_t count = CountElements(kept);
  if (count == 0) return SymbolicTensor({});
  Region result = AccessOf(domain.extents, std::vector<int64_t>(domain.extents.size(), 0));
  const std::vector<int64_t> strides = RowMajorStrides(kept);
  for (size_t d = 0; d < kept.size(); ++d) result.digits[d].stride = strides[d];

  Overlay overlay(maker);
  if (init && !overlay.Add(WholeRegion(count), *init, count)) return std::nullopt;
  if (CountElements(domain.extents) != 0) {
    auto parts = ReadAll(maker, domain.extents, operands);
    if (!parts) return std::nullopt;
    for (DomainPart& part : *parts) {
      Extents extents;
      size_t bound = 0;
      for (const DigitMap::Column& c : part.map.columns) {
        extents.push_back(c.extent);
        if (c.row >= static_cast<int>(domain.kept)) ++bound;
      }
      Region region = Restrict(result, part.map);
      region.digits.resize(region.digits.size() - bound);  // bound columns come last
      Term term = algebra.Bind(spec.fn, spec.type, body(std::move(part.terms)), extents, bound);
      if (!overlay.Add(std::move(region), std::move(term), count)) return std::nullopt;
    }
  }
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : overlay.cells()) {
    Term term = algebra.Fold(spec.fn, spec.type, std::move(cell.terms), {});
    pieces.push_back({std::move(cell.region), finish({std::move(term)})});
  }
  return maker->Simplified(std::move(pieces));
}

ReductionDomain DomainOfReduce(const Shape& operand, std::span<const int64_t> dimensions,
                               std::vector<int64_t>* strides) {
  ReductionDomain domain;
  const std::vector<int64_t> all = RowMajorStrides(operand.dims);
  for (const bool reduced : {false, true}) {
    for (size_t d = 0; d < operand.dims.size(); ++d) {
      if (Contains(dimensions, static_cast<int64_t>(d)) != reduced) continue;
      domain.extents.push_back(operand.dims[d]);
      strides->push_back(all[d]);
    }
    if (!reduced) domain.kept = domain.extents.size();
  }
  return domain;
}

std::optional<WindowDomain> DomainOfWindow(std::span<const WindowDim> window, const Shape& operand,
                                           std::span<const int64_t> result_dims) {
  WindowDomain w;
  std::vector<int64_t> grid;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& dim = window[d];
    w.domain.extents.push_back(result_dims[d]);
    grid.push_back((result_dims[d] - 1) * dim.stride + (dim.size - 1) * dim.window_dilation + 1);
    if (__builtin_mul_overflow(w.places, grid[d], &w.places)) return std::nullopt;
  }
  w.domain.kept = window.size();
  const std::vector<int64_t> in = RowMajorStrides(operand.dims), out = RowMajorStrides(grid);
  for (size_t d = 0; d < window.size(); ++d) w.strides.push_back(window[d].stride * out[d]);
  w.elements.emplace();
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& dim = window[d];
    w.domain.extents.push_back(dim.size);
    w.strides.push_back(dim.window_dilation * out[d]);
    // Element i lies at place i * base_dilation + low.
    const int64_t first = std::max<int64_t>(0, CeilDiv(-dim.low, dim.base_dilation));
    const int64_t end =
        std::min(operand.dims[d], FloorDiv(grid[d] - 1 - dim.low, dim.base_dilation) + 1);
    if (!w.elements || first >= end) {
      w.elements.reset();
      continue;
    }
    w.elements->in_base += first * in[d];
    w.elements->out_base += (first * dim.base_dilation + dim.low) * out[d];
    w.elements->digits.push_back({end - first, in[d], dim.base_dilation * out[d]});
  }
  if (w.elements) Normalize(&*w.elements);
  return w;
}

std::optional<WindowDomain> DomainOfConvolution(const Instruction& convolution, const Shape& lhs,
                                                const Shape& rhs, const Shape& result,
                                                ReductionOperand* kernel) {
  const ConvDims& at = *convolution.Object<ConvDims>(Attr::kDimLabels);
  const size_t space = at.input_spatial.size();
  const std::vector<WindowDim> given =
      WindowOf(convolution.List<WindowDim>(Attr::kWindow), space);
  // The input's grid: its batch and features as they are.
  std::vector<WindowDim> window(lhs.dims.size());
  std::vector<int64_t> moved(lhs.dims.begin(), lhs.dims.end());
  for (size_t d = 0; d < space; ++d) {
    window[static_cast<size_t>(at.input_spatial[d])] = given[d];
    moved[static_cast<size_t>(at.input_spatial[d])] =
        result.dims[static_cast<size_t>(at.output_spatial[d])];
  }
  std::optional<WindowDomain> grid = DomainOfWindow(window, lhs, moved);
  if (!grid) return std::nullopt;
  const std::vector<int64_t> kernel_strides = RowMajorStrides(rhs.dims);
  const auto stride = [](std::span<const int64_t> list, int64_t d) {
    return list[static_cast<size_t>(d)];
  };
  WindowDomain w;
  w.places = grid->places;
  w.elements = std::move(grid->elements);
  const auto add = [&](int64_t extent, int64_t left, int64_t right) {
    w.domain.extents.push_back(extent);
    w.strides.push_back(left);
    kernel->strides.push_back(right);
  };
  // Groups are blocks of output features, with blocks of input features or of the batch.
  const int64_t features = convolution.Int(Attr::kFeatureGroupCount, 1);
  const int64_t batches = convolution.Int(Attr::kBatchGroupCount, 1);
  const int64_t group_in = stride(rhs.dims, at.kernel_input);
  const int64_t group_out = stride(rhs.dims, at.kernel_output) / (features * batches);
  const int64_t batch_stride = stride(grid->strides, at.input_batch);
  const int64_t feature_stride = stride(grid->strides, at.input_feature);
  const int64_t out_stride = stride(kernel_strides, at.kernel_output);
  for (size_t d = 0; d < result.dims.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (dim == at.output_batch) {
      add(result.dims[d], batch_stride, 0);
    } else if (dim == at.output_feature) {
      add(features, group_in * feature_stride, group_out * out_stride);
      add(batches, stride(result.dims, at.output_batch) * batch_stride, group_out * out_stride);
      add(group_out, 0, out_stride);
    } else {
      const auto s = std::find(at.output_spatial.begin(), at.output_spatial.end(), dim);
      add(result.dims[d], stride(grid->strides, at.input_spatial[static_cast<size_t>(
                              s - at.output_spatial.begin())]), 0);
    }
  }
  w.domain.kept = w.domain.extents.size();
  for (size_t d = 0; d < space; ++d) {
    const auto position = static_cast<size_t>(at.input_spatial[d]) + lhs.dims.size();
    const int64_t step = stride(kernel_strides, at.kernel_spatial[d]);
    if (given[d].reversed) kernel->base += (given[d].size - 1) * step;
    add(given[d].size, grid->strides[position], given[d].reversed ? -step : step);
  }
  add(group_in, feature_stride, stride(kernel_strides, at.kernel_input));
  return w;
}

ReductionDomain DomainOfDot(const Instruction& dot, const Shape& lhs, const Shape& rhs,
                            std::vector<int64_t>* lhs_strides, std::vector<int64_t>* rhs_strides) {
  const auto lhs_batch = dot.Ints(Attr::kLhsBatchDims), rhs_batch = dot.Ints(Attr::kRhsBatchDims);
  const auto lhs_sum = dot.Ints(Attr::kLhsContractingDims);
  const auto rhs_sum = dot.Ints(Attr::kRhsContractingDims);
  const std::vector<int64_t> left = RowMajorStrides(lhs.dims), right = RowMajorStrides(rhs.dims);
  ReductionDomain domain;
  auto add = [&](int64_t l, int64_t r) {  // a dimension of lhs, of rhs, or of both
    domain.extents.push_back(l >= 0 ? lhs.dims[static_cast<size_t>(l)]
                                    : rhs.dims[static_cast<size_t>(r)]);
    lhs_strides->push_back(l >= 0 ? left[static_cast<size_t>(l)] : 0);
    rhs_strides->push_back(r >= 0 ? right[static_cast<size_t>(r)] : 0);
  };
  for (size_t i = 0; i < lhs_batch.size(); ++i) add(lhs_batch[i], rhs_batch[i]);
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!Contains(lhs_batch, d) && !Contains(lhs_sum, d)) add(d, -1);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!Contains(rhs_batch, d) && !Contains(rhs_sum, d)) add(-1, d);
  }
  domain.kept = domain.extents.size();
  for (size_t i = 0; i < lhs_sum.size(); ++i) add(lhs_sum[i], rhs_sum[i]);
  return domain;
}

}  // namespace hv
