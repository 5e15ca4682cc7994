#include "report/which_report.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/section.h"

namespace cachetool::report {
namespace {

using store::Ownership;

void write_item(JsonWriter& json, const Ownership& item) {
  json.begin_object();
  json.member("asked", item.asked);
  json.member("kind", item.kind);
  json.member("path", item.path);
  json.member("bytes", item.bytes);
  json.member("files", std::uint64_t{item.files});
  json.key("owners");
  json.begin_array();
  for (const store::Owner& owner : item.owners) {
    json.begin_object();
    json.member("kind", owner.kind);
    json.member("key", owner.key);
    json.member("leaf", owner.leaf);
    json.member("path", owner.path);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_text(OutputSink& sink, const Ownership& item, const Look& look) {
  std::string line = look.palette.paint(escape_for_terminal(item.path), Style::kName) + "  " + item.kind;
  if (item.files != 0) line += fmt::format(", {}", look.size(item.bytes));
  if (item.files > 1) line += fmt::format(" in {} files", item.files);
  sink.write(line + "\n");
  for (const store::Owner& owner : item.owners) {
    const bool full = look.names == Names::kFull;
    const std::string name =
        full ? owner.key + "/" + owner.leaf : owner.key.substr(0, 12) + "/" + owner.leaf.substr(0, 8);
    sink.write(
        fmt::format("  {} {}\n", owner.kind, look.palette.paint(escape_for_terminal(name), Style::kName)));
  }
  if (item.owners.empty())
    sink.write("  " + look.palette.paint("no entry leads to it", Style::kFaint) + "\n");
}

}  // namespace

void write_which(OutputSink& sink, const std::vector<Ownership>& found, Format format, const Look& look) {
  if (format == Format::kHuman) {
    for (const Ownership& item : found) write_text(sink, item, look);
    return;
  }
  if (format == Format::kJsonLines) {
    for (const Ownership& item : found) {
      JsonWriter line(sink);
      write_item(line, item);
      line.flush();
      sink.write("\n");
    }
    return;
  }
  JsonWriter json(sink, JsonStyle::kIndented);
  json.begin_object();
  json.member("schema", "cachetool.which/1");
  json.key("files");
  json.begin_array();
  for (const Ownership& item : found) write_item(json, item);
  json.end_array();
  json.end_object();
  json.flush();
  sink.write("\n");
}

}  // namespace cachetool::report
