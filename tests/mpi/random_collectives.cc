// random_collectives SEED COUNT [endless]: prints a module of COUNT random collectives on eight
// partitions. Four chains of arrays from 32 bytes to 512 KiB run beside each other, synchronous and
// asynchronous, over random groups, some in loops, some in a branch that half of the devices take.
// Every device's result is one word per chain, a sum of all bits of every array on the way; a
// chain takes up its parameter at each link, so that it neither dies out nor grows. With "endless"
// this is done again and again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kDevices = 8;
constexpr int kLengths[] = {8, 1000, 24'000, 131'072};
constexpr const char* kHead =
    "  self = u32[] partition-id()\n  half = u32[] constant(4)\n"
    "  low = pred[] compare(self, half), direction=LT\n"
    "  zero = u32[] constant(0)\n  one = u32[] constant(1)\n  factor = u32[] constant(40503)\n"
    "  tenth = f32[] constant(0.1)\n";

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string Module(int count, bool endless) {
    for (size_t c = 0; c < 4; ++c) {
      chains_.push_back({fmt::format("p{}", c), "zero"});
      Line("p{0} = f32[{1}] parameter({0})", c, kLengths[c]);
      Line("i{0} = u32[{1}] iota(), iota_dimension=0", c, kLengths[c]);
      Line("o{0} = u32[{1}] broadcast(one), dimensions={{}}", c, kLengths[c]);
      Line("j{0} = u32[{1}] add(i{0}, i{0})", c, kLengths[c]);
      Line("weights{0} = u32[{1}] add(j{0}, o{0})", c, kLengths[c]);
    }
    for (int i = 0; i < count; ++i) AddLink();
    Line("ROOT words = (u32[], u32[], u32[], u32[]) tuple({}, {}, {}, {})", chains_[0].word,
         chains_[1].word, chains_[2].word, chains_[3].word);
    std::string text = "HloModule random, num_partitions=8\n\n";
    for (const char* op : {"add", "maximum", "minimum"}) text += Reduction(op, op, "f32");
    text += Reduction("add_bf16", "add", "bf16") + Reduction("total", "add", "u32");
    const std::string main = std::string("main {\n") + kHead + body_ + "}\n\n";
    return text + computations_ + (endless ? main + Endless() : "ENTRY " + main);
  }

 private:
  static std::string Endless() {
    std::string arrays, parameters, parts, names;
    for (size_t c = 0; c < 4; ++c) {
      arrays += fmt::format("f32[{}], ", kLengths[c]);
      parameters += fmt::format("  p{0} = f32[{1}] parameter({0})\n", c, kLengths[c]);
      parts += fmt::format("  p{0} = f32[{1}] get-tuple-element(s), index={0}\n", c, kLengths[c]);
      names += fmt::format("{}p{}", c > 0 ? ", " : "", c);
    }
    const std::string words = "(u32[], u32[], u32[], u32[])", state = "(" + arrays + words + ")";
    return fmt::format(
        "body {{\n  s = {0} parameter(0)\n{1}  w = {2} call({3}), to_apply=main\n"
        "  ROOT t = {0} tuple({3}, w)\n}}\n\n"
        "more {{\n  s = {0} parameter(0)\n  ROOT c = pred[] constant(true)\n}}\n\n"
        "ENTRY endless {{\n{4}  zero = u32[] constant(0)\n"
        "  w = {2} tuple(zero, zero, zero, zero)\n  s = {0} tuple({3}, w)\n"
        "  ROOT e = {0} while(s), condition=more, body=body\n}}\n",
        state, parts, words, names, parameters);
  }

  static std::string Reduction(const char* name, const char* op, const char* type) {
    return fmt::format(
        "{0} {{\n  a = {2}[] parameter(0)\n  b = {2}[] parameter(1)\n"
        "  ROOT c = {2}[] {1}(a, b)\n}}\n\n",
        name, op, type);
  }

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string NewName() { return fmt::format("v{}", ++names_); }

  std::vector<int> Shuffled() {
    std::vector<int> devices(kDevices);
    for (int d = 0; d < kDevices; ++d) devices[static_cast<size_t>(d)] = d;
    for (int d = kDevices; d > 1; --d) {
      std::swap(devices[static_cast<size_t>(d - 1)], devices[static_cast<size_t>(Below(d))]);
    }
    return devices;
  }

  std::string Groups(int size, const char* flattened = ", use_global_device_ids=true") {
    const std::vector<int> devices = Shuffled();
    std::string text = fmt::format("channel_id=1{}, replica_groups={{", flattened);
    for (int d = 0; d < kDevices; ++d) {
      text += d % size == 0 ? (d > 0 ? "},{" : "{") : ",";
      text += std::to_string(devices[static_cast<size_t>(d)]);
    }
    return text + "}}";
  }

  // Some devices send, to each of the others or to nobody.
  std::string Pairs() {
    const std::vector<int> from = Shuffled(), to = Shuffled();
    const int count = 1 + Below(kDevices);
    std::string text = "channel_id=1, source_target_pairs={";
    for (int i = 0; i < count; ++i) {
      const size_t k = static_cast<size_t>(i);
      text += fmt::format("{}{{{},{}}}", i > 0 ? "," : "", from[k], to[k]);
    }
    return text + "}";
  }

  std::string Reducer() {
    static constexpr const char* kNames[] = {"add", "maximum", "minimum"};
    return fmt::format("to_apply={}", kNames[Below(3)]);
  }

  void AddLink() {
    const size_t c = static_cast<size_t>(Below(16) * Below(16) / 64 % 4);  // mostly the short ones
    const int length = kLengths[c];
    const std::string out = NewName();
    AddCollective(chains_[c].array, out, length);
    Line("{0}t = f32[{1}] broadcast(tenth), dimensions={{}}", out, length);
    Line("{0}m = f32[{1}] multiply({0}, {0}t)", out, length);
    Line("{0}z = f32[{1}] add({0}m, p{2})", out, length, c);
    Line("{0}b = u32[{1}] bitcast-convert({0}z)", out, length);
    Line("{0}w = u32[{1}] multiply({0}b, weights{2})", out, length, c);
    Line("{0}r = u32[] reduce({0}w, zero), dimensions={{0}}, to_apply=total", out);
    Line("{0}f = u32[] multiply({1}, factor)", out, chains_[c].word);
    Line("{0}h = u32[] add({0}f, {0}r)", out);
    chains_[c] = {out + "z", out + "h"};
  }

  void AddCollective(const std::string& in, const std::string& out, int length) {
    const int size = 1 << Below(4);
    switch (Below(9)) {
      case 0:
        Line("{} = f32[{}] all-reduce({}), {}, {}", out, length, in, Groups(size), Reducer());
        break;
      case 1: {
        const std::string groups = Groups(size);
        Line("{}_s = f32[{}] reduce-scatter({}), {}, dimensions={{0}}, {}", out, length / size, in,
             groups, Reducer());
        Line("{0} = f32[{1}] all-gather({0}_s), {2}, dimensions={{0}}", out, length, groups);
        break;
      }
      case 2:
        Line("{} = f32[{}] all-to-all({}), {}, dimensions={{0}}", out, length, in,
             Groups(size, ""));
        break;
      case 3:
        Line("{}_m = f32[{}] collective-permute({}), {}", out, length, in, Pairs());
        Line("{0} = f32[{1}] add({0}_m, {2})", out, length, in);
        break;
      case 4:
        Asynchronous(in, out, length);
        break;
      case 5:
        Branches(in, out, length);
        break;
      case 6:
        Loop(in, out, length);
        break;
      case 7:
        Narrow(in, out, length);
        break;
      default:
        Line("{} = f32[{}] collective-broadcast({}), {}", out, length, in, Groups(size, ""));
        break;
    }
  }

  // An all-reduce and a permute under way together.
  void Asynchronous(const std::string& in, const std::string& out, int length) {
    Line("{}_a = f32[{}] all-reduce-start({}), {}, {}", out, length, in, Groups(1 << Below(4)),
         Reducer());
    Line("{0}_p = (f32[{1}], f32[{1}]) collective-permute-start({2}), {3}", out, length, in,
         Pairs());
    Line("{0}_q = f32[{1}] collective-permute-done({0}_p)", out, length);
    Line("{0}_b = f32[{1}] all-reduce-done({0}_a)", out, length);
    Line("{0} = f32[{1}] maximum({0}_b, {0}_q)", out, length);
  }

  // Two ways to reduce: devices 0 to 3 take one, the others the other.
  void Branches(const std::string& in, const std::string& out, int length) {
    for (const char* side : {"l", "r"}) {
      computations_ += fmt::format(
          "{0}_{1} {{\n  x = f32[{2}] parameter(0)\n  ROOT y = f32[{2}] all-reduce(x), "
          "channel_id=1, "
          "use_global_device_ids=true, replica_groups={{{{0,2,1,3}},{{7,6,4,5}}}}, {3}\n}}\n\n",
          out, side, length, Reducer());
    }
    Line(
        "{0} = f32[{1}] conditional(low, {2}, {2}), true_computation={0}_l, "
        "false_computation={0}_r",
        out, length, in);
  }

  // As many turns as the position in a pair says: groups of two leave the loop at different times.
  void Loop(const std::string& in, const std::string& out, int length) {
    computations_ += fmt::format(
        "{0}_body {{\n  s = (u32[], f32[{1}]) parameter(0)\n"
        "  left = u32[] get-tuple-element(s), index=0\n"
        "  x = f32[{1}] get-tuple-element(s), index=1\n"
        "  y = f32[{1}] all-reduce(x), channel_id=1, use_global_device_ids=true, "
        "replica_groups={{{{0,1}},{{2,3}},{{4,5}},{{6,7}}}}, {2}\n"
        "  one = u32[] constant(1)\n  less = u32[] subtract(left, one)\n"
        "  ROOT t = (u32[], f32[{1}]) tuple(less, y)\n}}\n\n"
        "{0}_more {{\n  s = (u32[], f32[{1}]) parameter(0)\n"
        "  left = u32[] get-tuple-element(s), index=0\n  zero = u32[] constant(0)\n"
        "  ROOT c = pred[] compare(left, zero), direction=GT\n}}\n\n",
        out, length, Below(2) == 0 ? "to_apply=maximum" : "to_apply=minimum");
    Line("{0}_n = u32[] shift-right-logical(self, one)", out);
    Line("{0}_s = (u32[], f32[{1}]) tuple({0}_n, {2})", out, length, in);
    Line("{0}_e = (u32[], f32[{1}]) while({0}_s), condition={0}_more, body={0}_body", out, length);
    Line("{0} = f32[{1}] get-tuple-element({0}_e), index=1", out, length);
  }

  // Two operands of one all-reduce, of other types.
  void Narrow(const std::string& in, const std::string& out, int length) {
    Line("{0}_n = bf16[{1}] convert({2})", out, length, in);
    Line("{0}_i = u32[{1}] bitcast-convert({2})", out, length, in);
    Line("{0}_r = (bf16[{1}], bf16[{1}]) all-reduce({0}_n, {0}_n), {2}, to_apply=add_bf16", out,
         length, Groups(1 << Below(4)));
    Line("{0}_u = u32[{1}] all-reduce({0}_i), {2}, to_apply=total", out, length, Groups(2));
    Line("{0}_g = bf16[{1}] get-tuple-element({0}_r), index=1", out, length);
    Line("{0}_f = f32[{1}] convert({0}_g)", out, length);
    Line("{0}_v = f32[{1}] convert({0}_u)", out, length);
    Line("{0}_w = f32[{1}] sine({0}_v)", out, length);
    Line("{0} = f32[{1}] add({0}_f, {0}_w)", out, length);
  }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::mt19937 random_;
  int names_ = 0;
  struct Chain {
    std::string array, word;  // the names of what was made last
  };
  std::vector<Chain> chains_;
  std::string body_, computations_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool endless = argc == 4 && std::string_view(argv[3]) == "endless";
  if (argc != 3 && !endless) return 2;
  Writer writer(static_cast<uint32_t>(std::atoi(argv[1])));
  std::fputs(writer.Module(std::atoi(argv[2]), endless).c_str(), stdout);
}
