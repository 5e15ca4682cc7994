#include "report/json_members.h"
#include "report/list_report.h"
#include "store/words.h"
#include "torch/release.h"

namespace cachetool::report {
namespace {

constexpr std::string_view kSchema = "cachetool.list/1";

void number_or_null(JsonWriter& json, std::string_view name, std::int64_t number) {
  json.key(name);
  number < 0 ? json.null() : json.integer(number);
}

void hash_or_null(JsonWriter& json, std::string_view name, const torch::HashName& hash) {
  text_or_null(json, name, hash.str());
}

template <class Texts>
void text_list(JsonWriter& json, std::string_view name, const Texts& texts) {
  json.key(name);
  json.begin_array();
  for (const auto& text : texts) json.string(text);
  json.end_array();
}

void write_content(JsonWriter& json, const ListReport& report, const store::EntryRow& row) {
  const Interner& strings = report.strings;
  const torch::EntrySummary& summary = row.summary;
  text_or_null(json, "class", strings.text(summary.class_name));
  json.key("release");
  json.begin_object();
  json.member("family", torch::family_range(summary.family, summary.family_last));
  text_or_null(json, "exact", strings.text(summary.exact_release));
  json.end_object();
  json.member("role", store::role_word(summary));
  text_list(json, "devices", store::devices_of(summary, strings));
  text_or_null(json, "graph_name", strings.text(summary.graph_name));
  text_list(json, "operators", store::split_list(strings.text(summary.operators)));
  text_or_null(json, "cudagraphs", store::cudagraphs_word(summary.cudagraphs));
  text_or_null(json, "cudagraphs_outcome", strings.text(row.outcome));
  text_or_null(json, "cudagraphs_reason", strings.text(row.outcome_reason));
  json.member("partitions", std::uint64_t{summary.partitions});
  json.member("triton_kernels", std::uint64_t{summary.triton_kernels});
  json.member("constants", std::uint64_t{summary.constants});
  json.member("guards", summary.has_guards);
  json.member("bundled", summary.bundled);
  hash_or_null(json, "wrapper", summary.cache_key);
  hash_or_null(json, "forward_graph", summary.forward_graph);
  hash_or_null(json, "backward_graph", summary.backward_graph);
}

void write_totals(JsonWriter& json, const ListReport& report) {
  const store::ListingTotals& totals = report.listing.totals;
  json.key("totals");
  json.begin_object();
  json.member("entries", totals.entries);
  json.member("shown", std::uint64_t{report.listing.shown.size()});
  write_total_members(json, totals);
  json.end_object();
}

}  // namespace

void write_total_members(JsonWriter& json, const store::ListingTotals& totals) {
  json.member("fxgraph", totals.fx_graphs);
  json.member("aotautograd", totals.aot_entries);
  json.member("damaged", totals.damaged);
  json.member("unreadable", totals.unreadable);
  json.member("bytes", totals.bytes);
  json.member("compile_time_ns", totals.compile_time_ns);
}

void write_row_members(JsonWriter& json, const ListReport& report, const store::EntryRow& row) {
  json.member("kind", store::kind_word(row.summary.kind));
  hash_or_null(json, "key", row.summary.key);
  json.member("leaf", store::leaf_name(row, report.strings));
  json.member("path", store::entry_path(report.cache, row, report.strings));
  json.member("state", store::state_word(row.state));
  number_or_null(json, "bytes",
                 row.state == store::EntryState::kUnreadable ? -1 : static_cast<std::int64_t>(row.bytes));
  number_or_null(json, "held_bytes", row.held_bytes);
  if (row.state == store::EntryState::kUnreadable) {
    text_or_null(json, "modified", {});
  } else {
    json.member("modified", format_time_utc(row.modified_ns));
  }
  number_or_null(json, "compile_time_ns", row.compile_time_ns);
  json.member("compile_time_contained", row.contained);
  if (row.state == store::EntryState::kOk) return write_content(json, report, row);
  json.key("problem");
  json.begin_object();
  json.member("code", report.strings.text(row.problem_code));
  json.member("message", report.strings.text(row.problem));
  json.end_object();
}

void write_list_json(OutputSink& sink, const ListReport& report) {
  JsonWriter json(sink, JsonStyle::kIndented);
  json.begin_object();
  json.member("schema", kSchema);
  json.member("cache", report.cache.roots[0].path);
  json.key("entries");
  json.begin_array();
  for (const std::uint32_t i : report.listing.shown) {
    json.begin_object();
    write_row_members(json, report, report.listing.rows[i]);
    json.end_object();
  }
  json.end_array();
  write_totals(json, report);
  json.end_object();
  json.flush();
  sink.write("\n");
}

void write_list_json_lines(OutputSink& sink, const ListReport& report) {
  for (const std::uint32_t i : report.listing.shown) {
    JsonWriter json(sink);
    json.begin_object();
    json.member("schema", kSchema);
    write_row_members(json, report, report.listing.rows[i]);
    json.end_object();
    json.flush();
    sink.write("\n");
  }
}

}  // namespace cachetool::report
