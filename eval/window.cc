// Hits are found once per dimension and position; rows along the last dimension go to the combiner
// as spans.
#include "eval/window.h"

#include <cstring>
#include <optional>

#include "eval/elementwise_call.h"
#include "eval/window_doubling.h"
#include "hlo/view.h"

namespace hv {

int64_t InputAt(const WindowDim& w, int64_t output, int64_t k, int64_t inputs) {
  const int64_t p = output * w.stride + k * w.window_dilation - w.low;
  const bool hit = p >= 0 && p % w.base_dilation == 0 && p / w.base_dilation < inputs;
  return hit ? p / w.base_dilation : -1;
}

std::vector<WindowHit> HitsOf(const WindowDim& w, int64_t k, int64_t inputs, int64_t outputs) {
  std::vector<WindowHit> hits;
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t input = InputAt(w, o, k, inputs);
    if (input >= 0) hits.push_back({o, input});
  }
  return hits;
}

WindowWalk::WindowWalk(std::span<const WindowDim> window, std::span<const int64_t> input,
                       std::span<const int64_t> output)
    : input_strides_(RowMajorStrides(input)), output_strides_(RowMajorStrides(output)) {
  for (size_t d = 0; d < window.size(); ++d) {
    hits_.emplace_back();
    for (int64_t k = 0; k < window[d].size; ++k) {
      hits_.back().push_back(HitsOf(window[d], k, input[d], output[d]));
    }
    sizes_.push_back(window[d].size);
    positions_ *= window[d].size;
  }
}

bool WindowWalk::Row::IsRun() const {
  const WindowHit &first = hits.front(), &last = hits.back();
  const int64_t steps = std::ssize(hits) - 1;
  return last.output - first.output == steps && last.input - first.input == steps;
}

std::vector<WindowDim> WindowOf(std::span<const WindowDim> attribute, size_t rank) {
  std::vector<WindowDim> window(attribute.begin(), attribute.end());
  window.resize(rank);
  return window;
}

namespace {

// Combines the rows of one window position after the other.
class Combination {
 public:
  Combination(std::span<const Value> inputs, std::vector<Value>* results, Combiner& combiner)
      : inputs_(inputs), combiner_(combiner), scratch_(2 * inputs.size()) {
    for (Value& r : *results) outs_.push_back(r.MutableBytes().data());
  }

  Status Apply(const WindowWalk::Row& row) {
    return row.IsRun() ? ApplyRun(row) : ApplyScattered(row);
  }

 private:
  size_t Width(size_t k) const { return static_cast<size_t>(inputs_[k].element_bytes()); }
  const std::byte* Input(size_t k, int64_t at) const {
    return inputs_[k].bytes().data() + static_cast<size_t>(at) * Width(k);
  }
  std::byte* Output(size_t k, int64_t at) { return outs_[k] + static_cast<size_t>(at) * Width(k); }

  Status ApplyRun(const WindowWalk::Row& row) {
    std::vector<std::byte*> accumulators;
    std::vector<const std::byte*> values;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      accumulators.push_back(Output(k, row.output + row.hits[0].output));
      values.push_back(Input(k, row.input + row.hits[0].input));
    }
    return combiner_.Combine(accumulators, values, row.hits.size());
  }

  Status ApplyScattered(const WindowWalk::Row& row) {
    std::vector<std::byte*> accumulators;
    std::vector<const std::byte*> values;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const size_t width = Width(k);
      std::vector<std::byte>&gathered = scratch_[2 * k], &kept = scratch_[2 * k + 1];
      gathered.resize(row.hits.size() * width);
      kept.resize(row.hits.size() * width);
      for (size_t j = 0; j < row.hits.size(); ++j) {
        std::memcpy(&gathered[j * width], Input(k, row.input + row.hits[j].input), width);
        std::memcpy(&kept[j * width], Output(k, row.output + row.hits[j].output), width);
      }
      accumulators.push_back(kept.data());
      values.push_back(gathered.data());
    }
    HV_RETURN_IF_ERROR(combiner_.Combine(accumulators, values, row.hits.size()));
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const size_t width = Width(k);
      for (size_t j = 0; j < row.hits.size(); ++j) {
        std::memcpy(Output(k, row.output + row.hits[j].output), accumulators[k] + j * width, width);
      }
    }
    return {};
  }

  std::span<const Value> inputs_;
  Combiner& combiner_;
  std::vector<std::byte*> outs_;
  std::vector<std::vector<std::byte>> scratch_;
};

}  // namespace

Result<std::vector<Value>> ReduceWindowWith(std::span<const WindowDim> window,
                                            std::span<const Value> inputs,
                                            std::span<const Value> inits,
                                            std::span<const Shape* const> shapes,
                                            Combiner& combiner) {
  std::vector<Value> results;
  for (size_t k = 0; k < inputs.size(); ++k) results.push_back(Spread(inits[k], shapes[k]));
  if (shapes[0]->element_count == 0 || inputs[0].element_count() == 0) return results;
  if (inputs.size() == 1) {
    HV_ASSIGN(const std::optional<Value> folds,
              FoldWindowsByDoubling(window, inputs[0], shapes[0], combiner));
    if (folds) {
      std::byte* accumulators[1] = {results[0].MutableBytes().data()};
      const std::byte* values[1] = {folds->bytes().data()};
      HV_RETURN_IF_ERROR(
          combiner.Combine(accumulators, values, static_cast<size_t>(shapes[0]->element_count)));
      return results;
    }
  }
  const WindowWalk walk(window, inputs[0].shape()->dims, shapes[0]->dims);
  Combination combination(inputs, &results, combiner);
  HV_RETURN_IF_ERROR(
      walk.ForEachRow([&](const WindowWalk::Row& row) { return combination.Apply(row); }));
  return results;
}

}  // namespace hv
