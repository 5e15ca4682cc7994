#pragma once

#include "base/interner.h"
#include "store/entry_row.h"
#include "torch/decode.h"

namespace cachetool::replay {

/// What `list` says of CUDA graphs: the state (state_name) of the entry's graph under default settings, and
/// the groups of its reasons, into the row. The graph is that of an FX entry, by itself, or the forward that
/// an AOTAutograd entry bundles; other entries get nothing. `row.summary` must be filled. Safe from several
/// threads. Fits store::OutcomeOf.
void note_outcome(const torch::Decoded& decoded, store::EntryRow& row, Interner& strings);

}  // namespace cachetool::replay
