#include <fmt/format.h>

#include <variant>

#include "report/entry_report.h"
#include "report/entry_sections.h"

namespace cachetool::report {
namespace {

std::string release_text(const torch::Release& release) {
  std::string text = release.exact.empty() ? torch::family_range(release.first, release.last) : release.exact;
  if (!release.evidence.empty()) text += " (" + release.evidence + ")";
  return text;
}

void write_identity(SectionWriter& sections, const EntryReport& report) {
  const store::OpenedEntry& entry = report.entry;
  const Look& look = sections.look();
  sections.title(entry.key.empty() ? entry.kind + " " + entry.path : entry.kind + " " + entry.key);
  sections.field("cache", report.cache);
  sections.field("path", entry.path, Style::kName);
  sections.field("size",
                 look.sizes == Sizes::kExact ? look.size(entry.bytes) + " bytes" : look.size(entry.bytes));
  sections.field("written", fmt::format("{} ({} ago)", format_time_utc(entry.modified_ns),
                                        format_age(report.now_ns - entry.modified_ns)));
  sections.field("sha256", to_hex(entry.sha256));
  sections.field("class", entry.decoded.class_name());
  sections.field("torch", release_text(entry.release));
  const pickle::Document& document = entry.decoded.document;
  sections.field("pickle", fmt::format("protocol {}, {}", document.protocol(),
                                       counted(document.globals().size(), "global", "globals")));
  if (!document.deviations().empty()) {
    sections.field("deviations",
                   counted(document.deviations().size(), "oddity", "oddities") + ", see --pickle",
                   Style::kWarning);
  }
  if (document.trailing_bytes() != 0) {
    sections.field("trailing", counted(document.trailing_bytes(), "byte", "bytes") + " behind the end",
                   Style::kWarning);
  }
}

void write_references(SectionWriter& sections, const EntryReport& report) {
  if (!report.references) return;
  sections.title("References");
  std::vector<std::vector<Cell>> rows;
  for (const store::EntryReference& reference : *report.references) {
    const std::string indent((reference.depth - 1) * 2, ' ');
    const Cell state = reference.found ? Cell{"", Style::kPlain} : Cell{"missing", Style::kBad};
    rows.push_back({{indent + reference.kind},
                    {reference.name, Style::kName},
                    {reference.found ? sections.look().size(reference.bytes) : ""},
                    {reference.files > 1 ? counted(reference.files, "file", "files") : ""},
                    state});
  }
  sections.table({{"KIND"}, {"NAME", Align::kLeft, 24}, {"SIZE", Align::kRight}, {"FILES"}, {""}},
                 std::move(rows));
  sections.title("Used by");
  for (const std::string& user : report.users) sections.text(user);
}

void write_unrecognised(SectionWriter& sections, const torch::Notes& notes) {
  sections.title("Unrecognised");
  for (const torch::Unrecognised& field : notes.unrecognised) {
    sections.field(field.path, fmt::format("at offset {}; see --field", pickle::offset_of(field.value)),
                   Style::kWarning);
  }
  for (const torch::Note& note : notes.notes) sections.field(note.path, note.message, Style::kWarning);
}

}  // namespace

void write_entry(OutputSink& sink, const EntryReport& report, const Look& look) {
  SectionWriter sections(sink, look);
  write_identity(sections, report);
  const store::OpenedEntry& entry = report.entry;
  if (const torch::AotAutogradEntry* aot = entry.decoded.aot_entry()) write_aot_sections(sections, *aot);
  for (const HeldGraph& held : held_graphs(entry)) write_graph_sections(sections, *held.graph, held.role);
  write_references(sections, report);
  write_unrecognised(sections, entry.decoded.notes);
}

}  // namespace cachetool::report
