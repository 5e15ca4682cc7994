#include "verify/scan/scan_bytes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "verify/scan/container_scan.h"
#include "verify/scan/content.h"
#include "verify/scan/pickle_scan.h"
#include "verify/scan/scan_state.h"

namespace cachetool::verify {
namespace {

std::string_view last_name(std::string_view place) {
  const std::size_t at = place.find_last_of("/!");
  return at == std::string_view::npos ? place : place.substr(at + 1);
}

/// Code by content, or by the name under which somebody will run it.
void note_code(ScanState& state, Content content, std::string_view bytes, std::string_view name,
               std::uint64_t size) {
  if (size == 0) return;
  std::string_view what = code_of(content, bytes);
  if (what.empty() && (content == Content::kText || content == Content::kUnknown)) what = code_of_name(name);
  if (!what.empty()) state.code(what, size);
}

/// Something unpickles these bytes, whatever they look like.
void scan_expected(ScanState& state, const Piece& piece, Content content) {
  if (piece.expect == Expect::kTorchStream) {
    if (content == Content::kZip || content == Content::kTar) return;
    return scan_torch_stream(state, piece);
  }
  if (content == Content::kTorchStream) return scan_torch_stream(state, piece);
  scan_pickle(state, piece);
}

void scan_content(ScanState& state, const Piece& piece, Content content) {
  switch (content) {
    case Content::kPickle:
      scan_pickle(state, piece);
      break;
    case Content::kTorchStream:
      scan_torch_stream(state, piece);
      break;
    case Content::kZip:
      scan_zip(state, piece);
      break;
    case Content::kTar:
      scan_tar(state, piece);
      break;
    case Content::kCompressed:
      scan_packed(state, piece, *container::starts_compressed(piece.bytes));
      break;
    case Content::kOtherCompressed:
      state.unscanned(piece, "is compressed in a way that isn't unpacked here", piece.bytes.size());
      break;
    case Content::kMegaCache:
      scan_mega_cache(state, piece);
      break;
    case Content::kStandalone:
      scan_standalone(state, piece);
      break;
    case Content::kNpy:
      scan_npy(state, piece);
      break;
    case Content::kJson:
      scan_json(state, piece);
      break;
    default:
      break;
  }
}

bool is_texty(Content content) {
  return content == Content::kText || content == Content::kUnknown || content == Content::kPython ||
         content == Content::kCpp || content == Content::kPtx || content == Content::kCompressed;
}

/// Returns what the piece is.
Content scan_piece(ScanState& state, const Piece& piece, std::string_view name, bool only_read) {
  check_crc(state, piece, piece.bytes);
  const Content content = detect_content(piece.bytes);
  if (piece.expect != Expect::kAnything) {
    scan_expected(state, piece, content);
    if (content == Content::kPickle || content == Content::kTorchStream) return content;
  } else if (may_be_text_pickle(piece.bytes) && scan_text_pickle(state, piece) && is_texty(content)) {
    return Content::kPickle;  // else it is both: a tar archive, say, whose first name is a pickle
  }
  // Some programs put a short header in front (torch/_inductor/runtime/caching/implementations.py: 4 bytes).
  constexpr std::size_t kHeader = 4;
  if (content == Content::kUnknown && piece.expect == Expect::kAnything && piece.bytes.size() > kHeader &&
      starts_as_pickle(piece.bytes.substr(kHeader))) {
    state.add(ScanState::within(piece, piece.bytes.substr(kHeader)));
  }
  const bool may_be_code = !only_read && (piece.origin != Origin::kText || content == Content::kElf);
  if (may_be_code) note_code(state, content, piece.bytes, name, piece.bytes.size());
  scan_content(state, piece, content);
  return content;
}

void finish(FileScan& scan) {
  std::sort(scan.findings.begin(), scan.findings.end(), [](const ScanFinding& a, const ScanFinding& b) {
    return std::tie(a.place, a.offset, b.verdict, a.name, a.reason) <
           std::tie(b.place, b.offset, a.verdict, b.name, b.reason);
  });
  std::sort(scan.code.begin(), scan.code.end(),
            [](const CodeItem& a, const CodeItem& b) { return a.what < b.what; });
}

}  // namespace

FileScan scan_bytes(std::string_view bytes, const ScanHints& hints, const ScanLimits& limits) {
  LargePass pass;
  return scan_bytes(bytes, hints, limits, pass);
}

FileScan scan_bytes(std::string_view bytes, const ScanHints& hints, const ScanLimits& limits,
                    LargePass& pass) {
  FileScan scan;
  scan.bytes = bytes.size();
  ScanState state(limits, scan, pass);
  Piece file;
  file.bytes = bytes;
  file.budget = state.budget(bytes.size());
  file.expect = hints.expect;
  const bool whole_is_code = !hints.code.empty() && !bytes.empty();
  if (whole_is_code) state.code(hints.code, bytes.size());
  const Content content = scan_piece(state, file, hints.name, hints.only_read || whole_is_code);
  scan.content = content_name(content);
  for (Piece piece; state.next(piece);) {
    if (piece.packed) {
      scan_packed(state, piece, *piece.packed);
    } else {
      scan_piece(state, piece, last_name(piece.place), hints.only_read);
    }
  }
  finish(scan);
  return scan;
}

FileScan scan_head(std::string_view head, std::uint64_t size, const ScanHints& hints) {
  const ScanLimits limits;
  FileScan scan;
  scan.bytes = size;
  LargePass pass;
  ScanState state(limits, scan, pass);
  const Content content = detect_content(head);
  scan.content = content_name(content);
  if (content == Content::kOtherCompressed) {
    Piece file;
    file.bytes = head;
    scan_content(state, file, content);
    scan.unscanned.back().bytes = size;
  } else if (!hints.only_read) {
    state.code(hints.code.empty() ? code_of(content, head) : hints.code, size);
  }
  return scan;
}

}  // namespace cachetool::verify
