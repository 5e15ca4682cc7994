#include "report/csv.h"
#include "report/cudagraphs_report.h"
#include "report/json_lines.h"
#include "report/json_members.h"

namespace cachetool::report {
namespace {

using replay::CudagraphReport;
using replay::CudagraphRow;
using replay::CudagraphState;
using replay::CudagraphTally;

constexpr std::string_view kSchema = "cachetool.cudagraphs/1";

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void write_place(JsonWriter& json, const replay::EntryPlace& place) {
  json.member("key", place.key);
  text_or_null(json, "leaf", place.leaf);
  text_or_null(json, "path", place.path);
}

void write_row(JsonWriter& json, const CudagraphRow& row) {
  write_place(json, row.entry);
  json.key("aot");
  if (row.aot) {
    json.begin_object();
    write_place(json, *row.aot);
    json.end_object();
  } else {
    json.null();
  }
  json.member("role", role_name(row.role));
  json.member("paired", row.paired);
  json.member("state", state_name(row.state));
  json.member("partitions", row.partitions);
  write_texts(json, "reasons", row.reasons);
  write_texts(json, "groups", row.groups);
  json.member("by_forward", row.by_forward);
  json.member("counted", row.counted);
  json.key("compile_time_ns");
  row.compile_time_ns < 0 ? json.null() : json.integer(row.compile_time_ns);
}

void write_tally(JsonWriter& json, const CudagraphTally& tally) {
  json.member("graphs", tally.graphs);
  json.member("compile_time_ns", tally.compile_time_ns);
}

void write_totals(JsonWriter& json, const CudagraphReport& report) {
  json.key("totals");
  json.begin_object();
  write_tally(json, report.all);
  json.member("pairs", report.pairs);
  json.key("states");
  json.begin_object();
  for (std::size_t i = 0; i < report.states.size(); ++i) {
    json.key(state_name(static_cast<CudagraphState>(i)));
    json.begin_object();
    write_tally(json, report.states[i]);
    json.end_object();
  }
  json.end_object();
  json.key("reasons");
  json.begin_array();
  for (const auto& [state, groups] : report.reasons) {
    for (const auto& [group, tally] : groups) {
      json.begin_object();
      json.member("state", state_name(state));
      json.member("group", group);
      write_tally(json, tally);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace

void write_cudagraphs_json(OutputSink& sink, const CudagraphReport& report, const std::string& cache) {
  JsonWriter json(sink, JsonStyle::kIndented);
  json.begin_object();
  json.member("schema", kSchema);
  json.member("cache", cache);
  json.key("graphs");
  json.begin_array();
  for (const CudagraphRow& row : report.rows) {
    json.begin_object();
    write_row(json, row);
    json.end_object();
  }
  json.end_array();
  write_totals(json, report);
  json.end_object();
  json.flush();
  sink.write("\n");
}

void write_cudagraphs_json_lines(OutputSink& sink, const CudagraphReport& report) {
  for (const CudagraphRow& row : report.rows)
    write_json_line(sink, kSchema, "graph", [&](JsonWriter& json) { write_row(json, row); });
  write_json_line(sink, kSchema, "summary", [&](JsonWriter& json) { write_totals(json, report); });
}

void write_cudagraphs_csv(OutputSink& sink, const CudagraphReport& report) {
  CsvWriter csv(sink);
  csv.record({"key", "leaf", "path", "aot_key", "aot_leaf", "aot_path", "role", "paired", "state",
              "partitions", "reasons", "groups", "by_forward", "counted", "compile_time_ns"});
  for (const CudagraphRow& row : report.rows) {
    const replay::EntryPlace aot = row.aot.value_or(replay::EntryPlace{});
    csv.record({row.entry.key, row.entry.leaf, row.entry.path, aot.key, aot.leaf, aot.path,
                std::string(role_name(row.role)), row.paired ? "true" : "false",
                std::string(state_name(row.state)), std::to_string(row.partitions), joined(row.reasons),
                joined(row.groups), row.by_forward ? "true" : "false", row.counted ? "true" : "false",
                row.compile_time_ns < 0 ? "" : std::to_string(row.compile_time_ns)});
  }
}

}  // namespace cachetool::report
