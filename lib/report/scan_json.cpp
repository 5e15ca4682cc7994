#include <optional>

#include <fmt/format.h>

#include "report/json_lines.h"
#include "report/scan_report.h"
#include "store/paths.h"

namespace cachetool::report {
namespace {

using verify::CodeItem;
using verify::ScanCoverage;
using verify::ScanFinding;
using verify::ScannedFile;
using verify::ScanTarget;

constexpr std::string_view kSchema = "cachetool.scan/1";

void write_code(JsonWriter& json, const CodeItem& item) {
  json.begin_object();
  json.member("what", item.what);
  json.member("count", item.count);
  json.member("bytes", item.bytes);
  json.end_object();
}

void write_finding(JsonWriter& json, const ScanFinding& finding) {
  json.begin_object();
  json.member("verdict", verify::verdict_name(finding.verdict));
  json.member("subject", verify::subject_name(finding.subject));
  json.member("name", finding.name);
  json.member("reason", finding.reason);
  json.member("place", finding.place);
  json.member("offset", finding.offset);
  json.end_object();
}

void write_unscanned(JsonWriter& json, const verify::Unscanned& part) {
  json.begin_object();
  json.member("place", part.place);
  json.member("offset", part.offset);
  json.member("bytes", part.bytes);
  json.member("reason", part.reason);
  json.end_object();
}

void write_file_members(JsonWriter& json, const ScanTarget& target, const ScannedFile& file) {
  const verify::FileScan& scan = file.scan;
  json.member("root", target.set.roots[file.root].path);
  json.member("path", file.path);
  json.key("kind");
  target.is_cache ? json.string(store::kind_name(file.kind)) : json.null();
  json.member("content", scan.content);
  json.member("bytes", scan.bytes);
  json.member("expanded_bytes", scan.expanded_bytes);
  json.member("pickle", verify::verdict_name(scan.verdict));
  json.member("pickles", scan.pickles);
  json.member("expressions", scan.expressions);
  json.key("carries_code");
  json.begin_array();
  for (const CodeItem& item : scan.code) write_code(json, item);
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const ScanFinding& finding : scan.findings) write_finding(json, finding);
  json.end_array();
  json.member("total_findings", scan.total_findings);
  json.key("unscanned");
  json.begin_array();
  for (const verify::Unscanned& part : scan.unscanned) write_unscanned(json, part);
  json.end_array();
}

void write_skipped(JsonWriter& json, const ScanSummary& summary) {
  json.key("skipped");
  json.begin_array();
  for (const ScannedTarget& target : summary.targets) {
    for (const store::Skipped& place : target.result.skipped) {
      json.begin_object();
      json.member("root", target.target.set.roots[place.root].path);
      json.member("path", place.path);
      json.member("code", code_name(place.error.code));
      json.member("reason", place.error.message);
      json.end_object();
    }
  }
  json.end_array();
}

void write_owners(JsonWriter& json, const ScanSummary& summary) {
  json.key("owners");
  json.begin_array();
  for (const ScannedTarget& target : summary.targets) {
    for (const verify::OwnerFinding& finding : target.result.owners) {
      const std::string& root = target.target.set.roots[finding.root].path;
      json.begin_object();
      json.member("check", finding.check->id);
      json.member("severity", verify::severity_name(finding.check->severity));
      json.member("directory", finding.absolute ? finding.path : store::join_path(root, finding.path));
      json.member("itself", finding.itself);
      json.member("files", finding.files);
      json.key("example");
      finding.example.empty() ? json.null() : json.string(finding.example);
      json.member("uid", finding.uid);
      json.member("mode", fmt::format("{:04o}", finding.mode));
      json.end_object();
    }
  }
  json.end_array();
}

void write_coverage(JsonWriter& json, const ScanCoverage& coverage) {
  json.key("coverage");
  json.begin_object();
  json.member("files", coverage.files);
  json.member("bytes", coverage.bytes);
  json.member("expanded_bytes", coverage.expanded_bytes);
  json.member("pickles", coverage.pickles);
  json.member("expressions", coverage.expressions);
  json.member("skipped", coverage.not_scanned);
  json.member("moved_aside", coverage.moved_aside);
  json.member("unscanned_parts", coverage.unscanned_parts);
  json.member("unscanned_bytes", coverage.unscanned_bytes);
  json.key("verdicts");
  json.begin_object();
  for (const auto& [verdict, files] : coverage.verdicts) json.member(verify::verdict_name(verdict), files);
  json.end_object();
  json.member("files_carrying_code", coverage.carrying_code);
  json.key("carries_code");
  json.begin_array();
  for (const auto& [what, item] : coverage.code) write_code(json, item);
  json.end_array();
  json.end_object();
}

void write_summary_members(JsonWriter& json, const ScanSummary& summary) {
  write_skipped(json, summary);
  write_owners(json, summary);
  write_coverage(json, summary.coverage);
  json.member("verdict", verify::verdict_name(summary.verdict));
}

class ScanJson final : public ScanWriter {
 public:
  explicit ScanJson(OutputSink& sink) : sink_(sink), json_(std::in_place, sink, JsonStyle::kIndented) {
    json_->begin_object();
    json_->member("schema", kSchema);
    json_->key("files");
    json_->begin_array();
  }
  void file(const ScanTarget& target, const ScannedFile& file) override {
    json_->begin_object();
    write_file_members(*json_, target, file);
    json_->end_object();
  }
  void finish(const ScanSummary& summary) override {
    json_->end_array();
    write_summary_members(*json_, summary);
    json_->end_object();
    json_->flush();
    sink_.write("\n");
  }

 private:
  OutputSink& sink_;
  std::optional<JsonWriter> json_;
};

class ScanJsonLines final : public ScanWriter {
 public:
  explicit ScanJsonLines(OutputSink& sink) : sink_(sink) {}
  void file(const ScanTarget& target, const ScannedFile& file) override {
    write_json_line(sink_, kSchema, "file",
                    [&](JsonWriter& json) { write_file_members(json, target, file); });
  }
  void finish(const ScanSummary& summary) override {
    write_json_line(sink_, kSchema, "summary",
                    [&](JsonWriter& json) { write_summary_members(json, summary); });
  }

 private:
  OutputSink& sink_;
};

}  // namespace

std::unique_ptr<ScanWriter> make_scan_json(OutputSink& sink) {
  return std::make_unique<ScanJson>(sink);
}

std::unique_ptr<ScanWriter> make_scan_json_lines(OutputSink& sink) {
  return std::make_unique<ScanJsonLines>(sink);
}

}  // namespace cachetool::report
