#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/budget.h"
#include "container/expand.h"
#include "pickle/document.h"
#include "pickle/policy.h"

namespace cachetool::verify {

/// What is going to read a piece of bytes.
enum class Expect : std::uint8_t {
  kAnything,     ///< nobody knows: its content decides
  kPickle,       ///< something unpickles it, whatever it looks like
  kTorchStream,  ///< torch.load reads it: a zip, a tar or five pickles and storages
};

/// Where a piece comes from, and so how much its first bytes say.
enum class Origin : std::uint8_t {
  kFile,    ///< the whole file, or all that it unpacks to
  kMember,  ///< of an archive
  kValue,   ///< bytes inside a pickle, or what follows something: any bytes may stand there
  kText,    ///< text inside a pickle: is no code by itself
};

/// Bytes inside a file that are looked at by themselves: the file, a member of an archive, a text or bytes of
/// a pickle, what something unpacks to.
struct Piece {
  std::string_view bytes;
  std::shared_ptr<const void> keeps;  ///< what the bytes lie in; none for the file's own
  std::shared_ptr<Budget> budget;     ///< what decoding it may take
  std::string place;                  ///< see ScanFinding::place
  std::uint64_t base = 0;             ///< of the first byte, in what `place` names
  std::uint32_t depth = 0;
  Origin origin = Origin::kFile;
  Expect expect = Expect::kAnything;
  pickle::PickleSource source = pickle::PickleSource::kFile;  ///< where a pickle in it was found
  std::optional<std::uint32_t> crc;                           ///< that the unpacked bytes must have
  std::optional<container::Compression> packed;               ///< to be unpacked first
};

/// A decoded pickle that gives its share of the budget back.
class OpenPickle {
 public:
  OpenPickle(std::string_view bytes, const Piece& from) : keeps_(from.keeps), budget_(from.budget) {
    const std::uint64_t before = budget_->used();
    partial_ = pickle::parse_partly(bytes, *budget_);
    charged_ = budget_->used() - before;
  }
  ~OpenPickle() { budget_->release(charged_); }
  OpenPickle(const OpenPickle&) = delete;
  OpenPickle& operator=(const OpenPickle&) = delete;

  const pickle::Document& document() const { return partial_.document; }
  const std::optional<Error>& error() const { return partial_.error; }

 private:
  std::shared_ptr<const void> keeps_;
  std::shared_ptr<Budget> budget_;
  pickle::PartialDocument partial_;
  std::uint64_t charged_ = 0;
};

}  // namespace cachetool::verify
