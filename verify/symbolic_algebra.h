// Normal forms of terms. Every constructor returns the normal form of what it is asked for, so that
// two terms over one domain that the rules make equal are the same node with the same views. Each
// rule holds under a side condition on type and strictness; docs/proof.md lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/module.h"
#include "hlo/op.h"
#include "verify/symbolic_map.h"
#include "verify/symbolic_node.h"
#include "verify/symbolic_ring.h"

namespace hv {

// Which differences the normal forms forget; each forgets what the ones before it forget.
enum class Strictness : uint8_t {
  kBitwise,          // none that shows in a bit (NaNs count as one value)
  kReassociation,    // the order in which one float reduction adds its summands; zeros among them
  kNestedSums,       // also how a sum of sums is bracketed
  kReal,             // rounding: float sums and products are polynomials over the reals
  kRoundedConstant,  // also x / c against x times the rounded 1 / c
};

using Extents = std::vector<int64_t>;

struct Summand {
  Term term;
  int64_t count = 1;  // how often; a coefficient of the ring where the type has one
};

class Algebra {
 public:
  explicit Algebra(Strictness strictness) : strictness_(strictness) {}
  // After this much work (about a node each) terms are no longer brought into normal form: they stay
  // the right functions, but proofs fail.
  void LimitWork(int64_t most) { most_work_ = most; }
  bool IsExhausted() const { return Work() > most_work_; }
  int64_t Work() const { return nodes_.joins() + work_; }
  void CountWork(int64_t work) { work_ += work; }
  Strictness strictness() const { return strictness_; }
  bool IsReal() const { return strictness_ >= Strictness::kReal; }

  // The type under which values of `type` are kept: over the reals all floats are one type.
  ElementType Canonical(ElementType type) const;

  // A function of elements other than the associative and commutative ones: `fn` with its
  // attributes as text. `sample` (may be null) evaluates it on constants.
  int64_t Function(ScalarFn fn, std::string_view attributes, const Instruction* sample = nullptr);
  ScalarFn FunctionOf(int64_t function) const { return functions_[Index(function)].fn; }
  std::string_view AttributesOf(int64_t function) const {
    return functions_[Index(function)].attributes;
  }

  // Leaves. `row`: offset at the origin, then one stride per digit of the domain.
  Term Leaf(int64_t source, ElementType type, std::span<const int64_t> row);
  Term Iota(ElementType type, std::span<const int64_t> row);
  // `element` and `elements` are native values of `type`.
  Term Constant(ElementType type, std::span<const std::byte> element);
  Term Integer(ElementType type, int64_t value);  // of an integer type, or exactly representable
  Term Literal(ElementType type, std::span<const std::byte> elements, std::span<const int64_t> row,
               std::span<const int64_t> extents);

  // Elementwise function `function` on terms over one domain.
  Term Scalar(int64_t function, ElementType type, std::vector<Term> arguments);
  Term Scalar(ScalarFn fn, ElementType type, std::vector<Term> arguments) {
    return Scalar(Function(fn, {}), type, std::move(arguments));
  }
  // `fn` over the summands as a reduction: in any order if strictness and type allow, else in the
  // order given under the name `instance`.
  Term Fold(ScalarFn fn, ElementType type, std::vector<Term> terms, std::string_view instance);
  // `fn` over the last `bound` digits of the domain `extents` of `body`, in any order.
  Term Bind(ScalarFn fn, ElementType type, Term body, std::span<const int64_t> extents,
            size_t bound, int rounds = kRounds);
  // Does every order of folding a reducer on `type` give the same value as far as the strictness
  // sees?
  bool OrderFree(ElementType type) const;

  // e with fn(e, x) = x for all x; nothing if the type has none or `fn` may not be reordered.
  std::optional<Term> NeutralOf(ScalarFn fn, ElementType type);

  // The term seen through `map`; columns of `map` have extents > 1.
  Term Substitute(const Term& term, const DigitMap& map);
  // Equality over the domain `extents`: where the terms as they are differ, both are rebuilt from
  // their leaves first (constant arrays by their elements, ties ordered anew), then compared for
  // each value of what they select by; at most `budget` of their nodes.
  bool Equal(const Term& a, const Term& b, std::span<const int64_t> extents, int64_t budget);

  // How often the bound digits of one reduction are put in order: where several orders tie, the
  // order of the slots and that of the digits may never agree.
  static constexpr int kRounds = 6;
  // How many selections, one inside the other, Equal splits.
  static constexpr int kSplits = 8;

  NodeTable& nodes() { return nodes_; }
  double NearestTo(int64_t coefficient) const { return exact_numbers_.Nearest(coefficient); }
  // Is the term the same constant everywhere?
  static bool IsConstant(const Term& term) { return term.node->kind == NodeKind::kConstant; }

 private:
  struct FunctionRow {
    ScalarFn fn;
    std::string attributes;
    const Instruction* sample;
  };
  using Summands = std::vector<Summand>;
  static size_t Index(int64_t i) { return static_cast<size_t>(i); }

  bool HasRing(ElementType type) const {
    return IsInteger(type) || (IsReal() && (IsFloat(type) || IsComplex(type)));
  }
  Ring RingOf(ElementType type) { return {type, &exact_numbers_}; }
  // Coefficient of a constant, if the ring can hold it.
  std::optional<int64_t> CoefficientOf(const Term& term) const;
  Term FromCoefficient(ElementType type, int64_t coefficient);
  Term ConstantBytes(ElementType type, std::span<const std::byte> element) {
    return {nodes_.Constant(type, element), {}};
  }
  Term FromDouble(ElementType type, double value);

  // Normal form of `fn` over the summands in any order.
  Term Combine(ScalarFn fn, ElementType type, Summands parts);
  Term RingSum(ElementType type, Summands parts);
  Term RingProduct(ElementType type, Summands parts);
  Term Distribute(ElementType type, const Summands& factors, int64_t coefficient);
  Term CountedMulti(ScalarFn fn, ElementType type, Summands parts);
  Term IdempotentMulti(ScalarFn fn, ElementType type, Summands parts);
  Term Xor(ElementType type, Summands parts);
  // Replaces parts that are `fn` themselves by their edges.
  static Summands Flatten(ScalarFn fn, Summands parts);
  static void Sort(Summands* parts);
  Term JoinMulti(ScalarFn fn, ElementType type, const Summands& parts);
  std::optional<Term> IdentityOf(ScalarFn fn, ElementType type);
  Term FoldConstants(ScalarFn fn, const Term& a, const Term& b);

  Term Apply(int64_t function, ElementType type, std::span<const Term> arguments, bool commutes);
  std::optional<Term> EvaluateConstant(int64_t function, ElementType type,
                                       std::span<const Term> arguments);
  static bool AnyUnbounded(std::span<const Term> terms) {
    return std::any_of(terms.begin(), terms.end(),
                       [](const Term& t) { return t.node->unbounded != 0; });
  }
  Term Arithmetic(int64_t function, ElementType type, std::vector<Term> arguments);
  Term Negate(ElementType type, Term x);
  Term Divide(ElementType type, std::vector<Term> arguments);
  std::optional<Term> ExactReciprocal(ElementType type, const Term& c);
  std::optional<Term> Narrowed(ElementType type, const Term& x);
  std::optional<Term> SpeltOut(ScalarFn fn, ElementType type, std::vector<Term>& x);
  std::optional<Term> ConstantPower(ElementType type, Term x, double n);
  Term Reciprocal(ElementType type, const Term& x);
  std::optional<Term> Masked(ElementType type, const std::vector<Term>& arguments);
  std::optional<Term> Turned(const Term& predicate);
  Term Select(int64_t function, ElementType type, std::vector<Term> arguments);
  Term Compare(int64_t function, std::vector<Term> arguments);
  Term Convert(int64_t function, ElementType type, Term x);
  Term Clamp(int64_t function, ElementType type, std::vector<Term> arguments);

  Term BindSum(ElementType type, Term body, Extents extents, size_t bound, int rounds);
  Term BindMonomial(ElementType type, Summands factors, Extents extents, size_t bound, int rounds);
  Term BindNode(ScalarFn fn, ElementType type, Term body, Extents extents, size_t bound,
                int rounds);
  Term FuseBound(ScalarFn fn, ElementType type, const Term& body, const Extents& extents,
                 size_t bound, int rounds);
  Term Repeat(ScalarFn fn, ElementType type, Term term, int64_t times);
  Term Rebuild(const Term& term, std::span<const int64_t> extents);
  Term Assemble(const Node& node, Summands children, std::span<const int64_t> inner);

  Term Replaced(const Term& term, const Term& part, const Term& value,
                std::span<const int64_t> extents);
  bool EqualInCases(const Term& a, const Term& b, std::span<const int64_t> extents, int depth);
  Term Normalized(Term term, std::span<const int64_t> extents);

  struct MemoKey {
    Term term;
    Extents extents;
    friend bool operator==(const MemoKey&, const MemoKey&) = default;
  };
  struct MemoHash {
    size_t operator()(const MemoKey& key) const;
  };
  using Memo = std::unordered_map<MemoKey, Term, MemoHash>;

  Strictness strictness_;
  int64_t most_work_ = INT64_MAX;
  int64_t work_ = 0;  // of binding digits and moving pieces
  NodeTable nodes_;
  ExactNumbers exact_numbers_;
  std::vector<FunctionRow> functions_;
  std::map<std::pair<ScalarFn, std::string>, int64_t> function_index_;
  Memo rebuilt_;  // terms share subterms: each is rebuilt once per view
  Memo thoroughly_rebuilt_;
  int64_t budget_ = 0;     // nodes that may still be rebuilt thoroughly
  bool thorough_ = false;  // rebuild large terms and constant arrays too
};

}  // namespace hv
