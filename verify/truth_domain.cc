#include "verify/truth_domain.h"

#include <utility>

#include "eval/field.h"
#include "verify/forwarding_domain.h"

namespace hv {
namespace {

class TruthDomain : public ForwardingDomain {
 public:
  TruthDomain(CodeDomain* codes, TruthTable* truths)
      : ForwardingDomain(codes), codes_(*codes), truths_(*truths) {}

 private:
  Result<Value> Seen(Result<Value> result) override {
    if (!result) return result;
    return Settled(*result);
  }

  Result<Value> Settled(const Value& value) {
    if (value.shape()->IsTuple()) {
      std::vector<Value> elements;
      for (const Value& element : value.elements()) {
        HV_ASSIGN(Value settled, Settled(element));
        elements.push_back(std::move(settled));
      }
      return Value::Tuple(value.shape(), std::move(elements));
    }
    if (!value.IsDense() || value.IsNative() || !IsPred(value.shape()->type)) return value;
    const Value codes = codes_.Finish(value);
    Value settled = Value::NewNative(value.shape());
    const auto out = settled.MutableAs<uint8_t>();
    for (int64_t i = 0; i < value.element_count(); ++i) {
      const std::optional<bool> truth = truths_.ValueOf(codes_.CodeAt(codes, i));
      if (!truth) return Unsupported("too-many-truths", "too many unknown truth values");
      out[static_cast<size_t>(i)] = *truth ? 1 : 0;
    }
    return settled;
  }

  CodeDomain& codes_;
  TruthTable& truths_;
};

}  // namespace

std::optional<bool> TruthTable::ValueOf(const Code& code) {
  if (code == Code{0, 0}) return false;
  if (code == Code{1, 1}) return true;
  const Code negation = {(Fp::Of(1) - Fp::Of(code[0])).number(),
                         (Fq::Of(1) - Fq::Of(code[1])).number()};
  if (numbers_.count(negation) == 0) return BitOf(code);
  const std::optional<bool> opposite = BitOf(negation);
  return opposite ? std::optional<bool>(!*opposite) : std::nullopt;
}

std::optional<bool> TruthTable::BitOf(const Code& code) {
  if (numbers_.count(code) == 0 && numbers_.size() == kMost) return std::nullopt;
  const size_t number = numbers_.emplace(code, numbers_.size()).first->second;
  return (assignment_ >> number & 1) != 0;
}

std::unique_ptr<Domain> MakeTruthDomain(CodeDomain* codes, TruthTable* truths) {
  return std::make_unique<TruthDomain>(codes, truths);
}

}  // namespace hv
