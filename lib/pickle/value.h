#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace cachetool::pickle {

struct ListNode;
struct TupleNode;
struct DictNode;
struct SetNode;
struct GlobalNode;
struct ObjectNode;
struct PersistentNode;

enum class Tag : std::uint8_t {
  kNone,
  kBool,
  kInt,     ///< fits in 64 bits, signed
  kBigInt,  ///< little-endian two's complement bytes, longer than 8
  kFloat,
  kString,  ///< UTF-8 that may hold encoded surrogates ("surrogatepass")
  kBytes,
  kByteArray,
  kList,
  kTuple,
  kDict,
  kSet,
  kFrozenSet,
  kGlobal,      ///< a name that was looked up; nothing is resolved
  kObject,      ///< the recorded result of a call that wasn't made
  kPersistent,  ///< PERSID / BINPERSID
  kBuffer,      ///< a read-only view of a bytearray (READONLY_BUFFER); out-of-band buffers are never supplied
};

/// Python's name of the type of such values ("NoneType", "int", "str"), for messages.
std::string_view type_name(Tag tag);

/// One node of a decoded pickle: 16 bytes, trivially copyable, owned by its Document. Nodes are shared (memo)
/// and may be cyclic, so walks need a limit or a visited set.
class Value {
 public:
  constexpr Value() : head_(0), integer_(0) {}

  static constexpr Value none() { return Value(); }
  static constexpr Value boolean(bool value) { return Value(Tag::kBool, 0, value ? 1 : 0); }
  static constexpr Value integer(std::int64_t value) { return Value(Tag::kInt, 0, value); }
  static Value real(double value) { return Value(Tag::kFloat, 0, std::bit_cast<std::int64_t>(value)); }
  static Value text(Tag tag, std::string_view bytes) { return Value(tag, bytes.size(), bytes.data()); }
  static Value node(Tag tag, const void* node) { return Value(tag, 0, node); }

  Tag tag() const { return static_cast<Tag>(head_ & 0xff); }
  bool is(Tag tag) const { return this->tag() == tag; }
  bool is_none() const { return is(Tag::kNone); }

  bool as_bool() const { return integer_ != 0; }
  std::int64_t as_int() const { return integer_; }
  double as_float() const { return std::bit_cast<double>(integer_); }
  /// The bytes of kString, kBytes, kByteArray, kBigInt.
  std::string_view bytes() const { return {data_, static_cast<std::size_t>(head_ >> 8)}; }

  const ListNode& list() const { return *static_cast<const ListNode*>(node_); }
  const TupleNode& tuple() const { return *static_cast<const TupleNode*>(node_); }
  const DictNode& dict() const { return *static_cast<const DictNode*>(node_); }
  const SetNode& set() const { return *static_cast<const SetNode*>(node_); }
  const GlobalNode& global() const { return *static_cast<const GlobalNode*>(node_); }
  const ObjectNode& object() const { return *static_cast<const ObjectNode*>(node_); }
  const PersistentNode& persistent() const { return *static_cast<const PersistentNode*>(node_); }

  /// Identity, not equality: same tag, same payload. Nodes are equal only when they are the same node.
  friend bool identical(const Value& a, const Value& b) {
    return a.head_ == b.head_ && a.integer_ == b.integer_;
  }
  const void* address() const { return node_; }

 private:
  constexpr Value(Tag tag, std::uint64_t length, std::int64_t payload)
      : head_(static_cast<std::uint64_t>(tag) | (length << 8)), integer_(payload) {}
  Value(Tag tag, std::uint64_t length, const char* data)
      : head_(static_cast<std::uint64_t>(tag) | (length << 8)), data_(data) {}
  Value(Tag tag, std::uint64_t length, const void* node)
      : head_(static_cast<std::uint64_t>(tag) | (length << 8)), node_(node) {}

  std::uint64_t head_;  // low 8 bits: tag; the rest: length
  union {
    std::int64_t integer_;
    const char* data_;
    const void* node_;
  };
};
static_assert(sizeof(Value) == 16);

struct Pair {
  Value key;
  Value value;
};

/// Every node carries the offset of the opcode that made it, in the bytes of its Document. No two nodes of a
/// Document share an offset, so it also names the node (see node_set.h).
struct ListNode {
  std::uint64_t offset = 0;
  Value* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
  std::span<const Value> items() const { return {data, size}; }
};

/// What is known about the hash of a tuple or frozenset. It is computed when the node is first used as a key.
enum class Hashing : std::uint32_t {
  kUnknown,
  kKnown,
  kUnhashable,  ///< holds a list, dict, set or bytearray at some depth
};

struct TupleNode {
  std::uint64_t offset = 0;
  const Value* data = nullptr;
  std::uint32_t size = 0;
  Hashing hashing = Hashing::kUnknown;
  std::uint64_t hash = 0;  ///< of the contents by Python's equality, when `hashing` is kKnown
  std::span<const Value> items() const { return {data, size}; }
};

struct DictNode {
  std::uint64_t offset = 0;
  Pair* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
  std::uint64_t* index = nullptr;  ///< see key_index.h; null while the dict is small
  std::span<const Pair> pairs() const { return {data, size}; }
};

/// set and frozenset, in insertion order.
struct SetNode {
  std::uint64_t offset = 0;
  Value* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
  std::uint64_t* index = nullptr;
  Hashing hashing = Hashing::kUnknown;
  std::uint64_t hash = 0;  ///< frozenset only
  std::span<const Value> items() const { return {data, size}; }
};

struct GlobalNode {
  std::uint64_t offset = 0;
  std::string_view module;
  std::string_view name;  ///< may be dotted (protocol 4)
};

enum class Construction : std::uint8_t {
  kReduce,
  kNewObj,
  kNewObjEx,
  kInst,
  kObj,
  /// No call: BUILD, APPEND(S), ADDITEMS or SETITEM(S) on something that the pickle didn't make itself (a
  /// global or a persistent object, named by `callable`). Appears in Document::calls() only.
  kMutation,
};

/// A call that the pickle asks for and that was not made.
struct ObjectNode {
  std::uint64_t offset = 0;
  Construction construction = Construction::kReduce;
  Value callable;     ///< usually kGlobal; anything for hostile input
  Value args;         ///< kTuple for well-formed input
  Value kwargs;       ///< kDict with NEWOBJ_EX, else none
  ListNode states;    ///< arguments of BUILD, in order; usually none or one
  ListNode appended;  ///< by APPEND, APPENDS and ADDITEMS, in order
  DictNode items;     ///< by SETITEM and SETITEMS, Python's dict semantics
};

struct PersistentNode {
  std::uint64_t offset = 0;
  Value id;
};

// Lookups that records are written with. All are linear in small containers and constant in indexed ones.

/// Items of a list, tuple, set or frozenset; empty for anything else.
std::span<const Value> items_of(const Value& value);

/// Value under the string key `name` of a dict, or null.
const Value* find(const DictNode& dict, std::string_view name);

/// Text of a string, or `fallback`.
inline std::string_view text_or(const Value& value, std::string_view fallback = {}) {
  return value.is(Tag::kString) ? value.bytes() : fallback;
}

/// True when `value` is the global `module.name`.
bool is_global(const Value& value, std::string_view module, std::string_view name);

/// Offset of the opcode that made a container, global or object; 0 for scalars.
std::uint64_t offset_of(const Value& value);

}  // namespace cachetool::pickle
