// Labels to dimension numbers.
#include "hlo/conv_dims.h"

#include <algorithm>

namespace hv {
namespace {

// One of the three label strings: two letters and the digits 0..n-1 once each; '?' labels nothing.
bool ParseLabels(std::string_view labels, char first, char second, Arena* arena, int64_t* first_dim,
                 int64_t* second_dim, std::span<const int64_t>* spatial) {
  const auto find = [labels](char c) {
    const size_t at = labels.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int64_t>(at);
  };
  *first_dim = find(first);
  *second_dim = find(second);
  const auto digits =
      std::count_if(labels.begin(), labels.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto unused = std::count(labels.begin(), labels.end(), '?');
  if (*first_dim < 0 || *second_dim < 0) return false;
  // With both letters and all of 0..n-1 present, the length shows that nothing repeats.
  if (static_cast<std::ptrdiff_t>(labels.size()) != digits + unused + 2 || digits > 10)
    return false;
  const std::span<int64_t> dims = arena->NewArray<int64_t>(static_cast<size_t>(digits));
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = find(static_cast<char>('0' + i));
    if (dims[i] < 0) return false;
  }
  *spatial = dims;
  return true;
}

}  // namespace

bool ParseConvDims(std::string_view text, Arena* arena, ConvDims* dims) {
  const size_t underscore = text.find('_');
  const size_t arrow = text.find("->");
  if (underscore == std::string_view::npos || arrow == std::string_view::npos ||
      arrow < underscore) {
    return false;
  }
  const std::string_view input = text.substr(0, underscore);
  const std::string_view kernel = text.substr(underscore + 1, arrow - underscore - 1);
  const std::string_view output = text.substr(arrow + 2);
  dims->text = text;
  return ParseLabels(input, 'b', 'f', arena, &dims->input_batch, &dims->input_feature,
                     &dims->input_spatial) &&
         ParseLabels(kernel, 'i', 'o', arena, &dims->kernel_input, &dims->kernel_output,
                     &dims->kernel_spatial) &&
         ParseLabels(output, 'b', 'f', arena, &dims->output_batch, &dims->output_feature,
                     &dims->output_spatial) &&
         dims->input_spatial.size() == dims->kernel_spatial.size() &&
         dims->input_spatial.size() == dims->output_spatial.size();
}

}  // namespace hv
