#pragma once

#include <cstdint>
#include <vector>

#include "pickle/value.h"

namespace cachetool::pickle {

/// A set of nodes of one Document, as one bit per byte of its input (a node's offset names it). For walks
/// over shared and cyclic graphs.
class NodeSet {
 public:
  static std::uint64_t bytes_for(std::uint64_t input_bytes) { return (input_bytes / 64 + 1) * 8; }

  explicit NodeSet(std::uint64_t input_bytes) : words_(input_bytes / 64 + 1, 0) {}

  /// True when the node wasn't in the set before.
  bool insert(const Value& node) {
    const std::uint64_t offset = offset_of(node);
    std::uint64_t& word = words_[offset / 64];
    const std::uint64_t bit = std::uint64_t{1} << (offset % 64);
    const bool added = (word & bit) == 0;
    word |= bit;
    return added;
  }
  bool contains(const Value& node) const {
    const std::uint64_t offset = offset_of(node);
    return (words_[offset / 64] >> (offset % 64) & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace cachetool::pickle
