#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/scan/piece.h"
#include "verify/scan/scan_result.h"

namespace cachetool::verify {

/// The scan of one file while it goes on: what was found, what is still to be looked at, what is left of the
/// limits.
class ScanState {
 public:
  ScanState(const ScanLimits& limits, FileScan& scan) : limits_(limits), scan_(scan) {}

  const ScanLimits& limits() const { return limits_; }
  FileScan& scan() { return scan_; }

  /// `offset` is in the piece.
  void find(const Piece& piece, ScanVerdict verdict, ScanSubject subject, std::string name,
            std::string reason, std::uint64_t offset);
  void unscanned(const Piece& piece, std::string reason, std::uint64_t bytes);
  /// `what` is a literal.
  void code(std::string_view what, std::uint64_t bytes);

  /// Puts a piece on the list of what is still to be looked at; refused beyond the limits on depth and
  /// number.
  void add(Piece piece);
  /// Pieces that were added since the last call come out in the order in which they were added, and before
  /// those added earlier. False when there is none.
  bool next(Piece& piece);

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
  std::vector<Piece> fresh_;
  std::vector<Piece> stack_;
  std::uint64_t pieces_ = 0;
};

/// `place` with one more level.
std::string deeper(const std::string& place, std::string_view label);

}  // namespace cachetool::verify
