#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// What a foreign text may cost before reading it stops.
struct TreeLimits {
  std::uint64_t max_bytes = std::uint64_t{64} << 20;  ///< of the input: kLimitSize beyond it
  std::uint32_t max_depth = 64;                       ///< of nested containers: kLimitDepth beyond it
  std::uint32_t max_nodes = std::uint32_t{1}
                            << 20;  ///< values and keys (24 bytes each): kLimitMemory beyond it
};

enum class NodeKind : std::uint8_t {
  kNull,
  kBool,
  kInteger,     ///< fits in 64 bits, signed
  kBigInteger,  ///< any other integer, kept as its text
  kFloat,       ///< kept as its text too
  kString,      ///< UTF-8; a Python or JSON text may hold lone surrogates, encoded like any other code point
  kBytes,
  kList,
  kTuple,
  kMap,  ///< pairs in the order of the text; duplicate keys are kept
};

class Tree;

/// One value of a Tree. A view: valid as long as the tree lives and stays in its place.
class Node {
 public:
  NodeKind kind() const;
  bool is(NodeKind wanted) const { return kind() == wanted; }

  bool as_bool() const;             ///< kBool
  std::int64_t as_integer() const;  ///< kInteger
  double as_float() const;          ///< kFloat, kInteger, kBigInteger; infinite when it doesn't fit
  /// Contents of kString and kBytes; text of kFloat and kBigInteger; empty for anything else.
  std::string_view text() const;

  /// Items of a list or tuple, pairs of a map, 0 for anything else.
  std::size_t size() const;

  /// First item of a list or tuple, first key of a map; none when empty or not a container.
  std::optional<Node> first() const;
  /// The sibling behind this one: next item; from a key its value; from a value the next key.
  std::optional<Node> next() const;

  /// Value under a string key; the last one when a key appears twice, as Python's json and dicts have it.
  /// Linear in the map's pairs.
  std::optional<Node> find(std::string_view key) const;
  /// Item `position` of a list or tuple. Linear in `position`.
  std::optional<Node> at(std::size_t position) const;

 private:
  friend class Tree;
  Node(const Tree* tree, std::uint32_t index, std::uint32_t end) : tree_(tree), index_(index), end_(end) {}
  const Tree* tree_;
  std::uint32_t index_;
  std::uint32_t end_;  // of the enclosing container
};

/// A small tree of values in two flat buffers: no pointers, no recursion on destruction, bounded by
/// TreeLimits.
class Tree {
 public:
  /// The only value at the top. Call it on a tree that a reader returned.
  Node root() const { return {this, 0, static_cast<std::uint32_t>(nodes_.size())}; }
  /// How many keys of maps (JSON: string keys) repeat an earlier key of the same map.
  std::size_t duplicate_keys() const { return duplicates_; }

 private:
  friend class Node;
  friend class TreeBuilder;
  struct Item {
    NodeKind kind = NodeKind::kNull;
    std::uint32_t end = 0;  // index behind the last node below this one
    std::uint64_t a = 0;    // bool, integer, offset of the text, number of items
    std::uint64_t b = 0;    // length of the text
  };
  std::vector<Item> nodes_;
  std::string text_;
  std::size_t duplicates_ = 0;
};

/// Builds a Tree from the events of a reader. Every call returns false once a limit was hit: `error()` says
/// which.
class TreeBuilder {
 public:
  explicit TreeBuilder(const TreeLimits& limits) : limits_(limits) {}

  bool null() { return add(NodeKind::kNull, 0); }
  bool boolean(bool value) { return add(NodeKind::kBool, value ? 1 : 0); }
  bool integer(std::int64_t value) { return add(NodeKind::kInteger, static_cast<std::uint64_t>(value)); }
  /// kBigInteger, kFloat, kString or kBytes.
  bool text(NodeKind kind, std::string_view text);
  bool open(NodeKind kind);
  bool close();
  /// Closes the innermost container, which must hold exactly one value, and leaves only that value in its
  /// place.
  bool unwrap();

  bool has_open() const { return !open_.empty(); }
  NodeKind innermost() const { return tree_.nodes_[open_.back()].kind; }
  /// Nodes directly in the innermost open container so far (keys and values both count).
  std::size_t children() const { return counts_.back(); }
  const std::optional<Error>& error() const { return error_; }
  /// The finished tree. Exactly one value must be at the top and nothing open.
  Tree take() { return std::move(tree_); }

 private:
  bool add(NodeKind kind, std::uint64_t a, std::uint64_t b = 0);
  void count_duplicates(std::uint32_t map_index);

  TreeLimits limits_;
  Tree tree_;
  std::vector<std::uint32_t> open_;
  std::vector<std::size_t> counts_;
  std::optional<Error> error_;
};

}  // namespace cachetool::container
