#include "report/entry_report.h"
#include "torch/json_value.h"

namespace cachetool::report {
namespace {

void write_release(JsonWriter& json, const torch::Release& release) {
  json.key("release");
  json.begin_object();
  json.member("family", torch::family_range(release.first, release.last));
  json.key("exact");
  release.exact.empty() ? json.null() : json.string(release.exact);
  json.member("evidence", release.evidence);
  json.end_object();
}

void write_root(JsonWriter& json, const store::OpenedEntry& entry, const torch::JsonValueOptions& options) {
  const pickle::Value& object = entry.decoded.object();
  if (object.is(pickle::Tag::kObject)) {
    torch::write_fields(json, object, options);
  } else {
    torch::write_value(json, object, options);
  }
}

void write_unrecognised(JsonWriter& json, const torch::Notes& notes, const torch::JsonValueOptions& options) {
  json.key("unrecognised");
  json.begin_array();
  for (const torch::Unrecognised& field : notes.unrecognised) {
    json.begin_object();
    json.member("path", field.path);
    json.key("value");
    torch::write_value(json, field.value, options);
    json.end_object();
  }
  for (const torch::Note& note : notes.notes) {
    json.begin_object();
    json.member("path", note.path);
    json.member("note", note.message);
    json.member("offset", note.offset);
    json.end_object();
  }
  json.end_array();
}

void write_references(JsonWriter& json, const EntryReport& report) {
  json.key("references");
  if (!report.references) return json.null();
  json.begin_array();
  for (const store::EntryReference& reference : *report.references) {
    json.begin_object();
    json.member("kind", reference.kind);
    json.member(reference.found ? "path" : "name", reference.name);
    json.member("found", reference.found);
    json.member("depth", std::uint64_t{reference.depth});
    if (reference.found) {
      json.member("bytes", reference.bytes);
      json.member("files", std::uint64_t{reference.files});
    }
    json.end_object();
  }
  json.end_array();
}

// Real entries write far fewer values than they have bytes; sharing can make them unfold without end.
torch::JsonValueOptions value_options(const store::OpenedEntry& entry, Strings strings) {
  torch::JsonValueOptions options;
  options.full_strings = strings == Strings::kFull;
  options.max_nodes += entry.bytes;
  return options;
}

}  // namespace

void write_entry_item(JsonWriter& json, const EntryReport& report, Strings strings) {
  const store::OpenedEntry& entry = report.entry;
  const torch::JsonValueOptions options = value_options(entry, strings);
  const auto text_or_null = [&](std::string_view name, std::string_view text) {
    json.key(name);
    text.empty() ? json.null() : json.string(text);
  };
  json.begin_object();
  json.member("kind", entry.kind);
  text_or_null("key", entry.key);
  text_or_null("leaf", entry.leaf);
  json.member("path", entry.path);
  json.member("bytes", entry.bytes);
  json.member("sha256", to_hex(entry.sha256));
  text_or_null("class", entry.decoded.class_name());
  write_release(json, entry.release);
  json.key("fields");
  write_root(json, entry, options);
  write_unrecognised(json, entry.decoded.notes, options);
  write_references(json, report);
  json.end_object();
}

std::optional<std::string> field_json(const store::OpenedEntry& entry, const JsonPath& path,
                                      Strings strings) {
  const torch::JsonValueOptions options = value_options(entry, strings);
  JsonPathSink sink(path);
  JsonWriter json(sink);
  write_root(json, entry, options);
  json.flush();
  if (!sink.found()) return std::nullopt;
  return sink.value();
}

}  // namespace cachetool::report
