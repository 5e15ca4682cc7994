#include "verify/pickle_ends.h"

#include <array>

#include "verify/entry_checks.h"

namespace cachetool::verify {

Expected<bool> check_pickle_ends(const FileInput& input, FileReport& report) {
  const std::uint64_t size = input.stat().size;
  const auto say = [&](const Check& check, std::string message, std::uint64_t offset) {
    report.found(check, {.message = std::move(message), .offset = offset, .repair = {report.path()}});
    return false;
  };
  if (size == 0) return say(checks::kPickleTruncated, "the file is empty", 0);
  std::array<char, 2> ends{};
  if (const auto first = input.read_at(0, std::span(ends).first(1)); !first)
    return tl::unexpected(first.error());
  if (const auto last = input.read_at(size - 1, std::span(ends).last(1)); !last)
    return tl::unexpected(last.error());
  if (ends[0] != '\x80') return say(checks::kPickleMalformed, "the first byte isn't a binary pickle's", 0);
  if (ends[1] != '.')
    return say(checks::kPickleTruncated, "the last byte isn't the end of a pickle", size - 1);
  report.fine(checks::kPickleTruncated);
  report.fine(checks::kPickleMalformed);
  return true;
}

}  // namespace cachetool::verify
