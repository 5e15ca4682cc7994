#include <fmt/format.h>

#include <map>
#include <set>

#include "report/repair_report.h"
#include "report/section.h"
#include "report/verify_report.h"

namespace cachetool::report {
namespace {

using verify::Finding;
using verify::Severity;

// Places of one check that are listed unless everything is asked for.
constexpr std::size_t kShownPlaces = 10;

struct SeverityLook {
  Severity severity;
  const char* title;
  Style style;
};
constexpr SeverityLook kSeverities[] = {{Severity::kError, "Errors", Style::kBad},
                                        {Severity::kWarning, "Warnings", Style::kWarning},
                                        {Severity::kInfo, "Worth knowing", Style::kFaint}};

std::string place_text(const store::CacheSet& cache, const Finding& finding) {
  const std::string path =
      finding.root == 0 ? finding.path : store::full_path(cache, finding.root, finding.path);
  return finding.offset ? fmt::format("{} (offset {})", path, *finding.offset) : path;
}

void write_severity(SectionWriter& sections, const VerifiedCache& verified, const SeverityLook& how) {
  std::vector<std::vector<Cell>> rows;
  std::vector<std::pair<std::string, std::string>> hints;  // check, what to do
  std::map<std::string_view, std::size_t> shown;
  for (const Finding& finding : verified.result.findings) {
    if (finding.severity != how.severity) continue;
    std::size_t& count = shown[finding.check->id];
    if (++count > kShownPlaces && sections.look().names == Names::kShort) continue;
    rows.push_back({{std::string(finding.check->id), how.style},
                    {place_text(verified.cache, finding), Style::kName},
                    {finding.message}});
    std::pair<std::string, std::string> hint{finding.check->id, finding.hint};
    if (!finding.hint.empty() && (hints.empty() || hints.back() != hint)) hints.push_back(std::move(hint));
  }
  sections.title(how.title);
  sections.table({{"CHECK"}, {"WHERE", Align::kLeft, 24}, {"WHAT", Align::kLeft, 32}}, std::move(rows));
  if (sections.look().names == Names::kShort) {
    for (const auto& [check, count] : shown)
      if (count > kShownPlaces)
        sections.text(fmt::format("{}: {} more places (--full lists them)", check, count - kShownPlaces));
  }
  for (const auto& [check, hint] : hints) sections.text(fmt::format("{}: {}", check, hint));
}

void write_not_checkable(SectionWriter& sections, const verify::Result& result) {
  std::vector<std::vector<Cell>> rows;
  for (const verify::CheckGroup& group : verify::all_checks()) {
    for (const verify::Check* check : group.checks) {
      const auto found = result.coverage.find(check);
      if (found == result.coverage.end()) continue;
      for (const auto& [reason, entry] : found->second.not_checkable)
        rows.push_back({{std::string(check->id), Style::kName}, {std::to_string(entry.count)}, {reason}});
    }
  }
  sections.title("Not checkable");
  sections.table({{"CHECK"}, {"COUNT", Align::kRight}, {"WHY", Align::kLeft, 32}}, std::move(rows));
}

/// A path as a word of a shell's command line.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::size_t repairable(const verify::Result& result) {
  std::set<std::pair<std::uint32_t, std::string_view>> paths;
  for (const Finding& finding : result.findings)
    for (const std::string& path : finding.repair) paths.emplace(finding.root, path);
  return paths.size();
}

void write_cache(SectionWriter& sections, const VerifiedCache& verified, verify::Depth depth) {
  const verify::Result& result = verified.result;
  const Look& look = sections.look();
  sections.title(fmt::format("Cache {}", store::full_path(verified.cache, 0, verified.cache.scope)));
  const std::string how = depth == verify::Depth::kDefault ? "" : fmt::format(" ({})", depth_name(depth));
  sections.field("checked",
                 fmt::format("{}, {}, {}{}", counted(result.files, "file", "files"),
                             counted(result.entries, "entry", "entries"), look.size(result.bytes), how));
  const std::uint64_t errors = result.count(Severity::kError);
  const std::uint64_t warnings = result.count(Severity::kWarning);
  const std::uint64_t infos = result.count(Severity::kInfo);
  const Style style = errors != 0 ? Style::kBad : warnings != 0 ? Style::kWarning : Style::kGood;
  sections.field(
      "found",
      errors + warnings + infos == 0
          ? "nothing"
          : fmt::format("{}, {}, {}", counted(errors, "error", "errors"),
                        counted(warnings, "warning", "warnings"), counted(infos, "remark", "remarks")),
      style);
  if (const std::size_t paths = repairable(result); paths != 0 && verified.repairs == nullptr)
    sections.field(
        "next", fmt::format("cachetool verify --repair {}   moves {} into quarantine; torch makes them again",
                            shell_word(store::full_path(verified.cache, 0, verified.cache.scope)),
                            counted(paths, "file or directory", "files or directories")));
  for (const SeverityLook& severity : kSeverities) write_severity(sections, verified, severity);
  write_not_checkable(sections, result);
  if (verified.repairs != nullptr) write_repair_text(sections, verified.cache, *verified.repairs);
}

}  // namespace

std::uint64_t VerifyReport::count(Severity severity) const {
  std::uint64_t sum = 0;
  for (const VerifiedCache& verified : caches) sum += verified.result.count(severity);
  return sum;
}

std::string_view depth_name(verify::Depth depth) {
  switch (depth) {
    case verify::Depth::kQuick:
      return "quick";
    case verify::Depth::kDefault:
      return "default";
    case verify::Depth::kDeep:
      return "deep";
  }
  return "default";
}

void write_verify(OutputSink& sink, const VerifyReport& report, Format format, const Look& look) {
  if (format == Format::kJson) return write_verify_json(sink, report);
  if (format == Format::kJsonLines) return write_verify_json_lines(sink, report);
  write_verify_text(sink, report, look);
}

void write_repairs(OutputSink& sink, const VerifyReport& report, Format format, const Look& look) {
  if (format != Format::kHuman) return write_verify(sink, report, format, look);
  SectionWriter sections(sink, look);
  for (const VerifiedCache& verified : report.caches)
    write_repair_text(sections, verified.cache, *verified.repairs);
}

void write_verify_text(OutputSink& sink, const VerifyReport& report, const Look& look) {
  SectionWriter sections(sink, look);
  for (const VerifiedCache& verified : report.caches) write_cache(sections, verified, report.depth);
}

}  // namespace cachetool::report
