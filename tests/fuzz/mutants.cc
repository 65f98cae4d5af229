#include "tests/fuzz/mutants.h"

#include <algorithm>

namespace hv {

#define HV_SPOIL(name, number, opcodes, marks, doc) bool Spoil##name(MutantSite& s);
#include "tests/fuzz/mutants.def"
#undef HV_SPOIL

namespace {

constexpr Mutant kMutants[] = {
#define HV_SPOIL(name, number, opcodes, marks, doc) {number, opcodes, marks, doc, Spoil##name},
#include "tests/fuzz/mutants.def"
#undef HV_SPOIL
};

// Is the step's opcode, or "constant:stem", among the words?
bool Takes(std::string_view words, const SketchStep& step) {
  const std::string key = step.opcode == "constant"
                              ? "constant:" + step.name.substr(0, step.name.rfind('.'))
                              : step.opcode;
  const std::string list = " " + std::string(words) + " ";
  return list.find(" " + key + " ") != std::string::npos;
}

}  // namespace

std::span<const Mutant> AllMutants() { return kMutants; }

std::vector<Spoilt> SpoilEach(const Mutant& mutant, const Sketch& right, uint64_t seed) {
  std::vector<Spoilt> spoilt;
  for (size_t b = 0; b < right.bodies.size(); ++b) {
    for (const SketchStep& step : right.bodies[b].steps) {
      if (!Takes(mutant.opcodes, step)) continue;
      Spoilt one{&mutant, step.name, right};
      MutantSite site(&one.sketch, b, step.name,
                      Draw(seed, static_cast<uint64_t>(mutant.number) << 32 | spoilt.size()));
      if (mutant.spoil(site)) spoilt.push_back(std::move(one));
    }
  }
  return spoilt;
}

size_t MutantSite::at() { return NumberOf(name_); }

size_t MutantSite::NumberOf(const std::string& name) {
  return static_cast<size_t>(body().Find(name) - body().steps.data());
}

SketchStep* MutantSite::Def(size_t operand) {
  if (operand >= step().operands.size()) return nullptr;
  return body().Find(step().operands[operand]);
}

std::optional<int64_t> MutantSite::Number(const SketchStep* s) {
  if (s != nullptr && s->opcode == "broadcast") s = Find(s->operands[0]);
  if (s == nullptr || s->opcode != "constant" || s->type == "pred") return std::nullopt;
  const std::vector<int64_t> numbers = NumbersIn(s->inside);
  if (numbers.size() != 1) return std::nullopt;
  return numbers[0];
}

void MutantSite::ReadFrom(size_t from, const SketchValue& value) {
  std::vector<SketchStep>& steps = body().steps;
  for (size_t i = from; i < steps.size(); ++i) {
    std::replace(steps[i].operands.begin(), steps[i].operands.end(), name_, value.name);
  }
  if (body().root == name_) body().root = value.name;
}

}  // namespace hv
