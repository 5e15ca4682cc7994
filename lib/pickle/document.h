#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "pickle/value.h"

namespace cachetool::pickle {

class Arena;
struct PartialDocument;

/// Something that CPython's unpickler accepts but that no pickler writes.
struct Deviation {
  enum class Kind : std::uint8_t {
    kSecondProto,          ///< a PROTO that is not the first opcode
    kNestedFrame,          ///< FRAME inside a frame
    kArgumentAcrossFrame,  ///< an argument that runs past its frame's end
    kFrameBeyondEnd,       ///< an inner frame that ends after the one it is in
    kStackLeftovers,       ///< values left below the result at STOP
    kSparsePut,            ///< PUT far beyond the memo's size
    kMissingProto,         ///< no PROTO, or opcodes newer than the protocol named
    kDroppedCall,          ///< a call whose result isn't part of the result: it would still have run
    kForeignTarget,        ///< BUILD, APPENDS and the like on something that the pickle didn't make
    kTrailingBytes,        ///< bytes after STOP
  };
  Kind kind;
  std::uint64_t offset;
  std::string detail;
};

std::string_view deviation_name(Deviation::Kind kind);

/// A decoded pickle. Owns the bytes (when given them), the arena and everything that values point to.
/// Move-only; the addresses of nodes stay the same when it moves.
class Document {
 public:
  static constexpr std::size_t kMaxDeviationsPerKind = 16;

  Document();
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  const Value& root() const { return root_; }
  std::string_view bytes() const { return bytes_; }
  /// Offset just behind STOP.
  std::uint64_t end() const { return end_; }
  std::uint64_t trailing_bytes() const { return bytes_.size() - end_; }
  int protocol() const { return protocol_; }
  /// In order of appearance; at most kMaxDeviationsPerKind of each kind.
  const std::vector<Deviation>& deviations() const { return deviations_; }
  /// Calls that can't be reached from the root: dropped by POP, overwritten, or left on the stack.
  std::span<const Value> dropped_calls() const { return dropped_.items(); }
  /// Every global that the pickle looked up, once each, in order of first use.
  std::span<const Value> globals() const { return globals_.items(); }
  /// Every object (recorded call, kMutation too) in order of creation, for policies that judge calls.
  std::span<const Value> calls() const { return calls_.items(); }
  /// Bytes taken from the budget at the peak.
  std::uint64_t peak_memory() const { return peak_memory_; }

 private:
  friend class Machine;
  friend Expected<Document> parse(std::string_view bytes, Budget& budget);
  friend PartialDocument parse_partly(std::string_view bytes, Budget& budget);
  friend Expected<Document> parse_owned(std::string bytes, Budget& budget);
  static Expected<Document> decoded(Document document, Budget& budget);

  std::unique_ptr<std::string> owned_;  // on the heap: a short string would move its bytes
  std::string_view bytes_;
  std::unique_ptr<Arena> arena_;
  Value root_;
  std::uint64_t end_ = 0;
  int protocol_ = 0;
  std::vector<Deviation> deviations_;
  ListNode dropped_;
  ListNode globals_;
  ListNode calls_;
  std::uint64_t peak_memory_ = 0;
};

/// Decodes the first pickle in `bytes`, which must stay alive as long as the result (zero copy). Follows
/// CPython's C unpickler (Modules/_pickle.c, protocols 0 to 5) without ever importing or calling. Errors:
/// kTruncated, kMalformed (with the offset of the opcode), kUnsupported (a protocol beyond 5, or mutation of
/// a bytearray), kLimitMemory when `budget` runs out, kLimitWork when keys were made to collide. Linear time.
/// What the Document keeps stays charged to `budget`; the rest is given back.
Expected<Document> parse(std::string_view bytes, Budget& budget);

/// The same, taking ownership of the bytes.
Expected<Document> parse_owned(std::string bytes, Budget& budget);

/// A pickle up to where it breaks: a pickle acts before its end is read. After an error `document` has the
/// globals and calls that came before it, no root and no end.
struct PartialDocument {
  Document document;
  std::optional<Error> error;
};
PartialDocument parse_partly(std::string_view bytes, Budget& budget);

}  // namespace cachetool::pickle
