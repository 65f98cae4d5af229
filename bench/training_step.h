// Writes one training step of a transformer as a partitioner leaves it: tensor parallelism over the
// fast axis of the mesh with sequence-sharded activations, data parallelism with sharded optimizer
// state over the slow one. Every scatter is an all-reduce of partial sums and a dynamic-slice at an
// offset out of a table, which is what the passes under test look for. Deterministic text.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hv {

struct TrainingStepSizes {
  int64_t layers = 2;
  int64_t tensor = 8, data = 64;  // devices = data x tensor, tensor fastest
  int64_t tokens = 2048, hidden = 8192, heads = 8, head = 128, inner = 3584;  // of one device
};

class TrainingStep {
 public:
  explicit TrainingStep(const TrainingStepSizes& sizes) : s_(sizes) {}

  std::string Write() {
    body_.clear();
    const int64_t devices = s_.data * s_.tensor;
    std::string text = fmt::format("HloModule step, num_partitions={}\n", devices);
    text +=
        "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
        "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";
    Offsets();
    std::string x = Parameter(Activations(s_.tokens / s_.tensor));
    std::vector<Layer> layers;
    for (int64_t l = 0; l < s_.layers; ++l) layers.push_back(MakeLayer());
    for (Layer& layer : layers) x = Forward(&layer, x);
    std::string gradient = Multiply(Activations(s_.tokens / s_.tensor), x, Scalar("0.001"));
    for (size_t l = layers.size(); l-- > 0;) gradient = Backward(&layers[l], gradient);
    std::string types, names;
    for (const auto& [shape, name] : results_) {
      types += (types.empty() ? "" : ", ") + shape;
      names += (names.empty() ? "" : ", ") + name;
    }
    return text + "ENTRY step {\n" + body_ +
           fmt::format("  ROOT results = ({}) tuple({})\n}}\n", types, names);
  }

 private:
  struct Weight {
    std::vector<int64_t> dims;
    std::string value, first_moment, second_moment;  // moments: the shard along dimension 0
  };
  struct Norm {
    std::string input, scaled, deviation, output;
  };
  struct Layer {
    Weight query, key, value, output, up, down;
    std::string gain, bias, gain2, bias2;
    Norm norm, norm2;
    std::string gathered, q, k, v, weights, context, gathered2, hidden, active;
  };

  static std::string Shape(const std::vector<int64_t>& dims, const char* type = "f32") {
    return fmt::format("{}[{}]", type, fmt::join(dims, ","));
  }
  std::string Activations(int64_t rows) const { return Shape({rows, s_.hidden}); }

  std::string Emit(const std::string& shape, const std::string& op, const std::string& call) {
    std::string name = fmt::format("{}.{}", op, ++count_);
    body_ += fmt::format("  {} = {} {}({}\n", name, shape, op, call);
    return name;
  }
  std::string Op(const std::string& shape, const std::string& op, const std::string& operands,
                 const std::string& attributes = "") {
    return Emit(shape, op, operands + ")" + (attributes.empty() ? "" : ", " + attributes));
  }
  std::string Parameter(const std::string& shape) {
    return Op(shape, "parameter", std::to_string(parameters_++));
  }
  std::string Scalar(const char* value) { return Op("f32[]", "constant", value); }
  std::string Spread(const std::string& shape, const std::string& x, const std::string& dims = "") {
    return Op(shape, "broadcast", x, "dimensions={" + dims + "}");
  }
  std::string Multiply(const std::string& shape, const std::string& x, const std::string& scalar) {
    return Op(shape, "multiply", x + ", " + Spread(shape, scalar));
  }
  std::string Pair(const std::string& shape, const std::string& op, const std::string& a,
                   const std::string& b) {
    return Op(shape, op, a + ", " + b);
  }
  std::string Reduce(const std::string& shape, const std::string& x, int64_t dimension,
                     const char* with = "sum") {
    const std::string init = Scalar(with[0] == 's' ? "0" : "-inf");
    return Op(shape, "reduce", x + ", " + init,
              fmt::format("dimensions={{{}}}, to_apply={}", dimension, with));
  }
  std::string Dot(const std::string& shape, const std::string& a, const std::string& b, int left,
                  int right) {
    return Op(shape, "dot", a + ", " + b,
              fmt::format("lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}", left, right));
  }
  std::string BatchDot(const std::string& shape, const std::string& a, const std::string& b,
                       int left, int right) {
    return Op(
        shape, "dot", a + ", " + b,
        fmt::format("lhs_batch_dims={{0}}, lhs_contracting_dims={{{}}}, rhs_batch_dims={{0}}, "
                    "rhs_contracting_dims={{{}}}",
                    left, right));
  }
  std::string Transpose(const std::string& shape, const std::string& x, const char* order) {
    return Op(shape, "transpose", x, std::string("dimensions={") + order + "}");
  }

  // Groups along the fast (tensor) or the slow (data) axis.
  std::string Groups(bool tensor) const {
    const std::string iota =
        tensor ? fmt::format("[{0},{1}]<=[{2}]", s_.data, s_.tensor, s_.data * s_.tensor)
               : fmt::format("[{1},{0}]<=[{0},{1}]T(1,0)", s_.data, s_.tensor);
    return fmt::format("channel_id={}, replica_groups={}, use_global_device_ids=true", ++channels_,
                       iota);
  }

  // Position along each axis, as tables looked up by partition id.
  void Offsets() {
    const std::string id = Op("u32[]", "partition-id", "");
    const int64_t devices = s_.data * s_.tensor;
    for (const bool tensor : {true, false}) {
      std::vector<int64_t> positions;
      for (int64_t d = 0; d < devices; ++d) {
        positions.push_back(tensor ? d % s_.tensor : d / s_.tensor);
      }
      const std::string table =
          Op(Shape({devices}, "s32"), "constant", fmt::format("{{{}}}", fmt::join(positions, ",")));
      const std::string entry =
          Op("s32[1]", "dynamic-slice", table + ", " + id, "dynamic_slice_sizes={1}");
      position_[tensor ? 1 : 0] = Op("s32[]", "reshape", entry);
    }
    zero_ = Op("s32[]", "constant", "0");
  }

  // All-reduce, then the own block along dimension 0.
  std::string Scatter(const std::vector<int64_t>& dims, const std::string& x, bool tensor) {
    std::vector<int64_t> block = dims;
    block[0] /= tensor ? s_.tensor : s_.data;
    const std::string sum = Op(Shape(dims), "all-reduce", x, Groups(tensor) + ", to_apply=sum");
    const std::string size = Op("s32[]", "constant", std::to_string(block[0]));
    std::string starts = Op("s32[]", "multiply", position_[tensor ? 1 : 0] + ", " + size);
    for (size_t d = 1; d < dims.size(); ++d) starts += ", " + zero_;
    return Op(Shape(block), "dynamic-slice", sum + ", " + starts,
              fmt::format("dynamic_slice_sizes={{{}}}", fmt::join(block, ",")));
  }
  std::string Gather(const std::vector<int64_t>& dims, const std::string& x, bool tensor) {
    return Op(Shape(dims), "all-gather", x, Groups(tensor) + ", dimensions={0}");
  }

  Weight MakeWeight(std::vector<int64_t> dims) {
    Weight weight{dims, Parameter(Shape(dims)), "", ""};
    dims[0] /= s_.data;
    weight.first_moment = Parameter(Shape(dims));
    weight.second_moment = Parameter(Shape(dims));
    return weight;
  }

  Layer MakeLayer() {
    Layer layer;
    const int64_t width = s_.heads * s_.head;
    for (Weight* w : {&layer.query, &layer.key, &layer.value}) *w = MakeWeight({s_.hidden, width});
    layer.output = MakeWeight({width, s_.hidden});
    layer.up = MakeWeight({s_.hidden, s_.inner});
    layer.down = MakeWeight({s_.inner, s_.hidden});
    for (std::string* p : {&layer.gain, &layer.bias, &layer.gain2, &layer.bias2}) {
      *p = Parameter(Shape({s_.hidden}));
    }
    return layer;
  }

  Norm LayerNorm(const std::string& x, const std::string& gain, const std::string& bias) {
    const int64_t rows = s_.tokens / s_.tensor;
    const std::string full = Activations(rows), row = Shape({rows});
    const std::string share =
        Scalar(fmt::format("{}", 1.0 / static_cast<double>(s_.hidden)).c_str());
    const std::string mean = Multiply(row, Reduce(row, x, 1), share);
    const std::string centered = Pair(full, "subtract", x, Spread(full, mean, "0"));
    const std::string square = Pair(full, "multiply", centered, centered);
    const std::string variance = Multiply(row, Reduce(row, square, 1), share);
    const std::string shifted = Pair(row, "add", variance, Spread(row, Scalar("1e-05")));
    Norm norm;
    norm.input = x;
    norm.deviation = Op(row, "rsqrt", shifted);
    norm.scaled = Pair(full, "multiply", centered, Spread(full, norm.deviation, "0"));
    const std::string gained = Pair(full, "multiply", norm.scaled, Spread(full, gain, "1"));
    norm.output = Pair(full, "add", gained, Spread(full, bias, "1"));
    return norm;
  }

  // The gradient of a normalised row: deviation x (g - mean(g) - scaled x mean(g x scaled)).
  std::string LayerNormGradient(const Norm& norm, const std::string& gain,
                                const std::string& gradient) {
    const int64_t rows = s_.tokens / s_.tensor;
    const std::string full = Activations(rows), row = Shape({rows});
    const std::string share =
        Scalar(fmt::format("{}", 1.0 / static_cast<double>(s_.hidden)).c_str());
    Result(Shape({s_.hidden}), AllSum(Shape({s_.hidden}), Reduce(Shape({s_.hidden}), gradient, 0)));
    const std::string by_gain = Pair(full, "multiply", gradient, norm.scaled);
    Result(Shape({s_.hidden}), AllSum(Shape({s_.hidden}), Reduce(Shape({s_.hidden}), by_gain, 0)));
    const std::string g = Pair(full, "multiply", gradient, Spread(full, gain, "1"));
    const std::string mean = Multiply(row, Reduce(row, g, 1), share);
    const std::string along = Reduce(row, Pair(full, "multiply", g, norm.scaled), 1);
    const std::string lean =
        Pair(full, "multiply", norm.scaled, Spread(full, Multiply(row, along, share), "0"));
    const std::string rest =
        Pair(full, "subtract", Pair(full, "subtract", g, Spread(full, mean, "0")), lean);
    return Pair(full, "multiply", rest, Spread(full, norm.deviation, "0"));
  }

  std::string AllSum(const std::string& shape, const std::string& x) {
    return Op(shape, "all-reduce", x,
              fmt::format("channel_id={}, replica_groups=[1,{}]<=[{}], "
                          "use_global_device_ids=true, to_apply=sum",
                          ++channels_, s_.data * s_.tensor, s_.data * s_.tensor));
  }
  void Result(const std::string& shape, const std::string& name) {
    results_.emplace_back(shape, name);
  }

  // [tokens, heads x head] -> [heads, tokens, head], and back.
  std::string Split(const std::string& x) {
    const std::string apart = Op(Shape({s_.tokens, s_.heads, s_.head}), "reshape", x);
    return Transpose(Shape({s_.heads, s_.tokens, s_.head}), apart, "1,0,2");
  }
  std::string Unsplit(const std::string& x) {
    const std::string turned = Transpose(Shape({s_.tokens, s_.heads, s_.head}), x, "1,0,2");
    return Op(Shape({s_.tokens, s_.heads * s_.head}), "reshape", turned);
  }

  std::string Attention(Layer* layer) {
    const std::string wide = Shape({s_.tokens, s_.heads * s_.head});
    const std::string square = Shape({s_.heads, s_.tokens, s_.tokens});
    const std::string row = Shape({s_.heads, s_.tokens});
    layer->q = Split(Dot(wide, layer->gathered, layer->query.value, 1, 0));
    layer->k = Split(Dot(wide, layer->gathered, layer->key.value, 1, 0));
    layer->v = Split(Dot(wide, layer->gathered, layer->value.value, 1, 0));
    std::string scores = BatchDot(square, layer->q, layer->k, 2, 2);
    scores = Multiply(square, scores, Scalar("0.088388"));
    const std::string ids = Shape({s_.heads, s_.tokens, s_.tokens}, "s32");
    const std::string past =
        Op(Shape({s_.heads, s_.tokens, s_.tokens}, "pred"), "compare",
           Op(ids, "iota", "", "iota_dimension=1") + ", " + Op(ids, "iota", "", "iota_dimension=2"),
           "direction=GE");
    scores = Op(square, "select", past + ", " + scores + ", " + Spread(square, Scalar("-1e+09")));
    const std::string top = Reduce(row, scores, 2, "max");
    const std::string e =
        Op(square, "exponential", Pair(square, "subtract", scores, Spread(square, top, "0,1")));
    layer->weights = Pair(square, "divide", e, Spread(square, Reduce(row, e, 2), "0,1"));
    layer->context =
        Unsplit(BatchDot(Shape({s_.heads, s_.tokens, s_.head}), layer->weights, layer->v, 2, 1));
    return Scatter({s_.tokens, s_.hidden},
                   Dot(Activations(s_.tokens), layer->context, layer->output.value, 1, 0), true);
  }

  std::string Forward(Layer* layer, const std::string& x) {
    const std::vector<int64_t> full = {s_.tokens, s_.hidden};
    const std::string shard = Activations(s_.tokens / s_.tensor);
    layer->norm = LayerNorm(x, layer->gain, layer->bias);
    layer->gathered = Gather(full, layer->norm.output, true);
    const std::string middle = Pair(shard, "add", x, Attention(layer));
    layer->norm2 = LayerNorm(middle, layer->gain2, layer->bias2);
    layer->gathered2 = Gather(full, layer->norm2.output, true);
    const std::string wide = Shape({s_.tokens, s_.inner});
    layer->hidden = Dot(wide, layer->gathered2, layer->up.value, 1, 0);
    layer->active = Pair(wide, "multiply", layer->hidden, Op(wide, "logistic", layer->hidden));
    const std::string out =
        Scatter(full, Dot(Activations(s_.tokens), layer->active, layer->down.value, 1, 0), true);
    return Pair(shard, "add", middle, out);
  }

  // Adam on the own shard of the summed gradient; the new weight is gathered.
  void Update(const Weight& weight, const std::string& gradient) {
    std::vector<int64_t> dims = weight.dims;
    const std::string g = Scatter(dims, gradient, false);
    dims[0] /= s_.data;
    const std::string shard = Shape(dims);
    const std::string m = Pair(shard, "add", Multiply(shard, weight.first_moment, Scalar("0.9")),
                               Multiply(shard, g, Scalar("0.1")));
    const std::string v = Pair(shard, "add", Multiply(shard, weight.second_moment, Scalar("0.999")),
                               Multiply(shard, Pair(shard, "multiply", g, g), Scalar("0.001")));
    const std::string root =
        Pair(shard, "add", Op(shard, "sqrt", v), Spread(shard, Scalar("1e-08")));
    const std::string step = Multiply(shard, Pair(shard, "divide", m, root), Scalar("0.0001"));
    const std::string all = Gather(weight.dims, step, false);
    Result(Shape(weight.dims), Pair(Shape(weight.dims), "subtract", weight.value, all));
    Result(shard, m);
    Result(shard, v);
  }

  // Gradients of x W: of the weight (an update) and of x.
  std::string DotGradient(const Weight& weight, const std::string& x, const std::string& gradient) {
    const std::string shape = Shape(weight.dims);
    Update(weight, Dot(shape, x, gradient, 0, 0));
    return Dot(Shape({s_.tokens, weight.dims[0]}), gradient, weight.value, 1, 1);
  }

  std::string AttentionGradient(const Layer& layer, const std::string& gradient) {
    const std::string square = Shape({s_.heads, s_.tokens, s_.tokens});
    const std::string row = Shape({s_.heads, s_.tokens});
    const std::string head = Shape({s_.heads, s_.tokens, s_.head});
    const std::string context = Split(DotGradient(layer.output, layer.context, gradient));
    const std::string v = BatchDot(head, layer.weights, context, 1, 1);
    const std::string weights = BatchDot(square, context, layer.v, 2, 2);
    const std::string along = Reduce(row, Pair(square, "multiply", weights, layer.weights), 2);
    const std::string scores =
        Multiply(square,
                 Pair(square, "multiply", layer.weights,
                      Pair(square, "subtract", weights, Spread(square, along, "0,1"))),
                 Scalar("0.088388"));
    const std::string q = BatchDot(head, scores, layer.k, 2, 1);
    const std::string k = BatchDot(head, scores, layer.q, 1, 1);
    const std::string full = Activations(s_.tokens);
    std::string x = DotGradient(layer.query, layer.gathered, Unsplit(q));
    x = Pair(full, "add", x, DotGradient(layer.key, layer.gathered, Unsplit(k)));
    return Pair(full, "add", x, DotGradient(layer.value, layer.gathered, Unsplit(v)));
  }

  std::string Backward(const Layer* layer, const std::string& gradient) {
    const std::vector<int64_t> full = {s_.tokens, s_.hidden};
    const std::string shard = Activations(s_.tokens / s_.tensor);
    const std::string wide = Shape({s_.tokens, s_.inner});
    const std::string out = Gather(full, gradient, true);
    const std::string active = DotGradient(layer->down, layer->active, out);
    const std::string gate = Op(wide, "logistic", layer->hidden);
    const std::string slope = Pair(wide, "multiply", gate,
                                   Pair(wide, "add", Spread(wide, Scalar("1")),
                                        Pair(wide, "subtract", layer->hidden, layer->active)));
    const std::string x =
        DotGradient(layer->up, layer->gathered2, Pair(wide, "multiply", active, slope));
    const std::string middle =
        Pair(shard, "add", gradient,
             LayerNormGradient(layer->norm2, layer->gain2, Scatter(full, x, true)));
    const std::string attention = AttentionGradient(*layer, Gather(full, middle, true));
    return Pair(shard, "add", middle,
                LayerNormGradient(layer->norm, layer->gain, Scatter(full, attention, true)));
  }

  const TrainingStepSizes s_;
  std::string body_;
  std::vector<std::pair<std::string, std::string>> results_;  // shape, name
  int64_t count_ = 0, parameters_ = 0;
  mutable int64_t channels_ = 0;
  std::array<std::string, 2> position_;  // along the data and the tensor axis
  std::string zero_;
};

}  // namespace hv
