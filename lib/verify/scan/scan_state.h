#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/scan/large_gate.h"
#include "verify/scan/piece.h"
#include "verify/scan/scan_result.h"

namespace cachetool::verify {

/// The scan of one file while it goes on: what was found, what is still to be looked at, what is left of the
/// limits.
class ScanState {
 public:
  ScanState(const ScanLimits& limits, FileScan& scan, LargePass& pass)
      : limits_(limits), scan_(scan), pass_(pass) {}

  const ScanLimits& limits() const { return limits_; }
  FileScan& scan() { return scan_; }

  /// `offset` is in the piece.
  void find(const Piece& piece, ScanVerdict verdict, ScanSubject subject, std::string name,
            std::string reason, std::uint64_t offset);
  void unscanned(const Piece& piece, std::string reason, std::uint64_t bytes);
  /// `what` is a literal.
  void code(std::string_view what, std::uint64_t bytes);

  /// Puts a piece on the list of what is still to be looked at; refused beyond the limits on depth, number
  /// and work: pieces may overlap, so their sum is bounded by the file and what it unpacks to.
  void add(Piece piece);
  /// Pieces that were added since the last call come out in the order in which they were added, and before
  /// those added earlier. False when there is none.
  bool next(Piece& piece);

  /// Waits until no other scan holds a lot of memory.
  void take_large_pass() { pass_.take(); }
  /// How much may still be decompressed.
  std::uint64_t expansion_left() const { return limits_.max_expanded_bytes - scan_.expanded_bytes; }
  void expanded(std::uint64_t bytes) { scan_.expanded_bytes += bytes; }

  /// A piece of `parent` that lies in its bytes, one level deeper.
  static Piece within(const Piece& parent, std::string_view bytes);
  /// A piece with bytes of its own.
  Piece unpacked(const Piece& parent, std::string bytes, std::string_view label) const;
  /// What decoding that many bytes may take.
  std::shared_ptr<Budget> budget(std::uint64_t bytes) const;

 private:
  const ScanLimits& limits_;
  FileScan& scan_;
  LargePass& pass_;
  std::vector<Piece> fresh_;
  std::vector<Piece> stack_;
  std::uint64_t pieces_ = 0;
  std::uint64_t work_ = 0;  ///< bytes of all pieces
};

/// `place` with one more level.
std::string deeper(const std::string& place, std::string_view label);

}  // namespace cachetool::verify
