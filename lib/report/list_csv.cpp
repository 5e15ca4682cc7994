#include "report/csv.h"
#include "report/list_report.h"
#include "store/words.h"
#include "torch/release.h"

namespace cachetool::report {
namespace {

std::string number_or_nothing(std::int64_t number) {
  return number < 0 ? "" : std::to_string(number);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

}  // namespace

void write_list_csv(OutputSink& sink, const ListReport& report) {
  CsvWriter csv(sink);
  csv.record({"kind",
              "key",
              "leaf",
              "path",
              "state",
              "bytes",
              "held_bytes",
              "modified",
              "compile_time_ns",
              "compile_time_contained",
              "class",
              "torch",
              "role",
              "devices",
              "graph_name",
              "operators",
              "cudagraphs",
              "cudagraphs_outcome",
              "cudagraphs_reason",
              "partitions",
              "triton_kernels",
              "constants",
              "problem"});
  const auto text = [&](torch::InternId id) { return std::string(report.strings.text(id)); };
  for (const std::uint32_t i : report.listing.shown) {
    const store::EntryRow& row = report.listing.rows[i];
    const torch::EntrySummary& summary = row.summary;
    const bool ok = row.state == store::EntryState::kOk;
    const bool unread = row.state == store::EntryState::kUnreadable;
    const std::string release = summary.exact_release != 0
                                    ? text(summary.exact_release)
                                    : torch::family_range(summary.family, summary.family_last);
    csv.record({std::string(store::kind_word(summary.kind)),
                summary.key.str(),
                store::leaf_name(row, report.strings),
                store::entry_path(report.cache, row, report.strings),
                std::string(store::state_word(row.state)),
                unread ? "" : std::to_string(row.bytes),
                number_or_nothing(row.held_bytes),
                unread ? "" : format_time_utc(row.modified_ns),
                number_or_nothing(row.compile_time_ns),
                row.contained ? "true" : "false",
                text(summary.class_name),
                ok ? release : "",
                ok ? std::string(store::role_word(summary)) : "",
                joined(store::devices_of(summary, report.strings)),
                text(summary.graph_name),
                text(summary.operators),
                std::string(store::cudagraphs_word(summary.cudagraphs)),
                text(row.outcome),
                text(row.outcome_reason),
                ok ? std::to_string(summary.partitions) : "",
                ok ? std::to_string(summary.triton_kernels) : "",
                ok ? std::to_string(summary.constants) : "",
                text(row.problem)});
  }
}

}  // namespace cachetool::report
