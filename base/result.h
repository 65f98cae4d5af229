// Errors that input can cause. A function that can meet bad input returns Result<T>; the Error holds
// one or more diagnostics with a place in a file. Verdicts (deadlock, refuted, ...) are values, never
// errors; broken invariants are HV_CHECKs.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace hv {

// A place in a text. Lines and columns count from 1 (columns in bytes); 0 means unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

// One thing wrong with an input. `id` is a stable kebab-case key, one per kind of mistake; every id
// has a test that provokes it.
struct Diagnostic {
  std::string id;
  std::string message;
  SourcePlace place;
  std::string source_line;  // the text of place.line, empty if unknown
  std::vector<std::string> notes;
};

enum class ErrorKind {
  kInvalid,      // the input is wrong
  kUnsupported,  // the input is right, but needs something that is refused, by name
  kMemory,       // it would need more memory than allowed
  kTime,         // it took longer than allowed
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::vector<Diagnostic> diagnostics;  // at least one

  // All messages, one per line, without places.
  std::string Message() const;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

// Most diagnostics one run prints.
inline constexpr int kMaxDiagnostics = 20;

tl::unexpected<Error> Invalid(std::string id, std::string message, SourcePlace place = {});
tl::unexpected<Error> Unsupported(std::string id, std::string message, SourcePlace place = {});
tl::unexpected<Error> OutOfMemory(std::string message, SourcePlace place = {});

// "file:line:col: error: message", the source line and a caret below, then the notes.
std::string FormatDiagnostic(const Diagnostic& diagnostic);

// Every diagnostic of `error`, formatted; at most kMaxDiagnostics, then how many were left out.
std::string FormatError(const Error& error);

// Fills line, column and source_line of a place at byte `offset` of `text`.
SourcePlace PlaceAt(std::string_view file, std::string_view text, size_t offset);
std::string SourceLineAt(std::string_view text, size_t offset);

}  // namespace hv

// Propagates the error of a Result-valued expression; yields its value (HV_TRY) or nothing.
#define HV_CONCAT_INNER(a, b) a##b
#define HV_CONCAT(a, b) HV_CONCAT_INNER(a, b)
#define HV_RETURN_IF_ERROR(expr)                                                  \
  do {                                                                            \
    if (auto hv_status = (expr); !hv_status) {                                    \
      return tl::make_unexpected(std::move(hv_status).error());                   \
    }                                                                             \
  } while (false)
#define HV_ASSIGN_IMPL(tmp, decl, expr)                                           \
  auto tmp = (expr);                                                              \
  if (!tmp) return tl::make_unexpected(std::move(tmp).error());                   \
  decl = std::move(*tmp)
#define HV_ASSIGN(decl, expr) HV_ASSIGN_IMPL(HV_CONCAT(hv_result_, __LINE__), decl, expr)
