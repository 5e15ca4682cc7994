#include "report/entry_writer.h"

#include <utility>

#include "base/text.h"

namespace cachetool::report {

EntryWriter::EntryWriter(OutputSink& sink, EntryWriterOptions options)
    : sink_(sink), options_(std::move(options)) {
  if (options_.format != Format::kJson) return;
  document_ = std::make_unique<JsonWriter>(sink_, JsonStyle::kIndented);
  document_->begin_object();
  document_->member("schema", options_.part == EntryPart::kField ? "cachetool.field/1" : "cachetool.entry/1");
  document_->key("entries");
  document_->begin_array();
}

EntryWriter::~EntryWriter() {
  finish();
}

void EntryWriter::finish() {
  if (!document_) return;
  document_->end_array();
  document_->end_object();
  document_->flush();
  document_.reset();
  sink_.write("\n");
}

const char* EntryWriter::part_name() const {
  switch (options_.part) {
    case EntryPart::kSections:
      return "sections";
    case EntryPart::kSource:
      return "wrapper source";
    case EntryPart::kGraph:
      return "graph text";
    case EntryPart::kKeyDetails:
      return "key details";
    case EntryPart::kPickle:
      return "pickle";
    case EntryPart::kLaunches:
      return "kernel launches";
    case EntryPart::kField:
      return "such field";
  }
  return "";
}

bool EntryWriter::write_field(const EntryReport& report) {
  const auto value = field_json(report.entry, *options_.field, options_.strings);
  if (!value) return false;
  if (options_.format == Format::kHuman) {
    const std::string text = json_to_text(*value);
    const bool is_text = !value->empty() && value->front() == '"';
    if (is_text && options_.raw == RawText::kEscaped) {
      std::string_view rest = text;
      while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        sink_.write(escape_for_terminal(rest.substr(0, end)) + "\n");
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      }
    } else {
      sink_.write(text.ends_with('\n') ? text : text + "\n");
    }
    return true;
  }
  const auto write_item = [&](JsonWriter& json) {
    json.begin_object();
    if (options_.format == Format::kJsonLines) json.member("schema", "cachetool.field/1");
    json.member("kind", report.entry.kind);
    json.member("key", report.entry.key);
    json.member("leaf", report.entry.leaf);
    json.key("value");
    json.raw(*value);
    json.end_object();
  };
  if (document_) {
    write_item(*document_);
  } else {
    JsonWriter line(sink_);
    write_item(line);
    line.flush();
    sink_.write("\n");
  }
  return true;
}

bool EntryWriter::write_human(const EntryReport& report) {
  switch (options_.part) {
    case EntryPart::kSections:
      return write_entry(sink_, report, options_.look), true;
    case EntryPart::kSource:
      return write_source(sink_, report.entry, options_.raw);
    case EntryPart::kGraph:
      return write_graph(sink_, report.entry, options_.raw);
    case EntryPart::kKeyDetails:
      return write_key_details(sink_, report.entry, options_.look);
    case EntryPart::kLaunches:
      return write_launches(sink_, report.entry, options_.look);
    case EntryPart::kPickle:
      return write_pickle(sink_, report.entry, options_.strings), true;
    case EntryPart::kField:
      return write_field(report);
  }
  return false;
}

bool EntryWriter::write(const EntryReport& report) {
  if (options_.part == EntryPart::kField) return write_field(report);
  if (options_.format == Format::kHuman) {
    if (std::exchange(wrote_any_, true)) sink_.write("\n");
    return write_human(report);
  }
  if (document_) {
    write_entry_item(*document_, report, options_.strings);
    return true;
  }
  JsonWriter line(sink_);
  write_entry_item(line, report, options_.strings);
  line.flush();
  sink_.write("\n");
  return true;
}

}  // namespace cachetool::report
