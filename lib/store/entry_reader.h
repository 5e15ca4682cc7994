#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/interner.h"
#include "store/entry_row.h"
#include "store/read_limits.h"
#include "store/source.h"

namespace cachetool::torch {
struct Decoded;
}

namespace cachetool::store {

/// Says what becomes of CUDA graphs for a decoded entry: sets the row's outcome and its reason. That takes
/// rules that are no part of this; called from several threads.
using OutcomeOf = std::function<void(const torch::Decoded&, EntryRow&, Interner&)>;

/// The rows of one key, and what was left out.
struct KeyRows {
  std::vector<EntryRow> rows;
  std::vector<Skipped> skipped;
};

/// Reads, decodes and summarises every candidate of `key`, through `buffer`. An entry that can't be read or
/// decoded becomes a row that says so; one that vanishes meanwhile is left out. `outcome_of` may be empty.
/// Safe from several threads with a buffer and a KeyRows each.
void read_key(Source& source, const KeyRef& key, const ReadLimits& limits, const OutcomeOf& outcome_of,
              Interner& strings, std::string& buffer, KeyRows& out);

}  // namespace cachetool::store
