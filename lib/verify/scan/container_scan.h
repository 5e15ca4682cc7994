#pragma once

#include "verify/scan/scan_state.h"

namespace cachetool::verify {

// Each puts what the container holds on the list of what is to be looked at, and notes what is wrong with it.

void scan_zip(ScanState& state, const Piece& piece);
void scan_tar(ScanState& state, const Piece& piece);
/// gzip, zlib, zstd, or a packed member of a zip archive.
void scan_packed(ScanState& state, const Piece& piece, container::Compression compression);
/// Zip archives store a checksum of each member: zipfile and torch refuse a member that has another.
void check_crc(ScanState& state, const Piece& piece, std::string_view bytes);
/// torch.compiler.save_cache_artifacts().
void scan_mega_cache(ScanState& state, const Piece& piece);
/// torch._inductor.standalone_compile's binary form.
void scan_standalone(ScanState& state, const Piece& piece);
/// One array; of objects, it is a pickle behind a header (numpy/lib/format.py, 1.26).
void scan_npy(ScanState& state, const Piece& piece);
/// Base64 in the strings of a JSON text: memoizers and remote caches keep pickles so.
void scan_json(ScanState& state, const Piece& piece);

}  // namespace cachetool::verify
