#pragma once

#include <memory>
#include <optional>

#include "base/json_writer.h"
#include "report/entry_report.h"

namespace cachetool::report {

/// What of an entry is written.
enum class EntryPart : std::uint8_t {
  kSections,  ///< everything: sections for a person, or the whole item as JSON
  kSource,
  kGraph,
  kKeyDetails,
  kPickle,
  kLaunches,
  kField,
};

/// How entries are written; `field` goes with kField.
struct EntryWriterOptions {
  EntryPart part = EntryPart::kSections;
  Format format = Format::kHuman;
  Look look;
  Strings strings = Strings::kShortened;
  RawText raw = RawText::kEscaped;
  std::optional<JsonPath> field;
};

/// Writes entries one after the other, each as soon as it is there: sections, one cachetool.entry/1 document
/// (one cachetool.field/1 document for a field), or such items a line each.
class EntryWriter {
 public:
  EntryWriter(OutputSink& sink, EntryWriterOptions options);
  ~EntryWriter();

  /// Do references matter for what is written?
  bool wants_references() const { return options_.part == EntryPart::kSections; }
  /// False when the entry has nothing of the part that was asked for.
  bool write(const EntryReport& report);
  /// Ends the document.
  void finish();
  /// "wrapper source", "graph text", … for messages.
  const char* part_name() const;

 private:
  bool write_human(const EntryReport& report);
  bool write_field(const EntryReport& report);

  OutputSink& sink_;
  EntryWriterOptions options_;
  std::unique_ptr<JsonWriter> document_;
  bool wrote_any_ = false;
};

}  // namespace cachetool::report
