// Expansion and printing of device lists. Every compact form is an array of mixed-radix digits read
// in another order. Source: hlo_text.md section 10.
#include "hlo/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hlo/text.h"

namespace hv {
namespace {

int64_t Product(std::span<const int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
}

struct Digit {
  int64_t extent = 1;
  int64_t stride = 1;
};

// The sum of digit * stride for every combination of digits, the last one running fastest.
std::vector<int64_t> Enumerate(std::span<const Digit> digits) {
  std::vector<int64_t> values = {0};
  for (const Digit& digit : digits) {
    std::vector<int64_t> longer;
    longer.reserve(values.size() * static_cast<size_t>(digit.extent));
    for (int64_t value : values) {
      for (int64_t i = 0; i < digit.extent; ++i) longer.push_back(value + i * digit.stride);
    }
    values = std::move(longer);
  }
  return values;
}

// Axis `axis` of `list`'s mesh as digits, major first: what the sub-axes leave goes to `outer`, the
// grouped parts to inner[k] for grouped_axes[k].
void SplitAxis(const DeviceList& list, size_t axis, int64_t stride, std::vector<Digit>* outer,
               std::span<Digit> inner) {
  std::vector<size_t> refs;
  for (size_t k = 0; k < list.grouped_axes.size(); ++k) {
    if (list.grouped_axes[k].axis == static_cast<int64_t>(axis)) refs.push_back(k);
  }
  std::sort(refs.begin(), refs.end(), [&list](size_t a, size_t b) {
    return list.grouped_axes[a].pre_size < list.grouped_axes[b].pre_size;
  });
  int64_t major = 1;                     // product of the extents passed so far
  int64_t minor = list.axes[axis].size;  // elements below the current position
  for (size_t k : refs) {
    const AxisRef& ref = list.grouped_axes[k];
    const int64_t size = ref.size == 0 ? list.axes[axis].size : ref.size;
    minor /= ref.pre_size / major;
    outer->push_back({ref.pre_size / major, minor * stride});
    minor /= size;
    inner[k] = {size, minor * stride};
    major = ref.pre_size * size;
  }
  outer->push_back({minor, stride});
}

std::vector<int64_t> MeshDeviceIds(const DeviceList& list) {
  if (!list.device_ids.empty()) return {list.device_ids.begin(), list.device_ids.end()};
  if (!list.iota.reshape.empty()) return Expand(list.iota);
  return {};
}

Groups ExpandMesh(const DeviceList& list) {
  std::vector<Digit> outer;
  std::vector<Digit> inner(list.grouped_axes.size());
  int64_t stride = 1;
  for (const MeshAxis& axis : list.axes) stride *= axis.size;
  for (size_t axis = 0; axis < list.axes.size(); ++axis) {
    stride /= list.axes[axis].size;
    SplitAxis(list, axis, stride, &outer, inner);
  }
  const std::vector<int64_t> first = Enumerate(outer);
  const std::vector<int64_t> offsets = Enumerate(inner);
  const std::vector<int64_t> ids = MeshDeviceIds(list);
  Groups groups(first.size());
  for (size_t g = 0; g < first.size(); ++g) {
    for (int64_t offset : offsets) {
      const int64_t position = first[g] + offset;
      groups[g].push_back(ids.empty() ? position : ids[static_cast<size_t>(position)]);
    }
  }
  return groups;
}

Groups CutRows(const std::vector<int64_t>& ids, int64_t rows) {
  Groups groups(static_cast<size_t>(rows));
  const size_t width = groups.empty() ? 0 : ids.size() / groups.size();
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(g * width);
    groups[g].assign(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return groups;
}

void AppendInts(std::span<const int64_t> values, std::string* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) *out += ',';
    AppendInt(values[i], out);
  }
}

void AppendTranspose(const IotaTile& tile, std::string* out) {
  if (tile.transpose.empty()) return;
  *out += "T(";
  AppendInts(tile.transpose, out);
  *out += ')';
}

void AppendMesh(const DeviceList& list, std::string* out) {
  *out += "mesh[";
  for (size_t i = 0; i < list.axes.size(); ++i) {
    fmt::format_to(std::back_inserter(*out), "{}'{}'={}", i == 0 ? "" : ",", list.axes[i].name,
                   list.axes[i].size);
  }
  *out += ']';
  if (!list.device_ids.empty()) {
    *out += ", device_ids=(";
    AppendInts(list.device_ids, out);
    *out += ')';
  } else if (!list.iota.reshape.empty()) {
    *out += ", device_ids=([";
    AppendInts(list.iota.reshape, out);
    *out += ']';
    AppendTranspose(list.iota, out);
    *out += ')';
  }
  *out += " {";
  for (size_t i = 0; i < list.grouped_axes.size(); ++i) {
    const AxisRef& ref = list.grouped_axes[i];
    fmt::format_to(std::back_inserter(*out), "{}'{}'", i == 0 ? "" : ",",
                   list.axes[static_cast<size_t>(ref.axis)].name);
    if (ref.size != 0) {
      fmt::format_to(std::back_inserter(*out), ":({}){}", ref.pre_size, ref.size);
    }
  }
  *out += '}';
}

}  // namespace

std::vector<int64_t> Expand(const IotaTile& tile) {
  const size_t rank = tile.reshape.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * tile.reshape[i];
  std::vector<Digit> digits(rank);
  for (size_t i = 0; i < rank; ++i) {
    const auto from = tile.transpose.empty() ? i : static_cast<size_t>(tile.transpose[i]);
    digits[i] = {tile.reshape[from], strides[from]};
  }
  return Enumerate(digits);
}

Groups Expand(const DeviceList& list) {
  switch (list.form) {
    case DeviceList::Form::kEmpty:
      return {};
    case DeviceList::Form::kLists: {
      Groups groups;
      for (const auto& ids : list.lists) groups.emplace_back(ids.begin(), ids.end());
      return groups;
    }
    case DeviceList::Form::kIota:
      return CutRows(Expand(list.iota), list.iota.dims[0]);
    case DeviceList::Form::kMesh:
      return ExpandMesh(list);
    case DeviceList::Form::kMaximalMesh:
      return {{list.maximal_device}};
  }
  return {};
}

int64_t IdCount(const DeviceList& list) {
  int64_t count = 0;
  switch (list.form) {
    case DeviceList::Form::kEmpty:
      return 0;
    case DeviceList::Form::kLists:
      for (const auto& ids : list.lists) count += static_cast<int64_t>(ids.size());
      return count;
    case DeviceList::Form::kIota:
      return Product(list.iota.dims);
    case DeviceList::Form::kMesh:
      count = 1;
      for (const MeshAxis& axis : list.axes) count *= axis.size;
      return count;
    case DeviceList::Form::kMaximalMesh:
      return 1;
  }
  return 0;
}

int64_t GroupCount(const DeviceList& list) {
  switch (list.form) {
    case DeviceList::Form::kEmpty:
      return 0;
    case DeviceList::Form::kLists:
      return static_cast<int64_t>(list.lists.size());
    case DeviceList::Form::kIota:
      return list.iota.dims[0];
    case DeviceList::Form::kMesh: {
      int64_t size = 1;
      for (const AxisRef& ref : list.grouped_axes) {
        size *= ref.size == 0 ? list.axes[static_cast<size_t>(ref.axis)].size : ref.size;
      }
      return IdCount(list) / size;
    }
    case DeviceList::Form::kMaximalMesh:
      return 1;
  }
  return 0;
}

void AppendDeviceList(const DeviceList& list, std::string* out) {
  switch (list.form) {
    case DeviceList::Form::kEmpty:
      *out += "{}";
      break;
    case DeviceList::Form::kLists:
      *out += '{';
      for (size_t g = 0; g < list.lists.size(); ++g) {
        *out += g == 0 ? "{" : ",{";
        AppendInts(list.lists[g], out);
        *out += '}';
      }
      *out += '}';
      break;
    case DeviceList::Form::kIota:
      *out += '[';
      AppendInts(list.iota.dims, out);
      *out += "]<=[";
      AppendInts(list.iota.reshape, out);
      *out += ']';
      AppendTranspose(list.iota, out);
      break;
    case DeviceList::Form::kMesh:
      AppendMesh(list, out);
      break;
    case DeviceList::Form::kMaximalMesh:
      fmt::format_to(std::back_inserter(*out), "maximal_mesh[device_id={}] {{}}",
                     list.maximal_device);
      break;
  }
}

}  // namespace hv
