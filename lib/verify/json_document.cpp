#include "verify/json_document.h"

#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "container/json.h"
#include "verify/damage.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

constexpr std::size_t kQuickBytes = 64;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool all_blank(std::string_view text) {
  for (const char c : text)
    if (!is_blank(c)) return false;
  return true;
}

/// Where the first array or object of a text ends; npos where it doesn't.
std::size_t first_document_end(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c != '}' && c != ']') continue;
    if (depth <= 1) return i + 1;
    --depth;
  }
  return std::string_view::npos;
}

/// Says which way the text is no JSON document.
void report_syntax(const FileInput& input, FileReport& report, std::string_view text, const Error& error) {
  if (error.code == ErrorCode::kTruncated) {
    report_damage(input, report, checks::kFileTruncated,
                  fmt::format("the JSON text ends after {} bytes, in the middle", text.size()), text.size());
    return;
  }
  const std::size_t end = first_document_end(text);
  if (end != std::string_view::npos && !all_blank(text.substr(end)) &&
      container::validate_json(text.substr(0, end), {}, container::NonFinite::kAllowed)) {
    report_damage(input, report, checks::kFileTrailing,
                  fmt::format("{} bytes follow the JSON document", text.size() - end), end);
    return;
  }
  report_damage(input, report, checks::kFileJson, error.message, error.offset);
}

bool is_limit(ErrorCode code) {
  return code == ErrorCode::kLimitSize || code == ErrorCode::kLimitDepth || code == ErrorCode::kLimitMemory;
}

}  // namespace

Expected<std::optional<container::Tree>> read_json_document(FileInput& input, FileReport& report) {
  std::optional<container::Tree> nothing;
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return nothing;
  }
  const bool quick = input.depth() == Depth::kQuick;
  const auto read = quick ? input.head(kQuickBytes) : input.whole();
  if (!read) return tl::unexpected(read.error());
  const std::string_view text = *read;
  if (quick) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start != std::string_view::npos && text[start] != '{' && text[start] != '[')
      report_damage(input, report, checks::kFileJson, "no JSON document starts so", start);
    return nothing;
  }
  if (const auto bad = find_invalid_utf8(text, Surrogates::kRejected); bad != std::string_view::npos) {
    report_damage(input, report, checks::kFileEncoding, "not UTF-8", bad);
    return nothing;
  }
  auto tree = container::read_json(text, {}, container::NonFinite::kAllowed);
  if (tree) {
    report.fine(checks::kFileJson);
    return std::optional<container::Tree>(std::move(*tree));
  }
  if (is_limit(tree.error().code)) return tl::unexpected(std::move(tree.error()));
  report_syntax(input, report, text, tree.error());
  return nothing;
}

void report_shape(const FileInput& input, FileReport& report, std::string message) {
  report_damage(input, report, checks::kFileShape, std::move(message));
}

}  // namespace cachetool::verify
