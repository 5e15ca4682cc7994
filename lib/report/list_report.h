#pragma once

#include "base/interner.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "store/listing.h"

namespace cachetool::report {

/// What `list` found, and where. All of it must outlive the writing.
struct ListReport {
  const store::CacheSet& cache;
  const store::Listing& listing;
  const Interner& strings;
  bool held = false;  ///< show the held bytes
};

/// Writes the rows that are to be shown, one after the other, and totals: a table, a cachetool.list/1
/// document, one such row a line, or CSV.
void write_list(OutputSink& sink, const ListReport& report, Format format, const Look& look);

// The formats, one by one, as write_list chooses them.
void write_list_table(OutputSink& sink, const ListReport& report, const Look& look);
void write_list_json(OutputSink& sink, const ListReport& report);
void write_list_json_lines(OutputSink& sink, const ListReport& report);
void write_list_csv(OutputSink& sink, const ListReport& report);

/// Each shown entry with what it refers to below it, down to kernels and autotune results, as a tree. An FX
/// graph stands below the entries that name it, and by itself only where none of those is shown.
void write_list_tree(OutputSink& sink, const ListReport& report, const store::ReferenceIndex& references,
                     const Look& look);

/// The members of one row inside an open object.
void write_row_members(JsonWriter& json, const ListReport& report, const store::EntryRow& row);

/// The members that sum entries up inside an open object: counts, bytes and compile time.
void write_total_members(JsonWriter& json, const store::ListingTotals& totals);

/// "32 entries (21 FX graphs, 11 AOTAutograd), 3.4 MiB, 12.3 s of compile time, 1 damaged".
std::string totals_line(const ListReport& report, const Look& look);

}  // namespace cachetool::report
