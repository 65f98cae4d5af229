// random_collectives SEED COUNT: prints a module of COUNT random collectives on eight partitions.
// Four chains of arrays from 32 bytes to 512 KiB run beside each other, synchronous and
// asynchronous, over random groups, some inside a branch that half of the devices take. Every
// device's result is one word per chain that depends on every bit of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kDevices = 8;
constexpr int kLengths[] = {8, 1000, 24'000, 131'072};

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string Module(int count) {
    for (int c = 0; c < 4; ++c) {
      chains_.push_back(fmt::format("p{}", c));
      body_ += fmt::format("  p{0} = f32[{1}] parameter({0})\n", c, kLengths[c]);
    }
    body_ +=
        "  self = u32[] partition-id()\n  half = u32[] constant(4)\n"
        "  low = pred[] compare(self, half), direction=LT\n";
    for (int i = 0; i < count; ++i) AddCollective();
    body_ += "  zero = u32[] constant(0)\n";
    for (int c = 0; c < 4; ++c) {
      body_ += fmt::format(
          "  bits{0} = u32[{1}] bitcast-convert({2})\n"
          "  word{0} = u32[] reduce(bits{0}, zero), dimensions={{0}}, to_apply=mix\n",
          c, kLengths[c], chains_[static_cast<size_t>(c)]);
    }
    body_ += "  ROOT words = (u32[], u32[], u32[], u32[]) tuple(word0, word1, word2, word3)\n";
    std::string text = "HloModule random, num_partitions=8\n\n";
    for (const char* op : {"add", "maximum", "minimum"}) {
      text += fmt::format(
          "{0} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
          "  ROOT c = f32[] {0}(a, b)\n}}\n\n",
          op);
    }
    text +=
        "mix {\n  a = u32[] parameter(0)\n  b = u32[] parameter(1)\n  k = u32[] constant(40503)\n"
        "  m = u32[] multiply(a, k)\n  ROOT c = u32[] add(m, b)\n}\n\n";
    return text + branches_ + "ENTRY main {\n" + body_ + "}\n";
  }

 private:
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

  std::string Groups(int size) {
    const std::vector<int> devices = Shuffled();
    std::string text = "channel_id=1, use_global_device_ids=true, replica_groups={";
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

  void AddCollective() {
    const size_t c = static_cast<size_t>(Below(16) * Below(16) / 64 % 4);  // mostly the short ones
    const int length = kLengths[c], size = 1 << Below(4);
    const std::string in = chains_[c], out = NewName();
    switch (Below(7)) {
      case 0:
        Line("{} = f32[{}] all-reduce({}), {}, {}", out, length, in, Groups(size), Reducer());
        break;
      case 1: {
        const std::string groups = Groups(size);
        Line("{}s = f32[{}] reduce-scatter({}), {}, dimensions={{0}}, {}", out, length / size, in,
             groups, Reducer());
        Line("{0} = f32[{1}] all-gather({0}s), {2}, dimensions={{0}}", out, length, groups);
        break;
      }
      case 2:
        Line("{} = f32[{}] all-to-all({}), {}, dimensions={{0}}", out, length, in,
             Groups(size).replace(12, 28, ""));
        break;
      case 3:
        Line("{}m = f32[{}] collective-permute({}), {}", out, length, in, Pairs());
        Line("{0} = f32[{1}] add({0}m, {2})", out, length, in);
        break;
      case 4:
        Line("{}a = f32[{}] all-reduce-start({}), {}, {}", out, length, in, Groups(size),
             Reducer());
        Line("{0}p = (f32[{1}], f32[{1}]) collective-permute-start({2}), {3}", out, length, in,
             Pairs());
        Line("{0}q = f32[{1}] collective-permute-done({0}p)", out, length);
        Line("{0}b = f32[{1}] all-reduce-done({0}a)", out, length);
        Line("{0} = f32[{1}] maximum({0}b, {0}q)", out, length);
        break;
      case 5:
        Branches(out, length);
        Line(
            "{0} = f32[{1}] conditional(low, {2}, {2}), true_computation={0}l, "
            "false_computation={0}r",
            out, length, in);
        break;
      default:
        Line("{} = f32[{}] collective-broadcast({}), {}", out, length, in,
             Groups(size).replace(12, 28, ""));
        break;
    }
    Line("{0}k = f32[] constant(0.3)", out);
    Line("{0}w = f32[{1}] broadcast({0}k), dimensions={{}}", out, length);
    Line("{0}z = f32[{1}] multiply({0}, {0}w)", out, length);
    chains_[c] = out + "z";
  }

  // Two ways to reduce: devices 0 to 3 take one, the others the other.
  void Branches(const std::string& name, int length) {
    for (const char* side : {"l", "r"}) {
      branches_ += fmt::format(
          "{0}{1} {{\n  x = f32[{2}] parameter(0)\n  ROOT y = f32[{2}] all-reduce(x), "
          "channel_id=1, "
          "use_global_device_ids=true, replica_groups={{{{0,2,1,3}},{{7,6,4,5}}}}, {3}\n}}\n\n",
          name, side, length, Reducer());
    }
  }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::mt19937 random_;
  int names_ = 0;
  std::vector<std::string> chains_;
  std::string body_, branches_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::fputs(Writer(static_cast<uint32_t>(std::atoi(argv[1]))).Module(std::atoi(argv[2])).c_str(),
             stdout);
}
