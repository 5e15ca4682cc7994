#pragma once

#include "verify/scan/scan_state.h"

namespace cachetool::verify {

/// A piece that holds one pickle. False, with nothing noted, when it is none: it can't be read and had looked
/// nothing up before it broke, and nothing expects a pickle there.
bool scan_pickle(ScanState& state, const Piece& piece);

/// The same for bytes without a magic number: only what looks something up, or all of it, makes it a pickle.
bool scan_text_pickle(ScanState& state, const Piece& piece);

/// torch.save's legacy form (torch/serialization.py: _legacy_save, _legacy_load, 2.6): five pickles, then for
/// each storage its length and its elements.
void scan_torch_stream(ScanState& state, const Piece& piece);

}  // namespace cachetool::verify
