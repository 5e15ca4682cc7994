#pragma once

#include <string>
#include <vector>

#include "base/interner.h"
#include "store/entry_row.h"
#include "store/read_limits.h"
#include "store/source.h"

namespace cachetool::store {

/// The rows of one key, and what was left out.
struct KeyRows {
  std::vector<EntryRow> rows;
  std::vector<Skipped> skipped;
};

/// Reads, decodes and summarises every candidate of `key`, through `buffer`. An entry that can't be read or
/// decoded becomes a row that says so; one that vanishes meanwhile is left out. Safe from several threads
/// with a buffer and a KeyRows each.
void read_key(Source& source, const KeyRef& key, const ReadLimits& limits, Interner& strings,
              std::string& buffer, KeyRows& out);

}  // namespace cachetool::store
