#include "verify/counterexample.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <vector>

namespace hv {
namespace {

using Leaves64 = std::vector<int64_t>;  // sorted leaf ids
using Fails = std::function<bool(const Leaves64&)>;

constexpr int kMaxProbes = 400;

Leaves64 AllLeaves(const InputSpace& space) {
  Leaves64 ids;
  for (int64_t id = 0; id < space.id_count(); ++id) {
    if (space.IsOwn(space.LeafOf(id))) ids.push_back(id);
  }
  return ids;
}

// Delta debugging (Zeller and Hildebrandt 2002): a subset that still fails and cannot lose a chunk.
// `ids` fails. Gives up shrinking after kMaxProbes tries; the result fails all the same.
Leaves64 Shrink(Leaves64 ids, const Fails& fails) {
  size_t chunks = 2;
  int probes = 0;
  while (ids.size() > 1 && probes < kMaxProbes) {
    chunks = std::min(chunks, ids.size());
    bool smaller = false;
    for (size_t c = 0; c < chunks && !smaller && probes < kMaxProbes; ++c) {
      const auto begin = ids.begin() + static_cast<int64_t>(ids.size() * c / chunks);
      const auto end = ids.begin() + static_cast<int64_t>(ids.size() * (c + 1) / chunks);
      const Leaves64 chunk(begin, end);
      Leaves64 rest(ids.begin(), begin);
      rest.insert(rest.end(), end, ids.end());
      ++probes;
      if (fails(chunk)) {
        ids = chunk;
        chunks = 2;
        smaller = true;
      } else if (chunks > 2 && (++probes, fails(rest))) {
        ids = rest;
        chunks = chunks - 1;
        smaller = true;
      }
    }
    if (smaller) continue;
    if (chunks == ids.size()) break;
    chunks *= 2;
  }
  return ids;
}

// Simple values at `ids`, simplest first: ones among zeros, then what max, min, products and masks
// need, then random integers.
std::vector<NativeInput> Patterns(const Leaves64& ids, const NativeInput& like) {
  constexpr double kBaseAndValue[][2] = {{0, 1}, {0, -1}, {1, 0}, {1, 2}, {0, 2}, {-1, 1}};
  std::vector<NativeInput> inputs;
  for (const auto& [base, value] : kBaseAndValue) {
    NativeInput input = like;
    input.values = NativeInput::Values::kFixed;
    input.base = base;
    input.fixed = value;
    input.active = ids;
    inputs.push_back(std::move(input));
  }
  for (uint64_t trial = 0; trial < 3; ++trial) {
    NativeInput input = like;
    input.values = NativeInput::Values::kWholeNumbers;
    input.limit = 8;
    input.trial = trial;
    input.base = static_cast<double>(trial % 2);
    input.active = ids;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::optional<Refutation> TryPatterns(const Leaves64& ids, const NativeRuns& native,
                                      const NativeInput& like) {
  for (NativeInput& input : Patterns(ids, like)) {
    if (auto difference = native.CertainDifference(input)) {
      return Refutation{std::move(input), std::move(*difference)};
    }
  }
  return std::nullopt;
}

// The leaves of one parameter on one device after the other, as far as kMaxProbes runs go.
std::optional<Refutation> TryDevices(const InputSpace& space, const NativeRuns& native,
                                     const NativeInput& like) {
  std::map<std::pair<int64_t, int64_t>, Leaves64> by_device;
  for (int64_t id : AllLeaves(space)) {
    const Leaf leaf = space.LeafOf(id);
    by_device[{leaf.slot, leaf.device}].push_back(id);
  }
  if (by_device.size() > kMaxProbes) return std::nullopt;
  for (const auto& [key, ids] : by_device) {
    if (auto refutation = TryPatterns(ids, native, like)) return refutation;
  }
  return std::nullopt;
}

std::optional<double> Number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Refutation> RefuteByCodes(const InputSpace& space, ExactRuns* exact,
                                        const NativeRuns& native, const NativeInput& like,
                                        const std::vector<WrongSummand>& wrong) {
  for (const WrongSummand& summand : wrong) {
    if (summand.leaf == WrongSummand::kConstant) continue;
    if (auto found = TryPatterns({summand.leaf}, native, like)) return found;
    break;
  }
  const Leaves64 all = AllLeaves(space);
  const Fails differ = [&](const Leaves64& ids) { return exact->DifferenceOn(ids).has_value(); };
  const Leaves64 none;
  // Constants alone may differ; or only their codes do, where a maximum is taken of a maximum.
  const bool constants = differ(none);
  if (!constants && !differ(all)) return std::nullopt;
  const Leaves64 ids = constants ? none : Shrink(all, differ);
  if (auto refutation = TryPatterns(ids, native, like)) return refutation;
  auto refutation = TryDevices(space, native, like);
  if (refutation) return Reduce(space, native, std::move(*refutation));
  return std::nullopt;
}

Refutation Reduce(const InputSpace& space, const NativeRuns& native, Refutation refutation) {
  if (refutation.input.values == NativeInput::Values::kExplicit) return refutation;
  const Fails fails = [&](const Leaves64& ids) {
    NativeInput input = refutation.input;
    input.active = ids;
    return native.CertainDifference(input).has_value();
  };
  const Leaves64 start = refutation.input.active.value_or(AllLeaves(space));
  const Leaves64 ids = Shrink(start, fails);
  if (auto simple = TryPatterns(ids, native, refutation.input)) return *simple;
  NativeInput input = refutation.input;
  input.active = ids;
  if (auto difference = native.CertainDifference(input)) {
    return {std::move(input), std::move(*difference)};
  }
  return refutation;
}

std::string ExplainUnit(const InputSpace& space, const Refutation& refutation) {
  const NativeInput& input = refutation.input;
  if (input.values != NativeInput::Values::kFixed || input.base != 0 || input.fixed != 1 ||
      !input.active || input.active->size() != 1) {
    return "";
  }
  const auto before = Number(refutation.difference.before);
  const auto after = Number(refutation.difference.after);
  if (!before || !after) return "";
  const std::string reader = space.mesh().NameOf(refutation.difference.place.device);
  const std::string source =
      space.mesh().NameOf(DeviceId(space.LeafOf(input.active->front()).device));
  if (*after == 0) {
    return fmt::format("device {} misses the contribution of device {}", reader, source);
  }
  if (*before == 0) {
    return fmt::format("device {} takes a contribution of device {} that it should not", reader,
                       source);
  }
  return fmt::format("device {} takes the contribution of device {} {} times instead of {}", reader,
                     source, refutation.difference.after, refutation.difference.before);
}

}  // namespace hv
