#include "verify/pickle_problems.h"

#include <fmt/format.h>

#include "verify/entry_checks.h"

namespace cachetool::verify {

std::optional<Problem> pickle_failure(const Error& error, std::uint64_t base) {
  const auto offset = base + error.offset.value_or(0);
  switch (error.code) {
    case ErrorCode::kTruncated:
      return Problem{&checks::kPickleTruncated, {.message = error.message, .offset = offset}};
    case ErrorCode::kMalformed:
    case ErrorCode::kUnsupported:
      return Problem{&checks::kPickleMalformed, {.message = error.message, .offset = offset}};
    default:
      return std::nullopt;
  }
}

std::optional<Problem> trailing_bytes(const pickle::Document& document, std::uint64_t base) {
  const std::uint64_t count = document.trailing_bytes();
  if (count == 0) return std::nullopt;
  return Problem{&checks::kPickleTrailingBytes,
                 {.message = fmt::format("{} byte{} after the pickle's end", count,
                                         count == 1 ? " follows" : "s follow"),
                  .offset = base + document.end()}};
}

std::optional<Problem> pickle_deviation(const pickle::Document& document, std::uint64_t base) {
  const pickle::Deviation* first = nullptr;
  std::size_t others = 0;
  for (const pickle::Deviation& deviation : document.deviations()) {
    if (deviation.kind == pickle::Deviation::Kind::kTrailingBytes) continue;
    if (first == nullptr) {
      first = &deviation;
    } else {
      ++others;
    }
  }
  if (first == nullptr) return std::nullopt;
  std::string message = fmt::format("{}: {}", deviation_name(first->kind), first->detail);
  if (others > 0) message += fmt::format(", and {} more", others);
  return Problem{&checks::kPickleDeviation, {.message = std::move(message), .offset = base + first->offset}};
}

}  // namespace cachetool::verify
