#include "base/result.h"

#include <fmt/format.h>

#include <algorithm>

namespace hv {
namespace {

tl::unexpected<Error> MakeError(ErrorKind kind, std::string id, std::string message,
                                SourcePlace place) {
  Diagnostic diagnostic;
  diagnostic.id = std::move(id);
  diagnostic.message = std::move(message);
  diagnostic.place = std::move(place);
  Error error{kind, {}};
  error.diagnostics.push_back(std::move(diagnostic));
  return tl::make_unexpected(std::move(error));
}

// The caret's indent, tabs kept so that it stands below the column whatever the tab width.
std::string CaretLine(const std::string& source_line, int column) {
  std::string caret;
  for (int i = 0; i + 1 < column; ++i) {
    const size_t at = static_cast<size_t>(i);
    caret += at < source_line.size() && source_line[at] == '\t' ? '\t' : ' ';
  }
  return caret + '^';
}

// Long lines (one-line modules, constants) are cut to a window around the column.
void ClipAroundColumn(std::string* line, int* column) {
  constexpr int kWidth = 160;
  if (line->size() <= kWidth) return;
  const int begin = std::max(0, std::min(*column - 1 - kWidth / 2,
                                         static_cast<int>(line->size()) - kWidth));
  *line = line->substr(static_cast<size_t>(begin), kWidth);
  *column -= begin;
}

}  // namespace

std::string Error::Message() const {
  std::string text;
  for (const Diagnostic& d : diagnostics) {
    if (!text.empty()) text += '\n';
    text += d.message;
  }
  return text;
}

tl::unexpected<Error> Invalid(std::string id, std::string message, SourcePlace place) {
  return MakeError(ErrorKind::kInvalid, std::move(id), std::move(message), std::move(place));
}

tl::unexpected<Error> Unsupported(std::string id, std::string message, SourcePlace place) {
  return MakeError(ErrorKind::kUnsupported, std::move(id), std::move(message), std::move(place));
}

tl::unexpected<Error> OutOfMemory(std::string message, SourcePlace place) {
  return MakeError(ErrorKind::kMemory, "memory-limit", std::move(message), std::move(place));
}

std::string FormatDiagnostic(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.place.file.empty()) text += diagnostic.place.file + ":";
  if (diagnostic.place.line > 0) {
    text += fmt::format("{}:{}:", diagnostic.place.line, diagnostic.place.column);
  }
  if (!text.empty()) text += ' ';
  text += "error: " + diagnostic.message + "\n";
  if (diagnostic.place.line > 0 && !diagnostic.source_line.empty()) {
    std::string line = diagnostic.source_line;
    int column = diagnostic.place.column;
    ClipAroundColumn(&line, &column);
    text += "  " + line + "\n  " + CaretLine(line, column) + "\n";
  }
  for (const std::string& note : diagnostic.notes) text += "  note: " + note + "\n";
  return text;
}

std::string FormatError(const Error& error) {
  std::string text;
  int printed = 0;
  for (const Diagnostic& d : error.diagnostics) {
    if (printed++ == kMaxDiagnostics) {
      text += fmt::format("({} more errors)\n", error.diagnostics.size() - kMaxDiagnostics);
      break;
    }
    text += FormatDiagnostic(d);
  }
  return text;
}

SourcePlace PlaceAt(std::string_view file, std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view head = text.substr(0, offset);
  const auto newlines = std::count(head.begin(), head.end(), '\n');
  const size_t line_begin = head.rfind('\n') == std::string_view::npos ? 0 : head.rfind('\n') + 1;
  return {std::string(file), static_cast<int>(newlines) + 1,
          static_cast<int>(offset - line_begin) + 1};
}

std::string SourceLineAt(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t newline = text.substr(0, offset).rfind('\n');
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find('\n', begin), text.size());
  std::string line(text.substr(begin, end - begin));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace hv
