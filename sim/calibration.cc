#include "sim/calibration.h"

#include <fmt/format.h>

#include <Eigen/Dense>

#include <algorithm>
#include <limits>

namespace hv {
namespace {

// What one op loads the machine with, one message from everyone to everyone: how many such steps, bytes
// over the medium in one of them, bytes that a device folds.
struct Load {
  double steps = 0, bytes = 0, folded = 0;
  double held = 0;  // bytes of all operands
};

struct Fit {
  double latency = 0, per_byte = 0, per_cached_byte = 0, per_folded_byte = 0;
  double cache_bytes = 0;
  double error = std::numeric_limits<double>::infinity();

  double SecondsOf(const Load& load) const {
    const double per = load.held <= cache_bytes ? per_cached_byte : per_byte;
    return load.steps * (latency + load.bytes * per) + load.folded * per_folded_byte;
  }
};

// An all-reduce takes two steps or one shot, whichever `known` finds cheaper.
Load LoadOf(const Sample& sample, double n, const Fit& known) {
  const double s = static_cast<double>(sample.bytes), moved = s * (n - 1);
  const Load two_steps{2, moved, moved / n, s * n}, one_shot{1, moved * n, moved, s * n};
  switch (sample.op) {
    case TimedOp::kAllReduce:
      return known.SecondsOf(one_shot) < known.SecondsOf(two_steps) ? one_shot : two_steps;
    case TimedOp::kReduceScatter: return {1, moved, moved / n, s * n};
    case TimedOp::kPermute: return {1, s * n, 0, s * n};
    default: return {1, moved, 0, s * n};
  }
}

// Least squares of relative errors: seconds = steps · latency + bytes over the medium / rate, cached or
// not, + bytes folded / rate of folding; no rate below zero: such a column is left out and the rest fitted
// again.
Fit FitLoads(const std::vector<Sample>& samples, double devices, const Fit& known) {
  std::vector<const Sample*> used;
  for (const Sample& s : samples) {
    if (s.op != TimedOp::kAdd) used.push_back(&s);
  }
  Eigen::MatrixXd a(static_cast<Eigen::Index>(used.size()), 4);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(a.rows());
  for (Eigen::Index row = 0; row < a.rows(); ++row) {
    const Sample& sample = *used[static_cast<size_t>(row)];
    const Load load = LoadOf(sample, devices, known);
    const bool cached = load.held <= known.cache_bytes;
    a.row(row) << load.steps, cached ? 0 : load.steps * load.bytes,
        cached ? load.steps * load.bytes : 0, load.folded;
    a.row(row) /= sample.seconds;
  }
  std::vector<Eigen::Index> columns = {0, 1, 2, 3};
  Eigen::Vector4d x = Eigen::Vector4d::Zero();
  while (!columns.empty()) {
    const Eigen::MatrixXd part = a(Eigen::all, columns);
    const Eigen::VectorXd solved = part.colPivHouseholderQr().solve(ones);
    Eigen::Index least = 0;
    if (solved.minCoeff(&least) >= 0) {
      for (size_t c = 0; c < columns.size(); ++c) x[columns[c]] = solved[static_cast<Eigen::Index>(c)];
      break;
    }
    columns.erase(columns.begin() + least);
  }
  return {x[0], x[1], x[2], x[3], known.cache_bytes, (a * x - ones).squaredNorm()};
}

Machine MachineOf(const Fit& fit, const std::vector<Sample>& samples) {
  constexpr double kMost = 1e21;
  const auto rate = [](double per_byte) { return per_byte > 0 ? 1 / per_byte : kMost; };
  Machine machine;
  machine.name = "this-node";
  NetworkLevel level;
  level.name = "memory";
  level.seconds_per_message = fit.latency;
  level.bytes_per_second = rate(fit.per_byte);
  level.cache_bytes = fit.per_cached_byte < fit.per_byte ? fit.cache_bytes : 0;
  level.cached_bytes_per_second = rate(fit.per_cached_byte);
  machine.levels.push_back(level);
  machine.axes.push_back({0, Wiring::kBus, 0});
  machine.reduce_bytes_per_second = rate(fit.per_folded_byte);
  // Additions read two operands and write a result, as the model counts.
  Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  for (const Sample& s : samples) {
    if (s.op != TimedOp::kAdd) continue;
    const Eigen::Vector2d row(1 / s.seconds, 3 * static_cast<double>(s.bytes) / s.seconds);
    normal += row * row.transpose();
    right += row;
  }
  const Eigen::Vector2d add = normal.colPivHouseholderQr().solve(right);
  machine.seconds_per_kernel = std::max(add[0], 0.0);
  machine.memory_bytes_per_second = rate(add[1]);
  return machine;
}

}  // namespace

// The cache size, among powers of two, with which the rest fits best.
Machine FitMachine(const std::vector<Sample>& samples, int64_t devices) {
  Fit best;
  for (double cache = 0; cache <= 1 << 30; cache = std::max(2 * cache, 262144.0)) {
    Fit fit;
    fit.cache_bytes = cache;
    for (int turn = 0; turn < 4; ++turn) fit = FitLoads(samples, static_cast<double>(devices), fit);
    if (fit.error < best.error && (cache == 0 || fit.per_cached_byte < fit.per_byte)) best = fit;
  }
  return MachineOf(best, samples);
}

std::string MachineText(const Machine& machine, const std::string& source) {
  const NetworkLevel& level = machine.levels[0];
  std::string cache;
  if (level.cache_bytes > 0) {
    cache = fmt::format(
        "      \"cache_bytes\": {:.10g},\n      \"cached_bytes_per_second\": {:.6g},\n",
        level.cache_bytes, level.cached_bytes_per_second);
  }
  return fmt::format(
      "{{\n  \"name\": \"{}\",\n"
      "  \"description\": \"The engine itself on one node: all devices share its memory\",\n"
      "  \"levels\": [\n    {{\n      \"name\": \"{}\",\n      \"topology\": \"bus\",\n"
      "      \"shape\": [0],\n      \"seconds_per_message\": {:.6g},\n"
      "      \"seconds_of_sender\": 0,\n      \"bytes_per_second\": {:.6g},\n{}"
      "      \"source\": \"{}\"\n    }}\n  ],\n  \"reduce_bytes_per_second\": {:.6g},\n"
      "  \"compute\": {{\n    \"seconds_per_kernel\": {:.6g},\n"
      "    \"memory_bytes_per_second\": {:.6g},\n    \"source\": \"{}\"\n  }}\n}}\n",
      machine.name, level.name, level.seconds_per_message, level.bytes_per_second, cache, source,
      machine.reduce_bytes_per_second, machine.seconds_per_kernel,
      machine.memory_bytes_per_second, source);
}

}  // namespace hv
