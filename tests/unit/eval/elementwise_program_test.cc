// Groups of elementwise instructions against one instruction at a time, bit for bit: every pair of
// functions that a compiled loop knows, random graphs, odd lengths, every kind of machine.
#include "eval/elementwise_program.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "base/parallel.h"
#include "eval/vector_isa.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv {
namespace {

constexpr int64_t kLong = 4096 + 37;  // long enough for compiled loops, with a rest for all vectors

// A NaN of this sign and low bits, quiet or signalling.
template <class T>
T NaN(bool negative, bool quiet, uint32_t payload) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  Bits bits = std::bit_cast<Bits>(std::numeric_limits<T>::infinity()) | payload;
  if (quiet) bits |= std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  if (negative) bits |= std::bit_cast<Bits>(T(-0.0));
  return std::bit_cast<T>(bits);
}

// Zeros, subnormals, infinities, NaNs and plain numbers; two arrays of different `period` meet in
// all pairs.
template <class T>
Value Specials(const Shape* shape, int64_t period) {
  using Limits = std::numeric_limits<T>;
  const T list[] = {0,
                    T(-0.0),
                    1,
                    T(-1.5),
                    Limits::denorm_min(),
                    -Limits::denorm_min(),
                    T(0.3),
                    2,
                    Limits::max(),
                    Limits::lowest(),
                    Limits::infinity(),
                    -Limits::infinity(),
                    T(1e-20),
                    Limits::quiet_NaN(),
                    NaN<T>(true, true, 5),
                    NaN<T>(false, true, 6),
                    NaN<T>(true, false, 7),
                    NaN<T>(false, false, 8),
                    T(3.25),
                    T(-7),
                    Limits::min()};
  constexpr int64_t kCount = std::size(list);
  Value value = Value::NewNative(shape);
  int64_t i = 0;
  for (T& element : value.MutableAs<T>()) element = list[i++ / period % kCount];
  return value;
}

std::vector<Value> ArgumentsOf(const Module& module) {
  std::vector<Value> arguments;
  int64_t period = 1;
  for (const InstructionIndex p : module.Entry().parameters) {
    const Shape* shape = module.Entry().At(p).shape;
    arguments.push_back(shape->type == ElementType::kF64 ? Specials<double>(shape, period)
                                                         : Specials<float>(shape, period));
    period = period * 21 % 1000;
  }
  return arguments;
}

// All steps of ENTRY as one group.
std::optional<ElementwiseProgram> Group(const Computation& entry) {
  std::vector<InstructionIndex> members;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    if (ElementwiseProgram::IsStep(entry, entry.instructions[i])) {
      members.push_back(static_cast<InstructionIndex>(i));
    }
  }
  return ElementwiseProgram::Compile(entry, members);
}

Value RunGroup(const Module& module, const std::vector<Value>& arguments) {
  const Computation& entry = module.Entry();
  const std::optional<ElementwiseProgram> program = Group(entry);
  HV_CHECK(program.has_value(), "one group");
  std::vector<Value> operands;
  for (const InstructionIndex o : program->operands()) {
    const Instruction& operand = entry.At(o);
    operands.push_back(operand.opcode == Opcode::kConstant
                           ? Value::FromLiteral(*operand.literal)
                           : arguments[static_cast<size_t>(operand.parameter_number)]);
  }
  return program->Run(operands);
}

// The first element that differs in any bit, or nothing.
template <class T>
std::string DifferenceOf(const Value& got, const Value& expected) {
  const auto g = got.As<T>(), e = expected.As<T>();
  for (size_t i = 0; i < e.size(); ++i) {
    if (std::memcmp(&g[i], &e[i], sizeof(T)) == 0) continue;
    return "[" + std::to_string(i) + "] is " + std::to_string(g[i]) + ", not " +
           std::to_string(e[i]);
  }
  return "";
}

void ExpectSame(const std::string& body) {
  const Module module = test::Parse(body);
  const std::vector<Value> arguments = ArgumentsOf(module);
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const Value expected = test::Evaluate(*domain, module, arguments).value();
  const Value got = RunGroup(module, arguments);
  const bool wide = expected.shape()->type == ElementType::kF64;
  ASSERT_EQ(wide ? DifferenceOf<double>(got, expected) : DifferenceOf<float>(got, expected), "")
      << body;
}

struct Function {
  const char* name;
  int arity;
};
constexpr Function kFunctions[] = {{"add", 2},     {"subtract", 2}, {"multiply", 2}, {"divide", 2},
                                   {"maximum", 2}, {"minimum", 2},  {"sqrt", 1},     {"negate", 1},
                                   {"abs", 1},     {"clamp", 3}};

std::string ArrayType(const std::string& type, int64_t n) {
  return type + "[" + std::to_string(n) + "]";
}

std::string Parameters(const std::string& array) {
  std::string text;
  for (int k = 0; k < 3; ++k) {
    const std::string number = std::to_string(k);
    text += "  p" + number + " = " + array + " parameter(" + number + ")\n";
  }
  return text;
}

// fn(first, others..), with `first` at `place`.
std::string Call(const Function& fn, const std::string& first, int place) {
  std::string text = std::string(fn.name) + "(";
  for (int k = 0, other = 1; k < fn.arity; ++k) {
    if (k > 0) text += ", ";
    text += k == place ? first : "p" + std::to_string(other++ % 3);
  }
  return text + ")";
}

// What a machine without compiled loops has, and one with; with the widest vectors that come
// between.
class ElementwisePairs : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { LimitIsa(GetParam()); }
  void TearDown() override { LimitIsa(Isa::kAvx512); }
};

TEST_P(ElementwisePairs, EveryFunctionAfterEveryOther) {
  for (const std::string type : {"f32", "f64"}) {
    const std::string array = ArrayType(type, kLong);
    for (const Function& first : kFunctions) {
      for (const Function& second : kFunctions) {
        for (int place = 0; place < second.arity; ++place) {
          ExpectSame(Parameters(array) + "  a = " + array + " " + Call(first, "p0", 0) +
                     "\n  ROOT r = " + array + " " + Call(second, "a", place));
        }
      }
    }
  }
}

TEST_P(ElementwisePairs, EveryComparisonDecides) {
  for (const std::string type : {"f32", "f64"}) {
    const std::string array = ArrayType(type, kLong);
    for (const std::string direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      ExpectSame(Parameters(array) + "  a = " + array + " add(p0, p2)\n  c = " +
                 ArrayType("pred", kLong) + " compare(p0, p1), direction=" + direction +
                 "\n  ROOT r = " + array + " select(c, a, p1)");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ElementwisePairs,
                         testing::Values(Isa::kBase, Isa::kAvx2, Isa::kAvx512));

// Steps that read what was made before, numbers repeated and spread, and truth values that leave a
// loop; what nobody reads is added up at the end.
std::string RandomGraph(uint32_t seed, const std::string& type, int64_t rows) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const std::string array = ArrayType(type, rows * 7), pred = ArrayType("pred", rows * 7);
  std::string text =
      Parameters(array) + "  c0 = " + type + "[] constant(0.75)\n  w0 = " + array +
      " broadcast(c0), dimensions={}\n  c1 = " + type + "[] constant(-3)\n  w1 = " + array +
      " broadcast(c1), dimensions={}\n  i0 = " + array + " iota(), iota_dimension=0\n";
  std::vector<std::string> values = {"p0", "p1", "p2", "w0", "w1", "i0"}, unread;
  const auto pick = [&] {
    const std::string& value =
        values[values.size() - 1 - below(std::min(values.size(), size_t{12}))];
    unread.erase(std::remove(unread.begin(), unread.end(), value), unread.end());
    return value;
  };
  const size_t steps = 2 + below(30);
  for (size_t s = 0; s < steps; ++s) {
    const std::string name = "v" + std::to_string(s);
    const size_t kind = below(std::size(kFunctions) + 3);
    if (kind < std::size(kFunctions)) {
      const Function& fn = kFunctions[kind];
      std::string operands = pick();
      for (int k = 1; k < fn.arity; ++k) operands += ", " + pick();
      text += "  " + name + " = " + array + " " + fn.name + "(" + operands + ")\n";
    } else if (kind == std::size(kFunctions)) {
      text += "  " + name + " = " + array + " floor(" + pick() + ")\n";
    } else {
      text +=
          "  t" + name + " = " + pred + " compare(" + pick() + ", " + pick() + "), direction=LE\n";
      const bool leaves = kind == std::size(kFunctions) + 1;
      const std::string truth = leaves ? "n" + name : "t" + name;
      if (leaves) text += "  " + truth + " = " + pred + " not(t" + name + ")\n";
      text +=
          "  " + name + " = " + array + " select(" + truth + ", " + pick() + ", " + pick() + ")\n";
    }
    values.push_back(name);
    unread.push_back(name);
  }
  std::string sum = unread[0];
  for (size_t k = 1; k < unread.size(); ++k) {
    text +=
        "  sum" + std::to_string(k) + " = " + array + " subtract(" + sum + ", " + unread[k] + ")\n";
    sum = "sum" + std::to_string(k);
  }
  return text + "  ROOT r = " + array + " add(" + sum + ", p0)\n";
}

TEST(ElementwiseProgram, RandomGraphs) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const int64_t rows = seed % 3 == 0 ? 5 : 600 + seed % 9;
    SetThreadCount(seed % 4 == 0 ? 2 : 1);
    ExpectSame(RandomGraph(seed, seed % 5 == 0 ? "f64" : "f32", seed % 7 == 0 ? rows * 9 : rows));
  }
  SetThreadCount(1);
}

TEST(ElementwiseProgram, EveryLength) {
  for (int64_t n : {1, 2, 7, 8, 9, 4095, 4096, 4097, 4098, 4099, 4100, 4101, 4102, 4103, 4104}) {
    const std::string f = ArrayType("f32", n);
    ExpectSame(Parameters(f) + "  a = " + f + " add(p0, p1)\n  b = " + f +
               " multiply(a, a)\n  c = " + f + " exponential(b)\n  d = " + f +
               " subtract(c, a)\n  ROOT r = " + f + " divide(d, p2)");
  }
}

TEST(ElementwiseProgram, MoreValuesThanRegisters) {
  const std::string f = ArrayType("f32", kLong);
  std::string text = Parameters(f), sum = "m0";
  const auto name = [](const char* letter, int k) { return letter + std::to_string(k); };
  for (int k = 0; k < 20; ++k) {
    text += "  " + name("m", k) + " = " + f + " subtract(" + (k == 0 ? "p0" : name("m", k - 1)) +
            ", p" + std::to_string(k % 3) + ")\n";
  }
  for (int k = 1; k < 20; ++k) {
    text += std::string(k == 19 ? "  ROOT " : "  ") + name("z", k) + " = " + f + " multiply(" +
            sum + ", " + name("m", k) + ")\n";
    sum = name("z", k);
  }
  ExpectSame(text);
}

TEST(ElementwiseProgram, TakesTheStorageOfAnOperandThatDies) {
  const std::string f = ArrayType("f32", kLong);
  const Module module = test::Parse(Parameters(f) + "  a = " + f + " add(p0, p1)\n  ROOT r = " + f +
                                    " subtract(a, p0)");
  const std::optional<ElementwiseProgram> program = Group(module.Entry());
  std::vector<Value> arguments = ArgumentsOf(module);
  const Value expected = RunGroup(module, arguments);
  const std::byte* storage = arguments[0].bytes().data();
  arguments.pop_back();
  const Value got = program->Run(arguments);
  EXPECT_EQ(got.bytes().data(), storage);
  EXPECT_EQ(DifferenceOf<float>(got, expected), "");
}

TEST(CompiledLoop, ExistsWhereMachineAndRegistersSuffice) {
  if (!CompiledLoop::IsPossible()) GTEST_SKIP() << "no compiled loops here";
  const LoopStep steps[] = {{ScalarFn::kAdd, {}, {0, 1}, 2}, {ScalarFn::kMultiply, {}, {2, 2}, 3}};
  const auto compile = [&](const LoopInterface& interface) {
    return CompiledLoop::Compile(ElementType::kF32, steps, interface);
  };
  const LoopInterface interface {
    .scalars = {1}, .arrays = {0}, .results = { 3 }
  };
  const auto loop = compile(interface);
  ASSERT_NE(loop, nullptr);
  const float x[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, y = 0.5f;
  float out[11] = {};
  std::byte* const memory[] = {reinterpret_cast<std::byte*>(const_cast<float*>(&y)),
                               reinterpret_cast<std::byte*>(const_cast<float*>(x)),
                               reinterpret_cast<std::byte*>(out)};
  loop->Run(memory, 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(out[i], (x[i] + y) * (x[i] + y));
  EXPECT_EQ(out[10], 0);  // not one too many
  const std::vector<int> many = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  EXPECT_EQ(compile({.scalars = many, .arrays = {0, 1}, .results = {3}}), nullptr);
  LimitIsa(Isa::kBase);
  EXPECT_FALSE(CompiledLoop::IsPossible());
  EXPECT_EQ(compile(interface), nullptr);
  LimitIsa(Isa::kAvx512);
}

}  // namespace
}  // namespace hv
