// random_waits SEED: prints a small module for eight partitions whose devices go through groups of
// their own in loops and branches, group by group for different times. In many modules something is
// wrong: a device leaves a loop early or takes another branch than its group, two groups come in
// different orders, an offset lies outside. So they end in every way a run can end.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

constexpr int kDevices = 8;

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed), wrong_(Below(2) == 0) {}

  std::string Module() {
    const int segments = 3 + Below(6);
    for (int i = 0; i < segments; ++i) AddSegment();
    return fmt::format(
        "HloModule waits, num_partitions=8{}\n\n"
        "sum {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}}\n\n"
        "{}ENTRY main {{\n  v0 = f32[16] parameter(0)\n  self = u32[] partition-id()\n{}"
        "  ROOT out = f32[16] negate(v{})\n}}\n",
        Below(3) == 0 ? ", is_scheduled=true" : "", callees_, body_, names_);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  // Neighbours, or devices far apart.
  std::string Groups(int size, bool near) {
    std::string text = "replica_groups={";
    for (int g = 0; g < kDevices / size; ++g) {
      text += g > 0 ? ",{" : "{";
      for (int k = 0; k < size; ++k) {
        const int device = near ? g * size + k : k * kDevices / size + g;
        text += fmt::format("{}{}", k > 0 ? "," : "", device);
      }
      text += "}";
    }
    return text + "}";
  }
  std::string AllReduce(const std::string& of, int size, bool near) {
    return fmt::format("all-reduce({}), channel_id=1, use_global_device_ids=true, {}, to_apply=sum",
                       of, Groups(size, near));
  }

  // A number of each device, the same for `alike` neighbours, but perhaps for one of them.
  void Choose(const std::string& name, int below, int alike) {
    std::array<int, kDevices> numbers{};
    for (int d = 0; d < kDevices; ++d) {
      numbers[static_cast<size_t>(d)] =
          d % alike == 0 ? Below(below) : numbers[static_cast<size_t>(d - 1)];
    }
    if (wrong_ && Below(3) > 0) numbers[static_cast<size_t>(Below(kDevices))] = Below(below);
    std::string list;
    for (int number : numbers) list += fmt::format("{}{}", list.empty() ? "" : ", ", number);
    Line("{}t = s32[8] constant({{{}}})", name, list);
    Line("{0}s = s32[1] dynamic-slice({0}t, self), dynamic_slice_sizes={{1}}", name);
    Line("{0} = s32[] reshape({0}s)", name);
  }

  void AddSegment() {
    const std::string in = fmt::format("v{}", names_), out = fmt::format("v{}", ++names_);
    const int size = 1 << Below(4);
    switch (wrong_ && Below(12) == 0 ? 5 : Below(5)) {
      case 0: return Line("{} = f32[16] {}", out, AllReduce(in, size, Below(3) > 0));
      case 1: return Loop(in, out, 1 << Below(3));
      case 2: return Branches(in, out, 1 << Below(3));
      case 3: {  // two groups at once
        const int other = 1 << Below(4);
        const bool swapped = Below(2) == 0;
        const std::string one = AllReduce(in, size, true), two = AllReduce(in, other, false);
        Line("{}a = f32[16] {}", out, swapped ? two : one);
        Line("{}b = f32[16] {}", out, swapped ? one : two);
        return Line("{0} = f32[16] subtract({0}a, {0}b)", out);
      }
      case 4:
        return Line("{} = f32[16] collective-permute({}), channel_id=1, source_target_pairs={}",
                    out, in, Below(2) == 0 ? "{{0,1},{1,0},{2,3},{3,2},{4,5},{5,4},{6,7},{7,6}}"
                                      : "{{0,2},{1,3},{4,0}}");
      default: return Outside(in, out);
    }
  }

  void Loop(const std::string& in, const std::string& out, int size) {
    const std::string state = "(s32[], f32[16])";
    Choose(out + "n", 5, size);
    callees_ += fmt::format(
        "{0}c {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  z = s32[] constant(0)\n  ROOT m = pred[] compare(i, z), direction=GT\n}}\n\n"
        "{0}b {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  x = f32[16] get-tuple-element(p), index=1\n  r = f32[16] {2}\n"
        "  o = s32[] constant(1)\n  j = s32[] subtract(i, o)\n  ROOT t = {1} tuple(j, r)\n}}\n\n",
        out, state, AllReduce("x", size, !wrong_ || Below(4) > 0));
    Line("{0}i = {1} tuple({0}n, {2})", out, state, in);
    Line("{0}w = {1} while({0}i), condition={0}c, body={0}b", out, state);
    Line("{0} = f32[16] get-tuple-element({0}w), index=1", out);
  }

  void Branches(const std::string& in, const std::string& out, int size) {
    Choose(out + "n", 2, size);
    const bool empty = Below(3) == 0;  // one of them meets nobody
    for (const char* side : {"l", "r"}) {
      const bool meets = *side == 'l' || !empty;
      callees_ += fmt::format("{}{} {{\n  x = f32[16] parameter(0)\n  ROOT y = f32[16] {}\n}}\n\n",
                              out, side, meets ? AllReduce("x", size, !wrong_ || Below(4) > 0) : "negate(x)");
    }
    Line("{0} = f32[16] conditional({0}n, {1}, {1}), branch_computations={{{0}l, {0}r}}", out,
         in);
  }

  void Outside(const std::string& in, const std::string& out) {
    Choose(out + "n", 20, 2);
    Line("{0}f = s32[1] reshape({0}n)", out);
    Line("{}g = s32[1] constant({{2}})", out);
    Line("{}h = s32[1] constant({{0}})", out);
    Line("{0} = f32[16] ragged-all-to-all({1}, {1}, {0}f, {0}g, {0}h, {0}g), channel_id=1, "
         "replica_groups={{{{0}},{{1}},{{2}},{{3}},{{4}},{{5}},{{6}},{{7}}}}", out, in);
  }

  std::mt19937 random_;
  const bool wrong_;
  int names_ = 0;
  std::string callees_, body_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::fputs(Writer(static_cast<uint32_t>(std::atoi(argv[1]))).Module().c_str(), stdout);
}
