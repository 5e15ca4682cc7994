#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/scan_report.h"
#include "report/section.h"
#include "store/paths.h"

namespace cachetool::report {
namespace {

using verify::CodeItem;
using verify::OwnerFinding;
using verify::ScanCoverage;
using verify::ScanFinding;
using verify::ScannedFile;
using verify::ScanTarget;
using verify::ScanVerdict;

using Rows = std::vector<std::vector<Cell>>;

/// Lines for one file, and for one check about owners.
constexpr std::size_t kShown = 5;

struct Group {
  ScanVerdict verdict;
  std::string_view title;
  Style style;
};

constexpr std::array kGroups{Group{ScanVerdict::kDangerous, "Dangerous", Style::kBad},
                             Group{ScanVerdict::kMalformed, "Malformed", Style::kBad},
                             Group{ScanVerdict::kUnknown, "Unknown", Style::kWarning},
                             Group{ScanVerdict::kUnscanned, "Beyond a limit", Style::kWarning}};

std::string full_path(const ScanTarget& target, std::uint32_t root, std::string_view path) {
  return store::join_path(target.set.roots[root].path, path);
}

/// What to call the whole target.
std::string title_of(const ScanTarget& target) {
  return full_path(target, 0, target.set.scope);
}

std::string what_of(const ScanFinding& finding) {
  return finding.place.empty() ? finding.name : finding.place + ": " + finding.name;
}

std::string verdict_in_words(ScanVerdict verdict) {
  return verdict == ScanVerdict::kNone ? "no pickle" : std::string(verify::verdict_name(verdict));
}

class ScanText final : public ScanWriter {
 public:
  ScanText(OutputSink& sink, const Look& look, ScanRows rows)
      : look_(look), rows_(rows), sections_(sink, look_) {}

  void file(const ScanTarget& target, const ScannedFile& file) override {
    const std::string path = full_path(target, file.root, file.path);
    if (rows_ == ScanRows::kAll) {
      all_.push_back({{path, Style::kName},
                      {std::string(file.scan.content)},
                      {verdict_in_words(file.scan.verdict)},
                      {code_in_words(file.scan.code, look_)}});
    }
    if (file.scan.verdict > ScanVerdict::kData) add_rows(path, file.scan);
  }

  void finish(const ScanSummary& summary) override {
    const std::string prefix = common_prefix(summary);
    for (const Group& group : kGroups) {
      shorten(groups_[group.verdict], prefix);
      sections_.title(group.title);
      sections_.table(
          {{"FILE", Align::kLeft, 24}, {"OFFSET", Align::kRight}, {"WHAT", Align::kLeft, 16}, {"WHY"}},
          std::move(groups_[group.verdict]));
    }
    write_skipped(summary);
    write_owners(summary);
    shorten(all_, prefix);
    sections_.title("Files");
    sections_.table({{"FILE", Align::kLeft, 24}, {"CONTENT"}, {"PICKLE"}, {"CARRIES CODE", Align::kLeft, 16}},
                    std::move(all_));
    write_summary(summary);
  }

 private:
  void add_rows(const std::string& path, const verify::FileScan& scan) {
    Rows& rows = groups_[scan.verdict];
    const Group& group = *std::find_if(kGroups.begin(), kGroups.end(),
                                       [&](const Group& each) { return each.verdict == scan.verdict; });
    std::vector<const ScanFinding*> order;
    for (const ScanFinding& finding : scan.findings) order.push_back(&finding);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
      return a->verdict != b->verdict ? a->verdict > b->verdict : a < b;  // they lie in one vector
    });
    const std::size_t limit = look_.names == Names::kFull ? order.size() : std::min(order.size(), kShown);
    std::size_t shown = 0;
    const auto add = [&](std::string offset, std::string what, std::string why) {
      const bool first = shown++ == 0;
      rows.push_back({{first ? path : std::string(), Style::kName},
                      {std::move(offset)},
                      {std::move(what), first ? group.style : Style::kPlain},
                      {std::move(why)}});
    };
    for (std::size_t i = 0; i < limit; ++i)
      add(std::to_string(order[i]->offset), what_of(*order[i]), order[i]->reason);
    if (scan.total_findings > limit) add({}, fmt::format("{} more", scan.total_findings - limit), {});
    for (std::size_t i = 0; i < std::min(scan.unscanned.size(), kShown); ++i) {
      const verify::Unscanned& part = scan.unscanned[i];
      const std::string size = look_.size(part.bytes) + " not scanned";
      add(std::to_string(part.offset), part.place.empty() ? size : part.place + ": " + size, part.reason);
    }
    if (scan.unscanned.size() > kShown)
      add({}, fmt::format("{} more parts not scanned", scan.unscanned.size() - kShown), {});
  }

  /// With one argument paths are below it; the title says where that is.
  static std::string common_prefix(const ScanSummary& summary) {
    if (summary.targets.size() != 1) return {};
    const ScanTarget& target = summary.targets[0].target;
    return target.set.roots.size() == 1 ? target.set.roots[0].path : std::string();
  }

  static void shorten(Rows& rows, const std::string& prefix, std::size_t column = 0) {
    if (prefix.empty()) return;
    for (std::vector<Cell>& row : rows) {
      std::string& path = row[column].text;
      if (path.size() > prefix.size() && path.starts_with(prefix))
        path.erase(0, prefix.size() + (prefix == "/" ? 0 : 1));
    }
  }

  void write_skipped(const ScanSummary& summary) {
    Rows rows;
    for (const ScannedTarget& target : summary.targets) {
      for (const store::Skipped& place : target.result.skipped) {
        if (place.error.code == ErrorCode::kVanished || place.error.code == ErrorCode::kNotFound) continue;
        rows.push_back(
            {{full_path(target.target, place.root, place.path), Style::kName}, {place.error.message}});
      }
    }
    shorten(rows, common_prefix(summary));
    sections_.title("Not scanned");
    sections_.table({{"FILE", Align::kLeft, 24}, {"WHY"}}, std::move(rows));
  }

  void write_owners(const ScanSummary& summary) {
    Rows rows;
    for (const ScannedTarget& target : summary.targets) {
      const std::vector<OwnerFinding>& owners = target.result.owners;
      for (auto first = owners.begin(); first != owners.end();) {
        const auto last = std::find_if(first, owners.end(),
                                       [&](const OwnerFinding& each) { return each.check != first->check; });
        add_owner_rows(target.target, first, last, rows);
        first = last;
      }
    }
    shorten(rows, common_prefix(summary), 2);
    sections_.title("Owners and modes");
    sections_.table({{"CHECK"},
                     {"FOUND"},
                     {"DIRECTORY", Align::kLeft, 24},
                     {"EXAMPLE", Align::kLeft, 16, 1},
                     {"OWNER", Align::kRight},
                     {"MODE"}},
                    std::move(rows));
  }

  using Owner = std::vector<OwnerFinding>::const_iterator;

  void add_owner_rows(const ScanTarget& target, Owner first, Owner last, Rows& rows) {
    const Style style = first->check->severity == verify::Severity::kError ? Style::kBad : Style::kWarning;
    const std::string id(first->check->id);
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    const std::size_t limit = look_.names == Names::kFull ? count : std::min(count, kShown);
    for (std::size_t i = 0; i < limit; ++i, ++first) {
      const std::string files = first->files == 0 ? std::string() : counted(first->files, "file", "files");
      const std::string itself = first->itself ? "directory" : "";
      const std::string found =
          itself.empty() || files.empty() ? itself + files : fmt::format("{}, {}", itself, files);
      const bool known = first->mode != 0 || first->uid != 0;
      rows.push_back(
          {{i == 0 ? id : std::string(), style},
           {found},
           {first->absolute ? first->path : full_path(target, first->root, first->path), Style::kName},
           {first->example},
           {known ? std::to_string(first->uid) : std::string()},
           {known ? fmt::format("{:04o}", first->mode) : std::string()}});
    }
    std::uint64_t files = 0;
    for (auto rest = first; rest != last; ++rest) files += rest->files;
    if (count > limit) {
      rows.push_back({{},
                      {files == 0 ? std::string() : counted(files, "file", "files")},
                      {fmt::format("in {} more", counted(count - limit, "directory", "directories"))},
                      {},
                      {},
                      {}});
    }
  }

  void write_summary(const ScanSummary& summary) {
    const ScanCoverage& coverage = summary.coverage;
    const std::size_t places = summary.targets.size();
    sections_.title(places == 0   ? "Scan"
                    : places == 1 ? "Scan of " + title_of(summary.targets[0].target)
                                  : fmt::format("Scan of {} places", places));
    std::string scanned =
        fmt::format("{}, {}", counted(coverage.files, "file", "files"), look_.size(coverage.bytes));
    if (coverage.expanded_bytes != 0)
      scanned += fmt::format(", {} unpacked", look_.size(coverage.expanded_bytes));
    if (coverage.pickles != 0) scanned += ", " + counted(coverage.pickles, "pickle", "pickles");
    if (coverage.expressions != 0)
      scanned += ", " + counted(coverage.expressions, "expression", "expressions");
    sections_.field("scanned", scanned);
    if (coverage.not_scanned != 0)
      sections_.field("not scanned",
                      counted(coverage.not_scanned, "file or directory", "files or directories"),
                      Style::kWarning);
    if (coverage.moved_aside != 0)
      sections_.field("moved aside",
                      counted(coverage.moved_aside, "file", "files") + " in .cachetool/, not scanned");
    if (coverage.unscanned_parts != 0) {
      sections_.field("beyond limits",
                      fmt::format("{}, {}", counted(coverage.unscanned_parts, "part", "parts"),
                                  look_.size(coverage.unscanned_bytes)),
                      Style::kWarning);
    }
    sections_.field("pickles", pickles_in_words(coverage),
                    summary.verdict > ScanVerdict::kData ? Style::kBad : Style::kPlain);
    std::vector<CodeItem> code;
    for (const auto& [what, item] : coverage.code) code.push_back(item);
    if (!code.empty()) {
      sections_.field(
          "carries code",
          fmt::format("{}: {}", counted(coverage.carrying_code, "file", "files"), code_in_words(code, look_)),
          Style::kWarning);
    }
  }

  static std::string pickles_in_words(const ScanCoverage& coverage) {
    std::string text;
    constexpr std::array kOrder = {ScanVerdict::kDangerous, ScanVerdict::kMalformed, ScanVerdict::kUnknown,
                                   ScanVerdict::kUnscanned, ScanVerdict::kData,      ScanVerdict::kNone};
    for (const ScanVerdict verdict : kOrder) {
      const std::uint64_t files = coverage.files_of(verdict);
      if (files == 0) continue;
      if (!text.empty()) text += ", ";
      text += fmt::format("{} {}", files,
                          verdict == ScanVerdict::kNone ? "without a pickle" : verify::verdict_name(verdict));
    }
    return text.empty() ? "nothing was scanned" : text;
  }

  Look look_;
  ScanRows rows_;
  SectionWriter sections_;
  std::map<ScanVerdict, Rows> groups_;
  Rows all_;
};

}  // namespace

std::string code_in_words(const std::vector<CodeItem>& code, const Look& look) {
  std::string text;
  for (const CodeItem& item : code) {
    if (!text.empty()) text += ", ";
    if (item.count > 1) text += fmt::format("{} × ", item.count);
    text += item.what;
    if (item.bytes != 0) text += fmt::format(" ({})", look.size(item.bytes));
  }
  return text;
}

std::unique_ptr<ScanWriter> make_scan_text(OutputSink& sink, const Look& look, ScanRows rows) {
  return std::make_unique<ScanText>(sink, look, rows);
}

std::unique_ptr<ScanWriter> make_scan_writer(OutputSink& sink, Format format, const Look& look,
                                             ScanRows rows) {
  if (format == Format::kJson) return make_scan_json(sink);
  if (format == Format::kJsonLines) return make_scan_json_lines(sink);
  return make_scan_text(sink, look, rows);
}

}  // namespace cachetool::report
