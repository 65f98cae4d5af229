#include "bench/cost_saved_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace hv {
namespace {

constexpr double kWidth = 360, kHeight = 220, kLeft = 44, kTop = 24, kRight = 22, kBottom = 34;
constexpr std::array<const char*, 6> kColors = {"#0b6e99", "#b45309", "#4d7c0f",
                                                "#7e22ce", "#be123c", "#475569"};

using Pick = std::function<std::optional<CostSaved>(const CostSavedRow&)>;

struct Line {
  std::string name, color;
  bool measured = false;
  Pick pick;
};

std::string SizeName(int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1 << 10 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

// One chart: share saved, 0 at the bottom line, over the logarithm of the size.
class Chart {
 public:
  explicit Chart(const std::vector<const CostSavedRow*>& rows) : rows_(rows) {
    for (const CostSavedRow* row : rows) {
      first_ = std::min(first_, std::log2(static_cast<double>(row->bytes)));
      last_ = std::max(last_, std::log2(static_cast<double>(row->bytes)));
    }
  }

  std::string Draw(const std::vector<Line>& lines) const {
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\"><title>{} devices</title>"
        "<text class=\"title\" x=\"{}\" y=\"15\">{} devices</text>",
        kWidth, kHeight, rows_[0]->devices, kLeft, rows_[0]->devices);
    for (const double saved : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f} %</text>",
          kLeft, kWidth - kRight, Y(saved), Y(saved), kLeft - 5, Y(saved) + 4, 100 * saved);
    }
    for (size_t k = 0; k < rows_.size(); k += 2) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                         X(*rows_[k]), kHeight - 14, SizeName(rows_[k]->bytes));
    }
    for (const Line& line : lines) svg += Draw(line);
    return svg + "</svg>\n";
  }

 private:
  double X(const CostSavedRow& row) const {
    const double share = last_ > first_
                             ? (std::log2(static_cast<double>(row.bytes)) - first_) / (last_ - first_)
                             : 0;
    return kLeft + share * (kWidth - kLeft - kRight);
  }
  static double Y(double saved) {
    return kTop + (1 - std::clamp(saved, -0.1, 1.0)) * (kHeight - kTop - kBottom);
  }

  std::string Draw(const Line& line) const {
    std::string points;
    for (const CostSavedRow* row : rows_) {
      if (const auto saved = line.pick(*row)) {
        points += fmt::format("{:.1f},{:.1f} ", X(*row), Y(1 - saved->ratio()));
      }
    }
    if (points.empty()) return "";
    return fmt::format("<polyline points=\"{}\" style=\"stroke:{}\"{}/>", points, line.color,
                       line.measured ? " stroke-dasharray=\"5 3\"" : "");
  }

  const std::vector<const CostSavedRow*>& rows_;
  double first_ = 64, last_ = 0;
};

std::vector<Line> LinesOf(const std::vector<std::string>& machines) {
  std::vector<Line> lines;
  for (size_t m = 0; m < machines.size(); ++m) {
    lines.push_back({machines[m], kColors[m % (kColors.size() - 1)], false,
                     [m](const CostSavedRow& row) { return row.modelled[m]; }});
  }
  lines.push_back({"measured on this engine", kColors.back(), true,
                   [](const CostSavedRow& row) { return row.measured; }});
  return lines;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return escaped;
}

}  // namespace

std::string CostSavedPage(const std::vector<CostSavedRow>& rows,
                          const std::vector<std::string>& machines) {
  const std::vector<Line> lines = LinesOf(machines);
  std::map<int64_t, std::vector<const CostSavedRow*>> by_devices;
  for (const CostSavedRow& row : rows) by_devices[row.devices].push_back(&row);
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<title>What a reduce-scatter saves</title>\n<style>\n"
      "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;"
      "color:#1e293b}\n"
      ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1rem}\n"
      "svg{width:100%;font-size:10px;fill:#475569}\n.title{font-size:13px;fill:#0f172a}\n"
      "polyline{fill:none;stroke-width:2}\n.grid{stroke:#e2e8f0}\n"
      ".key span{display:inline-block;margin-right:1.2rem}\n"
      ".key i{display:inline-block;width:1.6rem;border-top:3px solid;vertical-align:middle;"
      "margin-right:.4rem}\n.key i.measured{border-top-style:dashed}\n</style></head><body>\n"
      "<h1>All-reduce + dynamic-slice &rarr; reduce-scatter</h1>\n"
      "<p>Share of the time that the rewrite saves, over the size of the operand. Lines are the model's "
      "for each machine; the dashed line is this engine, which is no accelerator.</p>\n<p class=\"key\">";
  for (const Line& line : lines) {
    page += fmt::format("<span><i{} style=\"border-color:{}\"></i>{}</span>",
                        line.measured ? " class=\"measured\"" : "", line.color, Escaped(line.name));
  }
  page += "</p>\n<div class=\"charts\">\n";
  for (const auto& [devices, of_devices] : by_devices) page += Chart(of_devices).Draw(lines);
  return page + "</div>\n</body></html>\n";
}

}  // namespace hv
