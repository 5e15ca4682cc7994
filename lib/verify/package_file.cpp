#include "verify/package_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "container/frame.h"
#include "container/zip.h"
#include "container/zip_directory.h"
#include "verify/damage.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

constexpr std::string_view kModelPlace = "data/aotinductor/";

void report_zip(const FileInput& input, FileReport& report, std::string message,
                std::optional<std::uint64_t> offset = {}) {
  report_damage(input, report, checks::kZipDamaged, std::move(message), offset);
}

/// What is wrong with a member's bytes; empty when they are what the directory lists.
Expected<std::string> content_problem(std::string_view bytes, const container::ZipRecord& record) {
  if (record.is_encrypted()) return std::string("is encrypted");
  if (record.method == container::kZipStored) {
    return container::crc32(record.data) == record.crc
               ? std::string()
               : std::string("doesn't have the CRC-32 it is listed with");
  }
  // The reader compares the CRC of what it unpacks.
  const auto content = container::read_zip_member(bytes, record.name);
  if (content) return std::string();
  if (content.error().code == ErrorCode::kLimitSize) return tl::unexpected(content.error());
  return content.error().message;
}

}  // namespace

Expected<Facts> check_package(FileInput& input, FileReport& report) {
  constexpr std::size_t kHead = 4;
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  const bool quick = input.depth() == Depth::kQuick;
  const auto read = quick ? input.head(kHead) : input.whole();
  if (!read) return tl::unexpected(read.error());
  const std::string_view bytes = *read;
  if (!container::starts_as_zip(bytes)) {
    report_zip(input, report, "no zip archive starts so", 0);
    return Facts{};
  }
  if (quick) return Facts{};
  const auto directory = container::read_zip_directory(bytes);
  if (!directory) {
    if (directory.error().code == ErrorCode::kLimitSize) return tl::unexpected(directory.error());
    report_zip(input, report, directory.error().message, directory.error().offset);
    return Facts{};
  }
  if (!directory->problems.empty()) {
    report_zip(input, report, directory->problems.front().text, directory->problems.front().offset);
    return Facts{};
  }
  for (const container::ZipRecord& record : directory->records) {
    const auto problem = content_problem(bytes, record);
    if (!problem) return tl::unexpected(problem.error());
    if (problem->empty()) continue;
    report_zip(input, report, fmt::format("{} {}", escape_for_terminal(record.name), *problem),
               record.data_offset);
    return Facts{};
  }
  report.fine(checks::kZipDamaged);
  const bool has_model = std::any_of(directory->records.begin(), directory->records.end(),
                                     [](const container::ZipRecord& record) {
                                       return record.name.find(kModelPlace) != std::string_view::npos;
                                     });
  if (has_model) {
    report.fine(checks::kFileShape);
  } else {
    report_damage(input, report, checks::kFileShape, "no compiled model in it");
  }
  return Facts{};
}

}  // namespace cachetool::verify
