#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/section.h"
#include "report/stats_report.h"
#include "store/words.h"

namespace cachetool::report {
namespace {

using Rows = std::vector<std::vector<Cell>>;

void write_overview(SectionWriter& sections, const StatsReport& report) {
  const store::Statistics& statistics = report.statistics;
  const store::ListingTotals& entries = statistics.entries;
  const Look& look = sections.look();
  sections.title(fmt::format("Cache {}", report.cache.roots[0].path));
  sections.field("size", fmt::format("{} in {}, {} on disk", look.size(statistics.total.bytes),
                                     counted(statistics.total.files, "file", "files"),
                                     look.size(statistics.total.allocated_bytes)));
  sections.field("entries",
                 fmt::format("{}, {}, {}", counted(entries.fx_graphs, "FX graph", "FX graphs"),
                             counted(entries.aot_entries, "AOTAutograd entry", "AOTAutograd entries"),
                             look.size(entries.bytes)));
  if (entries.compile_time_ns != 0) sections.field("compile time", format_duration(entries.compile_time_ns));
  if (entries.damaged != 0) sections.field("damaged", std::to_string(entries.damaged), Style::kBad);
  if (entries.unreadable != 0) sections.field("unreadable", std::to_string(entries.unreadable), Style::kBad);
}

void write_kinds(SectionWriter& sections, const store::Statistics& statistics) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < statistics.kinds.size(); ++i) {
    if (statistics.kinds[i].files != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t left = statistics.kinds[a].bytes;
    const std::uint64_t right = statistics.kinds[b].bytes;
    return left != right ? left > right : a < b;
  });
  Rows rows;
  for (const std::size_t i : order) {
    const auto kind = static_cast<store::ArtifactKind>(i);
    const store::FileTally& tally = statistics.kinds[i];
    rows.push_back({{std::string(store::kind_name(kind)), Style::kName},
                    {std::to_string(tally.files)},
                    {sections.look().size(tally.bytes)},
                    {sections.look().size(tally.allocated_bytes)},
                    {std::string(store::kind_title(kind)), Style::kFaint}});
  }
  sections.title("Files by kind");
  sections.table({{"KIND"},
                  {"FILES", Align::kRight},
                  {"SIZE", Align::kRight},
                  {"ON DISK", Align::kRight},
                  {"", Align::kLeft, 16, 1}},
                 std::move(rows));
}

std::string age_label(std::int64_t limit_ns) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  if (limit_ns == std::numeric_limits<std::int64_t>::max()) return "older";
  if (limit_ns < 24 * kHour) return fmt::format("under {}h", limit_ns / kHour);
  return fmt::format("under {}d", limit_ns / (24 * kHour));
}

void write_ages(SectionWriter& sections, const store::Statistics& statistics) {
  if (statistics.total.files == 0) return;
  Rows rows;
  std::uint64_t most = 1;
  for (const store::AgeBucket& bucket : statistics.ages) most = std::max(most, bucket.tally.files);
  for (const store::AgeBucket& bucket : statistics.ages) {
    const auto width = static_cast<std::size_t>((bucket.tally.files * 30 + most - 1) / most);
    std::string bar;
    for (std::size_t i = 0; i < width; ++i) bar += "█";
    rows.push_back({{age_label(bucket.limit_ns)},
                    {std::to_string(bucket.tally.files)},
                    {sections.look().size(bucket.tally.bytes)},
                    {bar, Style::kName}});
  }
  sections.title("Files by age");
  sections.table({{"AGE"}, {"FILES", Align::kRight}, {"SIZE", Align::kRight}, {"", Align::kLeft, 0, 1}},
                 std::move(rows));
}

void write_counts(SectionWriter& sections, std::string_view title, std::string_view column,
                  const std::map<std::string, store::CountTally>& counts) {
  Rows rows;
  for (const auto& [text, tally] : counts) {
    rows.push_back(
        {{text, Style::kName}, {std::to_string(tally.count)}, {sections.look().size(tally.bytes)}});
  }
  sections.title(title);
  sections.table({{std::string(column)}, {"ENTRIES", Align::kRight}, {"SIZE", Align::kRight}},
                 std::move(rows));
}

void write_references(SectionWriter& sections, const store::Statistics& statistics) {
  Rows rows;
  for (const store::OrphanTally& orphan : statistics.orphans) {
    rows.push_back({{orphan.kind, Style::kName},
                    {std::to_string(orphan.units)},
                    {std::to_string(orphan.files)},
                    {sections.look().size(orphan.bytes)}});
  }
  sections.title("Orphans: no entry leads to them");
  sections.table({{"KIND"}, {"UNITS", Align::kRight}, {"FILES", Align::kRight}, {"SIZE", Align::kRight}},
                 std::move(rows));
  sections.title("Named by entries, but not there");
  for (const auto& [kind, count] : statistics.missing) sections.field(kind, std::to_string(count));
}

void write_largest(SectionWriter& sections, const StatsReport& report) {
  Rows rows;
  const Look& look = sections.look();
  for (const store::EntryRow& row : report.statistics.largest) {
    const std::string key = look.names == Names::kFull
                                ? row.summary.key.str()
                                : report.statistics.abbreviations.shorten(row.summary.key);
    rows.push_back({{std::string(store::kind_word(row.summary.kind))},
                    {key, Style::kName},
                    {look.size(row.bytes)},
                    {std::string(report.strings.text(row.summary.operators))}});
  }
  sections.title("Largest entries");
  sections.table({{"KIND"}, {"KEY"}, {"SIZE", Align::kRight}, {"OPERATORS", Align::kLeft, 12}},
                 std::move(rows));
}

void write_roots(SectionWriter& sections, const store::Statistics& statistics) {
  for (const bool outside : {false, true}) {
    Rows rows;
    for (const store::RootTally& root : statistics.roots) {
      if (root.companion != outside) continue;
      rows.push_back({{root.role},
                      {root.path, Style::kName},
                      {std::to_string(root.tally.files)},
                      {sections.look().size(root.tally.bytes)},
                      {sections.look().size(root.tally.allocated_bytes)}});
    }
    if (!outside && rows.size() < 2) continue;
    sections.title(outside ? "Outside this cache: torch keeps these for the user, whatever cache is set"
                           : "Roots");
    sections.table({{"ROLE"},
                    {"PATH", Align::kLeft, 20},
                    {"FILES", Align::kRight},
                    {"SIZE", Align::kRight},
                    {"ON DISK", Align::kRight}},
                   std::move(rows));
  }
}

}  // namespace

void write_stats(OutputSink& sink, const StatsReport& report, Format format, const Look& look) {
  if (format == Format::kHuman) return write_stats_text(sink, report, look);
  write_stats_json(sink, report, format == Format::kJson ? JsonStyle::kIndented : JsonStyle::kCompact);
}

void write_stats_text(OutputSink& sink, const StatsReport& report, const Look& look) {
  SectionWriter sections(sink, look);
  write_overview(sections, report);
  write_kinds(sections, report.statistics);
  write_ages(sections, report.statistics);
  write_counts(sections, "Entries by device", "DEVICE", report.statistics.devices);
  write_counts(sections, "Entries by torch release", "TORCH", report.statistics.releases);
  write_references(sections, report.statistics);
  write_largest(sections, report);
  write_roots(sections, report.statistics);
}

}  // namespace cachetool::report
