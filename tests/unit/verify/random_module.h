// Random small modules over a random mesh, as text: elementwise functions, movement, reductions and
// collectives on arrays of a few elements. The same seed gives the same text everywhere; `mutate`
// redraws one step, which gives a module that may or may not mean the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/philox.h"
#include "sim/mesh.h"

namespace hv {

class Draw {
 public:
  Draw(uint64_t seed, uint64_t stream) : rng_(seed, stream) {}
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(rng_.Word(next_++) % static_cast<uint64_t>(n));
  }
  int64_t In(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <class T>
  const T& Of(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(list.size())))];
  }

 private:
  CounterRng rng_;
  uint64_t next_ = 0;
};

struct RandomModuleOptions {
  std::vector<std::string> types = {"s8", "u8", "s32", "pred"};
  bool float_reductions = true;  // sums of floats over dimensions and devices
  bool exact_floats = false;     // only float functions that are exact on small integers
  int steps = 8;
  int mutate = -1;  // the step that is drawn anew
};

class RandomModule {
 public:
  RandomModule(uint64_t seed, const RandomModuleOptions& options) : seed_(seed), options_(options) {
    Draw draw(seed, 0);
    mesh = draw.Of(std::vector<Mesh>{{1, 2}, {1, 3}, {1, 4}, {2, 2}, {3, 1}});
    const std::string type = draw.Of(options.types);
    for (int64_t p = draw.In(1, 2); p > 0; --p) Parameter(type, &draw);
    for (int step = 0; step < options.steps; ++step) {
      const bool anew = step == options.mutate;
      Draw own(seed + (anew ? 0x9E3779B97F4A7C15 : 0), static_cast<uint64_t>(step) + 1);
      Step(&own);
    }
    Finish();
  }

  std::string text;
  Mesh mesh;
  int64_t parameters = 0;

 private:
  struct Item {
    std::string name, type;
    std::vector<int64_t> dims;
    int64_t count() const {
      return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    }
  };

  static bool IsFloat(const std::string& type) { return type[0] == 'f' || type[0] == 'b'; }
  static std::string Braces(const std::vector<int64_t>& list) {
    std::string out = "{";
    for (size_t i = 0; i < list.size(); ++i) out += (i ? "," : "") + std::to_string(list[i]);
    return out + "}";
  }
  static std::string Shape(const std::string& type, const std::vector<int64_t>& dims) {
    std::string list = Braces(dims);
    return type + "[" + list.substr(1, list.size() - 2) + "]";
  }

  std::string Add(const std::string& type, const std::vector<int64_t>& dims,
                  const std::string& expression) {
    const std::string name = "v" + std::to_string(items_.size() + hidden_);
    body_ += "  " + name + " = " + Shape(type, dims) + " " + expression + "\n";
    items_.push_back({name, type, dims});
    return name;
  }
  // A value that later steps do not pick.
  std::string Hidden(const std::string& type, const std::vector<int64_t>& dims,
                     const std::string& expression) {
    const std::string name = Add(type, dims, expression);
    items_.pop_back();
    ++hidden_;
    return name;
  }

  void Parameter(const std::string& type, Draw* draw) {
    std::vector<int64_t> dims;
    for (int64_t r = draw->Below(4); r > 0; --r) dims.push_back(draw->In(1, 4));
    Add(type, dims, "parameter(" + std::to_string(parameters++) + ")");
  }

  const Item& Pick(Draw* draw) { return draw->Of(items_); }
  // Another value of the same type and dimensions, or a constant of them.
  std::string Partner(const Item& item, Draw* draw) {
    std::vector<std::string> same;
    for (const Item& other : items_) {
      if (other.type == item.type && other.dims == item.dims) same.push_back(other.name);
    }
    if (draw->OneIn(4)) {
      const std::string scalar =
          Hidden(item.type, {}, "constant(" + std::to_string(draw->Below(2) + 0) + ")");
      return Hidden(item.type, item.dims, "broadcast(" + scalar + "), dimensions={}");
    }
    return draw->Of(same);
  }

  void Step(Draw* draw) {
    const Item item = Pick(draw);
    switch (draw->Below(20)) {
      case 0:
      case 1:
      case 2:
        return Binary(item, draw);
      case 3:
        return Unary(item, draw);
      case 4:
        return CompareAndSelect(item, draw);
      case 5:
        return Convert(item, draw);
      case 6:
        return Reshape(item, draw);
      case 7:
        return Transpose(item, draw);
      case 8:
        return Reverse(item, draw);
      case 9:
        return Slice(item, draw);
      case 10:
        return Pad(item, draw);
      case 11:
        return Concatenate(item, draw);
      case 12:
        return Broadcast(item, draw);
      case 13:
        return DynamicSlice(item, draw);
      case 14:
        return Reduce(item, draw);
      case 15:
        return Dot(item, draw);
      case 16:
        return SliceByData(item, draw);
      case 17:
        return Conditional(item, draw);
      default:
        return Collective(item, draw);
    }
  }

  void Binary(const Item& a, Draw* draw) {
    const std::string b = Partner(a, draw);
    std::vector<std::string> ops = {"add", "multiply", "maximum", "minimum"};
    if (a.type == "pred") ops = {"and", "or", "xor", "add", "multiply"};
    if (a.type != "pred") ops.push_back("subtract");
    if (a.type == "s8" || a.type == "u8" || a.type == "s32") {
      for (const char* op : {"and", "or", "xor", "divide", "remainder"}) ops.push_back(op);
    }
    if (IsFloat(a.type) && !options_.exact_floats) ops.push_back("divide");
    if (IsFloat(a.type) && options_.exact_floats) ops = {"add", "subtract", "multiply", "maximum"};
    std::string x = a.name, y = b;
    if (draw->OneIn(2)) std::swap(x, y);
    Add(a.type, a.dims, draw->Of(ops) + "(" + x + ", " + y + ")");
  }

  void Unary(const Item& a, Draw* draw) {
    if (a.type == "pred") {
      Add(a.type, a.dims, "not(" + a.name + ")");
    } else if (draw->OneIn(2) || a.type == "u8") {
      Add(a.type, a.dims, "negate(" + a.name + ")");
    } else {
      Add(a.type, a.dims, "abs(" + a.name + ")");
    }
  }

  void CompareAndSelect(const Item& a, Draw* draw) {
    const std::string b = Partner(a, draw), c = Partner(a, draw);
    const std::string direction =
        draw->Of(std::vector<std::string>{"EQ", "NE", "LT", "LE", "GT", "GE"});
    const std::string p =
        Hidden("pred", a.dims, "compare(" + a.name + ", " + b + "), direction=" + direction);
    if (draw->OneIn(3)) {
      Add("pred", a.dims, "copy(" + p + ")");
    } else {
      Add(a.type, a.dims, "select(" + p + ", " + a.name + ", " + c + ")");
    }
  }

  void Convert(const Item& a, Draw* draw) {
    const std::string& to = draw->Of(options_.types);
    const bool rounds = options_.exact_floats && IsFloat(a.type) != IsFloat(to);
    if (to != a.type && !rounds) Add(to, a.dims, "convert(" + a.name + ")");
  }

  void Reshape(const Item& a, Draw* draw) {
    int64_t left = a.count();
    std::vector<int64_t> dims;
    while (left > 1) {
      int64_t d = draw->In(2, left);
      while (left % d != 0) ++d;
      dims.push_back(d);
      left /= d;
    }
    if (draw->OneIn(3)) dims.insert(dims.begin(), 1);
    Add(a.type, dims, "reshape(" + a.name + ")");
  }

  void Transpose(const Item& a, Draw* draw) {
    std::vector<int64_t> order(a.dims.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<size_t>(draw->Below(static_cast<int64_t>(i)))]);
    }
    std::vector<int64_t> dims;
    for (int64_t d : order) dims.push_back(a.dims[static_cast<size_t>(d)]);
    Add(a.type, dims, "transpose(" + a.name + "), dimensions=" + Braces(order));
  }

  void Reverse(const Item& a, Draw* draw) {
    if (a.dims.empty()) return;
    Add(a.type, a.dims,
        "reverse(" + a.name +
            "), dimensions=" + Braces({draw->Below(static_cast<int64_t>(a.dims.size()))}));
  }

  void Slice(const Item& a, Draw* draw) {
    std::vector<int64_t> dims;
    std::string bounds;
    for (int64_t n : a.dims) {
      const int64_t low = draw->Below(n), high = draw->In(low + 1, n), step = draw->In(1, 2);
      dims.push_back((high - low + step - 1) / step);
      bounds += (bounds.empty() ? "[" : ", [") + std::to_string(low) + ":" + std::to_string(high) +
                ":" + std::to_string(step) + "]";
    }
    Add(a.type, dims, "slice(" + a.name + "), slice={" + bounds + "}");
  }

  void Pad(const Item& a, Draw* draw) {
    if (a.dims.empty()) return;
    const std::string value =
        Hidden(a.type, {}, "constant(" + std::to_string(draw->Below(2)) + ")");
    std::vector<int64_t> dims;
    std::string padding;
    for (int64_t n : a.dims) {
      const int64_t low = draw->In(-1, 2), high = draw->In(0, 1), inside = draw->Below(2);
      const int64_t size = low + high + n + (n - 1) * inside;
      dims.push_back(size);
      if (size < 1 || size > 8) return;
      padding += (padding.empty() ? "" : "x") + std::to_string(low) + "_" + std::to_string(high) +
                 "_" + std::to_string(inside);
    }
    if (Item{"", "", dims}.count() > 96) return;
    Add(a.type, dims, "pad(" + a.name + ", " + value + "), padding=" + padding);
  }

  void Concatenate(const Item& a, Draw* draw) {
    if (a.dims.empty() || a.count() > 48) return;
    const std::string b = Partner(a, draw);
    const int64_t d = draw->Below(static_cast<int64_t>(a.dims.size()));
    std::vector<int64_t> dims = a.dims;
    dims[static_cast<size_t>(d)] *= 2;
    Add(a.type, dims, "concatenate(" + a.name + ", " + b + "), dimensions=" + Braces({d}));
  }

  void Broadcast(const Item& a, Draw* draw) {
    if (a.dims.size() > 3 || a.count() > 32) return;
    const size_t at = static_cast<size_t>(draw->Below(static_cast<int64_t>(a.dims.size()) + 1));
    std::vector<int64_t> dims = a.dims, mapping;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), draw->In(1, 3));
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d != at) mapping.push_back(static_cast<int64_t>(d));
    }
    Add(a.type, dims, "broadcast(" + a.name + "), dimensions=" + Braces(mapping));
  }

  // The start in dimension 0 depends on the partition; the others are 0.
  void DynamicSlice(const Item& a, Draw* draw) {
    if (a.dims.empty()) return;
    std::vector<int64_t> sizes = a.dims;
    sizes[0] = draw->In(1, a.dims[0]);
    const std::string id = Hidden("u32", {}, draw->OneIn(3) ? "replica-id()" : "partition-id()");
    const std::string scale = Hidden("u32", {}, "constant(" + std::to_string(draw->In(1, 2)) + ")");
    std::string starts = Hidden("u32", {}, "multiply(" + id + ", " + scale + ")");
    const std::string zero = Hidden("u32", {}, "constant(0)");
    for (size_t d = 1; d < a.dims.size(); ++d) starts += ", " + zero;
    if (draw->OneIn(2)) {
      Add(a.type, sizes,
          "dynamic-slice(" + a.name + ", " + starts + "), dynamic_slice_sizes=" + Braces(sizes));
      return;
    }
    const std::string window = Hidden(
        a.type, sizes,
        "dynamic-slice(" + a.name + ", " +
            [&] {
              std::string zeros = zero;
              for (size_t d = 1; d < a.dims.size(); ++d) zeros += ", " + zero;
              return zeros;
            }() +
            "), dynamic_slice_sizes=" + Braces(sizes));
    Add(a.type, a.dims,
        "dynamic-update-slice(" + Partner(a, draw) + ", " + window + ", " + starts + ")");
  }

  // One element of some value as an integer.
  std::string Integer(Draw* draw, std::string* type) {
    const Item a = Pick(draw);
    const int64_t k = draw->Below(a.count());
    const std::string flat = Hidden(a.type, {a.count()}, "reshape(" + a.name + ")");
    const std::string one = Hidden(
        a.type, {1},
        "slice(" + flat + "), slice={[" + std::to_string(k) + ":" + std::to_string(k + 1) + "]}");
    const std::string scalar = Hidden(a.type, {}, "reshape(" + one + ")");
    *type = a.type == "s8" || a.type == "u8" ? a.type : "s32";
    if (*type == a.type) return scalar;
    return Hidden(*type, {}, "convert(" + scalar + ")");
  }

  void SliceByData(const Item& a, Draw* draw) {
    if (a.dims.empty()) return;
    std::string type, starts;
    const std::string start = Integer(draw, &type);
    const std::string zero = Hidden(type, {}, "constant(0)");
    const int64_t at = draw->Below(static_cast<int64_t>(a.dims.size()));
    std::vector<int64_t> sizes = a.dims;
    int64_t windows = 1;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      const bool data = static_cast<int64_t>(d) == at || draw->OneIn(4);
      starts += ", " + (data ? start : zero);
      if (data) sizes[d] = draw->In(1, a.dims[d]);
      windows *= a.dims[d] - sizes[d] + 1;
    }
    if (windows > 16) return;  // the prover takes that as opaque
    if (draw->OneIn(2)) {
      Add(a.type, sizes,
          "dynamic-slice(" + a.name + starts + "), dynamic_slice_sizes=" + Braces(sizes));
      return;
    }
    const std::string value = Hidden(a.type, {}, "constant(1)");
    const std::string window = Hidden(a.type, sizes, "broadcast(" + value + "), dimensions={}");
    Add(a.type, a.dims, "dynamic-update-slice(" + a.name + ", " + window + starts + ")");
  }

  // Its branches move data between devices where all devices are known to pick the same one.
  void Conditional(const Item& a, Draw* draw) {
    std::string type;
    std::string selector = Integer(draw, &type);
    const bool agreed = draw->OneIn(2);
    if (agreed) {
      selector = Hidden(type, {}, "all-reduce(" + selector + ")" + AllDevices() +
                                      ", to_apply=" + Reducer(type, "maximum"));
    }
    if (type != "s32") selector = Hidden("s32", {}, "convert(" + selector + ")");
    const bool binary = draw->OneIn(2);
    if (binary) {
      const std::string one = Hidden("s32", {}, "constant(1)");
      selector = Hidden("pred", {}, "compare(" + selector + ", " + one + "), direction=LT");
    }
    std::vector<std::string> ops = {"copy(x)", a.type == "pred" ? "not(x)" : "negate(x)"};
    const bool meets = agreed && (options_.float_reductions || !IsFloat(a.type));
    if (meets) ops.push_back("all-reduce(x)");
    std::string arguments;
    std::vector<std::string> names;
    for (int64_t b = binary ? 2 : draw->In(2, 3); b > 0; --b) {
      std::string op = draw->Of(ops);
      if (op == "all-reduce(x)") {
        op += AllDevices() +
              ", to_apply=" + Reducer(a.type, a.type == "pred" ? "or" : "maximum");
      }
      const std::string name = "branch_" + std::to_string(branches_++);
      const std::string shape = Shape(a.type, a.dims);
      reducers_ += name + " {\n  x = " + shape + " parameter(0)\n  ROOT r = " + shape + " " + op +
                   "\n}\n\n";
      names.push_back(name);
      arguments += ", " + Partner(a, draw);
    }
    std::string list = "true_computation=" + names[0] + ", false_computation=" + names[1];
    if (!binary) {
      list = "branch_computations={" + names[0];
      for (size_t b = 1; b < names.size(); ++b) list += ", " + names[b];
      list += "}";
    }
    Add(a.type, a.dims, "conditional(" + selector + arguments + "), " + list);
  }

  // One group of all devices, in order.
  std::string AllDevices() {
    std::vector<int64_t> ids(static_cast<size_t>(mesh.devices()));
    std::iota(ids.begin(), ids.end(), 0);
    return ", channel_id=" + std::to_string(++channels_) + ", replica_groups={" + Braces(ids) +
           "}, use_global_device_ids=true";
  }

  std::string Reducer(const std::string& type, Draw* draw, std::string* initial) {
    std::vector<std::string> ops = {"add", "maximum", "minimum", "multiply"};
    if (IsFloat(type)) ops = {"add", "maximum"};
    if (type == "pred") ops = {"and", "or"};
    const std::string op = draw->Of(ops);
    if (initial != nullptr) *initial = op == "multiply" ? "1" : std::to_string(draw->Below(2));
    return Reducer(type, op);
  }

  std::string Reducer(const std::string& type, const std::string& op) {
    const std::string name = op + "_" + type;
    if (reducers_.find(name + " {") == std::string::npos) {
      const std::string scalar = Shape(type, {});
      reducers_ += name + " {\n  a = " + scalar + " parameter(0)\n  b = " + scalar +
                   " parameter(1)\n  ROOT r = " + scalar + " " + op + "(a, b)\n}\n\n";
    }
    return name;
  }

  void Reduce(const Item& a, Draw* draw) {
    if (IsFloat(a.type) && !options_.float_reductions) return;
    std::vector<int64_t> dims, reduced;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      if (draw->OneIn(2)) {
        reduced.push_back(static_cast<int64_t>(d));
      } else {
        dims.push_back(a.dims[d]);
      }
    }
    std::string initial;
    const std::string reducer = Reducer(a.type, draw, &initial);
    const std::string start = Hidden(a.type, {}, "constant(" + initial + ")");
    Add(a.type, dims,
        "reduce(" + a.name + ", " + start + "), dimensions=" + Braces(reduced) +
            ", to_apply=" + reducer);
  }

  // With itself transposed or not, over one dimension.
  void Dot(const Item& a, Draw* draw) {
    if (a.dims.empty() || a.type == "pred" || a.count() > 24) return;
    if (IsFloat(a.type) && !options_.float_reductions) return;
    std::string b = Partner(a, draw);
    const int64_t d = draw->Below(static_cast<int64_t>(a.dims.size()));
    std::vector<int64_t> dims;
    for (int side = 0; side < 2; ++side) {
      for (size_t k = 0; k < a.dims.size(); ++k) {
        if (static_cast<int64_t>(k) != d) dims.push_back(a.dims[k]);
      }
    }
    if (dims.size() > 4) return;
    Add(a.type, dims,
        "dot(" + a.name + ", " + b + "), lhs_contracting_dims=" + Braces({d}) +
            ", rhs_contracting_dims=" + Braces({d}));
  }

  // Flattened ids, so that one list of groups fits every mesh.
  std::string Groups(Draw* draw, int64_t* size) {
    std::vector<int64_t> ids(static_cast<size_t>(mesh.devices()));
    std::iota(ids.begin(), ids.end(), 0);
    for (size_t i = ids.size(); i > 1; --i) {
      std::swap(ids[i - 1], ids[static_cast<size_t>(draw->Below(static_cast<int64_t>(i)))]);
    }
    *size = mesh.devices() % 2 == 0 && draw->OneIn(2) ? mesh.devices() / 2 : mesh.devices();
    std::string out = "{";
    for (size_t i = 0; i < ids.size(); i += static_cast<size_t>(*size)) {
      out += (i ? "," : "") + Braces({ids.begin() + static_cast<std::ptrdiff_t>(i),
                                      ids.begin() + static_cast<std::ptrdiff_t>(i) + *size});
    }
    return out + "}";
  }

  void Collective(const Item& a, Draw* draw) {
    int64_t size = 1;
    const std::string ids = ", channel_id=" + std::to_string(++channels_) +
                            ", replica_groups=" + Groups(draw, &size) +
                            ", use_global_device_ids=true";
    const bool reduces = !IsFloat(a.type) || options_.float_reductions;
    switch (draw->Below(4)) {
      case 0:
        if (!reduces) return;
        Add(a.type, a.dims,
            "all-reduce(" + a.name + ")" + ids + ", to_apply=" + Reducer(a.type, draw, nullptr));
        return;
      case 1: {
        if (!reduces || a.dims.empty() || a.dims[0] % size != 0) return;
        std::vector<int64_t> dims = a.dims;
        dims[0] /= size;
        Add(a.type, dims,
            "reduce-scatter(" + a.name + ")" + ids +
                ", dimensions={0}, to_apply=" + Reducer(a.type, draw, nullptr));
        return;
      }
      case 2: {
        if (a.dims.empty() || a.count() > 24) return;
        const int64_t d = draw->Below(static_cast<int64_t>(a.dims.size()));
        std::vector<int64_t> dims = a.dims;
        dims[static_cast<size_t>(d)] *= size;
        Add(a.type, dims, "all-gather(" + a.name + ")" + ids + ", dimensions=" + Braces({d}));
        return;
      }
      default: {
        const int64_t n = mesh.partitions > 1 ? mesh.partitions : mesh.replicas;
        const int64_t shift = draw->In(1, n - 1);
        std::string pairs = "{";
        for (int64_t i = 0; i < n; ++i) {
          if (draw->OneIn(4)) continue;
          pairs += (pairs.size() > 1 ? "," : "") + Braces({i, (i + shift) % n});
        }
        Add(a.type, a.dims,
            "collective-permute(" + a.name + ")" +
                (mesh.partitions > 1 ? ", channel_id=" + std::to_string(channels_) : "") +
                ", source_target_pairs=" + pairs + "}");
      }
    }
  }

  void Finish() {
    std::string types, names;
    for (size_t i = items_.size() > 3 ? items_.size() - 3 : 0; i < items_.size(); ++i) {
      types += (types.empty() ? "" : ", ") + Shape(items_[i].type, items_[i].dims);
      names += (names.empty() ? "" : ", ") + items_[i].name;
    }
    text = "HloModule random, replica_count=" + std::to_string(mesh.replicas) +
           ", num_partitions=" + std::to_string(mesh.partitions) + "\n\n" + reducers_ +
           "ENTRY main {\n" + body_ + "  ROOT out = (" + types + ") tuple(" + names + ")\n}\n";
  }

  const uint64_t seed_;
  const RandomModuleOptions options_;
  std::vector<Item> items_;
  size_t hidden_ = 0;
  int64_t channels_ = 0, branches_ = 0;
  std::string body_, reducers_;
};

}  // namespace hv
