#include <limits>

#include "report/list_report.h"
#include "report/stats_report.h"
#include "store/words.h"

namespace cachetool::report {
namespace {

using store::FileTally;

void tally_members(JsonWriter& json, const FileTally& tally) {
  json.member("files", tally.files);
  json.member("bytes", tally.bytes);
  json.member("allocated_bytes", tally.allocated_bytes);
}

void write_kinds(JsonWriter& json, const store::Statistics& statistics) {
  json.key("kinds");
  json.begin_array();
  for (std::size_t i = 0; i < statistics.kinds.size(); ++i) {
    if (statistics.kinds[i].files == 0) continue;
    json.begin_object();
    json.member("kind", store::kind_name(static_cast<store::ArtifactKind>(i)));
    tally_members(json, statistics.kinds[i]);
    json.end_object();
  }
  json.end_array();
}

void write_ages(JsonWriter& json, const store::Statistics& statistics) {
  json.key("ages");
  json.begin_array();
  for (const store::AgeBucket& bucket : statistics.ages) {
    json.begin_object();
    json.key("below_seconds");
    const bool last = bucket.limit_ns == std::numeric_limits<std::int64_t>::max();
    last ? json.null() : json.integer(bucket.limit_ns / 1'000'000'000);
    tally_members(json, bucket.tally);
    json.end_object();
  }
  json.end_array();
}

void write_entries(JsonWriter& json, const store::ListingTotals& totals) {
  json.key("entries");
  json.begin_object();
  write_total_members(json, totals);
  json.end_object();
}

void write_counts(JsonWriter& json, std::string_view name, std::string_view label,
                  const std::map<std::string, store::CountTally>& counts) {
  json.key(name);
  json.begin_array();
  for (const auto& [text, tally] : counts) {
    json.begin_object();
    json.member(label, text);
    json.member("entries", tally.count);
    json.member("bytes", tally.bytes);
    json.end_object();
  }
  json.end_array();
}

void write_orphans(JsonWriter& json, const store::Statistics& statistics) {
  json.key("orphans");
  json.begin_array();
  for (const store::OrphanTally& orphan : statistics.orphans) {
    json.begin_object();
    json.member("kind", orphan.kind);
    json.member("units", orphan.units);
    json.member("files", orphan.files);
    json.member("bytes", orphan.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("missing_references");
  json.begin_object();
  for (const auto& [kind, count] : statistics.missing) json.member(kind, count);
  json.end_object();
}

void write_largest(JsonWriter& json, const StatsReport& report) {
  json.key("largest");
  json.begin_array();
  for (const store::EntryRow& row : report.statistics.largest) {
    json.begin_object();
    json.member("kind", store::kind_word(row.summary.kind));
    json.key("key");
    row.summary.key == torch::HashName{} ? json.null() : json.string(row.summary.key.str());
    json.member("leaf", store::leaf_name(row, report.strings));
    json.member("path", store::entry_path(report.cache, row, report.strings));
    json.member("bytes", row.bytes);
    json.end_object();
  }
  json.end_array();
}

void write_roots(JsonWriter& json, const store::Statistics& statistics) {
  json.key("roots");
  json.begin_array();
  for (const store::RootTally& root : statistics.roots) {
    json.begin_object();
    json.member("role", root.role);
    json.member("path", root.path);
    json.member("outside", root.companion);
    tally_members(json, root.tally);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_stats_json(OutputSink& sink, const StatsReport& report, JsonStyle style) {
  const store::Statistics& statistics = report.statistics;
  JsonWriter json(sink, style);
  json.begin_object();
  json.member("schema", "cachetool.stats/1");
  json.member("cache", report.cache.roots[0].path);
  tally_members(json, statistics.total);
  write_kinds(json, statistics);
  write_ages(json, statistics);
  write_entries(json, statistics.entries);
  write_counts(json, "devices", "device", statistics.devices);
  write_counts(json, "releases", "release", statistics.releases);
  write_orphans(json, statistics);
  write_largest(json, report);
  write_roots(json, statistics);
  json.end_object();
  json.flush();
  sink.write("\n");
}

}  // namespace cachetool::report
