#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "report/verify_report.h"

namespace cachetool::report {
namespace {

using verify::Finding;
using verify::Severity;

// Properties in the order and by the names of the standard (sections 3.13 to 3.49).

std::string_view level_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "note";
  }
  return "none";
}

/// A path as part of a URI reference (RFC 3986): everything but unreserved characters and '/' in percent
/// form.
std::string uri_path(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '/' ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

std::string base_id(std::size_t cache, std::uint32_t root) {
  return fmt::format("CACHE{}_ROOT{}", cache, root);
}

/// A text as SARIF's message object.
void message(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  json.begin_object();
  json.member("text", text);
  json.end_object();
}

/// Checks with a finding, numbered in the order of docs/checks.md.
std::map<const verify::Check*, std::uint32_t> number_rules(const VerifyReport& report,
                                                           std::vector<const verify::Check*>& rules) {
  std::map<const verify::Check*, std::uint32_t> numbers;
  for (const VerifiedCache& verified : report.caches)
    for (const Finding& finding : verified.result.findings) numbers[finding.check] = 0;
  for (const verify::CheckGroup& group : verify::all_checks()) {
    for (const verify::Check* check : group.checks) {
      const auto found = numbers.find(check);
      if (found == numbers.end()) continue;
      found->second = static_cast<std::uint32_t>(rules.size());
      rules.push_back(check);
    }
  }
  return numbers;
}

void write_tool(JsonWriter& json, const VerifyReport& report,
                const std::vector<const verify::Check*>& rules) {
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.member("name", "cachetool");
  json.member("version", report.version);
  json.key("rules");
  json.begin_array();
  for (const verify::Check* check : rules) {
    json.begin_object();
    json.member("id", check->id);
    message(json, "shortDescription", check->title);
    message(json, "help", check->mend);
    json.key("defaultConfiguration");
    json.begin_object();
    json.member("level", level_of(check->severity));
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_object();
}

void write_location(JsonWriter& json, const std::string& base, std::string_view path,
                    std::optional<std::uint64_t> offset) {
  json.key("locations");
  json.begin_array();
  json.begin_object();
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.member("uri", uri_path(path));
  json.member("uriBaseId", base);
  json.end_object();
  if (offset) {
    json.key("region");
    json.begin_object();
    json.member("byteOffset", *offset);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  json.end_array();
}

void write_result(JsonWriter& json, const std::string& base, const Finding& finding, std::uint32_t rule) {
  json.begin_object();
  json.member("ruleId", finding.check->id);
  json.member("ruleIndex", rule);
  json.member("level", level_of(finding.severity));
  message(json, "message", finding.hint.empty() ? finding.message : finding.message + ". " + finding.hint);
  write_location(json, base, finding.path, finding.offset);
  if (!finding.key.empty()) {
    json.key("properties");
    json.begin_object();
    json.member("key", finding.key);
    json.end_object();
  }
  json.end_object();
}

void write_bases(JsonWriter& json, const VerifyReport& report) {
  json.key("originalUriBaseIds");
  json.begin_object();
  for (std::size_t i = 0; i < report.caches.size(); ++i) {
    const std::vector<store::Root>& roots = report.caches[i].cache.roots;
    for (std::uint32_t root = 0; root < roots.size(); ++root) {
      json.key(base_id(i, root));
      json.begin_object();
      json.member("uri", "file://" + uri_path(roots[root].path) + "/");
      json.end_object();
    }
  }
  json.end_object();
}

/// What couldn't be read: a run over it isn't complete.
void write_invocation(JsonWriter& json, const VerifyReport& report) {
  bool complete = true;
  for (const VerifiedCache& verified : report.caches) complete = complete && verified.result.skipped.empty();
  json.key("invocations");
  json.begin_array();
  json.begin_object();
  json.member("executionSuccessful", complete);
  json.key("toolExecutionNotifications");
  json.begin_array();
  for (std::size_t i = 0; i < report.caches.size(); ++i) {
    for (const store::Skipped& place : report.caches[i].result.skipped) {
      json.begin_object();
      json.member("level", "warning");
      message(json, "message", "skipped: " + place.error.message);
      write_location(json, base_id(i, place.root), place.path, {});
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  json.end_array();
}

}  // namespace

void write_verify_sarif(OutputSink& sink, const VerifyReport& report) {
  std::vector<const verify::Check*> rules;
  const auto numbers = number_rules(report, rules);
  JsonWriter json(sink, JsonStyle::kIndented);
  json.begin_object();
  json.member("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  write_tool(json, report, rules);
  write_invocation(json, report);
  write_bases(json, report);
  json.key("results");
  json.begin_array();
  for (std::size_t i = 0; i < report.caches.size(); ++i)
    for (const Finding& finding : report.caches[i].result.findings)
      write_result(json, base_id(i, finding.root), finding, numbers.at(finding.check));
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  json.flush();
  sink.write("\n");
}

}  // namespace cachetool::report
