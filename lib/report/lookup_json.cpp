#include <algorithm>
#include <optional>

#include "report/json_members.h"
#include "report/lookup_report.h"

namespace cachetool::report {
namespace {

using replay::Candidate;
using replay::KeyLookup;
using replay::Lookup;

void write_optional(JsonWriter& json, std::string_view name, const std::optional<std::string>& text) {
  json.key(name);
  text ? json.string(*text) : json.null();
}

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void write_found(JsonWriter& json, const KeyLookup& found) {
  json.member("result", result_word(found.result));
  text_or_null(json, "leaf", found.leaf);
  text_or_null(json, "path", found.path);
  write_optional(json, "guards_expr", found.guards_expr);
  text_or_null(json, "message", found.message);
  text_or_null(json, "raised", found.raised ? describe(*found.raised) : "");
  text_or_null(json, "raised_in", found.raised ? found.raised->source : "");
  json.key("candidates");
  json.begin_array();
  for (const Candidate& candidate : found.candidates) {
    json.begin_object();
    json.member("leaf", candidate.leaf);
    json.member("path", candidate.path);
    json.member("status", status_word(candidate.status));
    write_optional(json, "guards_expr", candidate.guards_expr);
    text_or_null(json, "message", candidate.message);
    json.end_object();
  }
  json.end_array();
}

void write_hints(JsonWriter& json, const replay::LookupHints& hints) {
  json.key("hints");
  json.begin_object();
  json.key("by_position");
  json.begin_array();
  for (const std::int64_t value : hints.by_position()) json.integer(value);
  json.end_array();
  json.key("by_name");
  json.begin_object();
  for (const auto& [name, value] : hints.by_name()) json.member(name, value);
  json.end_object();
  json.end_object();
}

// One for each L['tN'] that is known or has a value.
void write_sizes(JsonWriter& json, const replay::SizeValues& sizes) {
  json.key("sizes");
  json.begin_array();
  const auto& expressions = sizes.inputs.expressions;
  for (std::size_t n = 0; n < std::max(expressions.size(), sizes.values.size()); ++n) {
    json.begin_object();
    json.member("name", "L['t" + std::to_string(n) + "']");
    text_or_null(json, "expression", n < expressions.size() ? expressions[n] : "");
    json.key("value");
    const auto value = sizes.value(n);
    value ? json.integer(*value) : json.null();
    json.end_object();
  }
  json.end_array();
  json.member("sizes_complete", sizes.inputs.complete);
  text_or_null(json, "sizes_reason", sizes.inputs.reason);
}

void write_graphs(JsonWriter& json, const Lookup& lookup) {
  json.key("graphs");
  json.begin_array();
  for (const replay::GraphLookup& graph : lookup.graphs) {
    json.begin_object();
    json.member("role", graph.role);
    json.member("bundled", graph.bundled);
    text_or_null(json, "key", graph.found.key);
    if (!graph.bundled) write_found(json, graph.found);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_lookup_members(JsonWriter& json, const Lookup& lookup) {
  json.member("key", lookup.key);
  json.member("rules", torch::family_name(lookup.rules));
  write_hints(json, lookup.hints);
  write_sizes(json, lookup.sizes);
  write_found(json, lookup);
  write_graphs(json, lookup);
  write_texts(json, "log", lookup.log);
  json.key("counters");
  json.begin_object();
  for (const auto& [name, count] : lookup.counters) json.member(name, count);
  json.end_object();
  write_texts(json, "assumptions", lookup.assumptions);
}

}  // namespace cachetool::report
