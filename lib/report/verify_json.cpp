#include "base/json_writer.h"
#include "report/json_members.h"
#include "report/repair_report.h"
#include "report/verify_report.h"

namespace cachetool::report {
namespace {

constexpr std::string_view kSchema = "cachetool.verify/1";

void write_finding_members(JsonWriter& json, const store::CacheSet& cache, const verify::Finding& finding) {
  json.member("check", finding.check->id);
  json.member("severity", verify::severity_name(finding.severity));
  json.member("root", cache.roots[finding.root].path);
  json.member("path", finding.path);
  json.key("offset");
  finding.offset ? json.unsigned_integer(*finding.offset) : json.null();
  text_or_null(json, "key", finding.key);
  json.member("message", finding.message);
  text_or_null(json, "hint", finding.hint);
  json.key("repair");
  json.begin_array();
  for (const std::string& path : finding.repair) json.string(path);
  json.end_array();
}

void write_findings(JsonWriter& json, const VerifyReport& report) {
  json.key("findings");
  json.begin_array();
  for (const VerifiedCache& verified : report.caches) {
    for (const verify::Finding& finding : verified.result.findings) {
      json.begin_object();
      write_finding_members(json, verified.cache, finding);
      json.end_object();
    }
  }
  json.end_array();
}

void write_checked(JsonWriter& json, const VerifyReport& report) {
  std::uint64_t files = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  verify::CoverageTable coverage;
  for (const VerifiedCache& verified : report.caches) {
    files += verified.result.files;
    entries += verified.result.entries;
    bytes += verified.result.bytes;
    verify::merge_coverage(coverage, verified.result.coverage);
  }
  json.key("checked");
  json.begin_object();
  json.member("files", files);
  json.member("entries", entries);
  json.member("bytes", bytes);
  json.key("checks");
  json.begin_object();
  for (const verify::CheckGroup& group : verify::all_checks()) {
    for (const verify::Check* check : group.checks) {
      const auto found = coverage.find(check);
      if (found != coverage.end() && found->second.checked != 0)
        json.member(check->id, found->second.checked);
    }
  }
  json.end_object();
  json.end_object();
}

void write_not_checkable(JsonWriter& json, const VerifiedCache& verified) {
  for (const verify::CheckGroup& group : verify::all_checks()) {
    for (const verify::Check* check : group.checks) {
      const auto found = verified.result.coverage.find(check);
      if (found == verified.result.coverage.end()) continue;
      for (const auto& [reason, entry] : found->second.not_checkable) {
        json.begin_object();
        json.member("check", check->id);
        json.member("root", verified.cache.roots[entry.first_root].path);
        json.member("path", entry.first_path);
        json.member("count", entry.count);
        json.member("reason", reason);
        json.end_object();
      }
    }
  }
}

void write_skipped(JsonWriter& json, const VerifyReport& report) {
  json.key("skipped");
  json.begin_array();
  for (const VerifiedCache& verified : report.caches) {
    for (const store::Skipped& place : verified.result.skipped) {
      json.begin_object();
      json.key("check");
      json.null();
      json.member("root", verified.cache.roots[place.root].path);
      json.member("path", place.path);
      json.member("count", 1);
      json.member("reason", place.error.message);
      json.member("code", code_name(place.error.code));
      json.end_object();
    }
    write_not_checkable(json, verified);
  }
  json.end_array();
}

void write_repair(JsonWriter& json, const VerifyReport& report) {
  if (report.caches.empty() || report.caches.front().repairs == nullptr) return;
  json.key("repair");
  json.begin_array();
  for (const VerifiedCache& verified : report.caches)
    write_repair_units(json, verified.cache, *verified.repairs);
  json.end_array();
}

}  // namespace

void write_verify_json(OutputSink& sink, const VerifyReport& report) {
  JsonWriter json(sink, JsonStyle::kIndented);
  json.begin_object();
  json.member("schema", kSchema);
  json.key("caches");
  json.begin_array();
  for (const VerifiedCache& verified : report.caches) json.string(verified.cache.roots[0].path);
  json.end_array();
  json.member("depth", depth_name(report.depth));
  write_findings(json, report);
  write_checked(json, report);
  write_skipped(json, report);
  json.key("totals");
  json.begin_object();
  for (const auto severity : {verify::Severity::kError, verify::Severity::kWarning, verify::Severity::kInfo})
    json.member(verify::severity_name(severity), report.count(severity));
  json.end_object();
  write_repair(json, report);
  json.end_object();
  json.flush();
  sink.write("\n");
}

void write_verify_json_lines(OutputSink& sink, const VerifyReport& report) {
  for (const VerifiedCache& verified : report.caches) {
    for (const verify::Finding& finding : verified.result.findings) {
      JsonWriter json(sink);
      json.begin_object();
      json.member("schema", kSchema);
      write_finding_members(json, verified.cache, finding);
      json.end_object();
      json.flush();
      sink.write("\n");
    }
  }
}

}  // namespace cachetool::report
