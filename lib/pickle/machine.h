#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pickle/arena.h"
#include "pickle/charged_vector.h"
#include "pickle/document.h"
#include "pickle/equality.h"
#include "pickle/global_table.h"
#include "pickle/key_index.h"
#include "pickle/memo.h"
#include "pickle/opcodes.h"

namespace cachetool::pickle {

/// Runs one pickle into a Document. Follows CPython 3.11's C unpickler (Modules/_pickle.c, `load` and its
/// load_… functions) step by step, except that globals aren't looked up and calls are recorded instead of
/// made.
///
/// Handlers get the position behind their opcode and return the position to go on at, or null after an error.
class Machine {
 public:
  /// Fills `document`, whose bytes are set; after an error with what came before it, and no root.
  static Status fill(Document& document, Budget& budget);

 private:
  using Position = const char*;

  Machine(Document& document, Budget& budget);
  Status run();

  // machine.cpp: dispatch, frames, marks, memo, the end.
  Position step(std::uint8_t opcode, Position at);
  Position proto(Position at);
  Position frame(Position at);
  Position memoize(std::uint64_t index, Position at);
  Position get(std::uint64_t index, Position at);
  Position pop(Position at);
  Position pop_mark(Position at);
  bool pop_marker(std::uint64_t& first);
  Status stop(Position at);
  bool collect_dropped_calls();
  Position unknown_opcode(std::uint8_t opcode);

  // machine_text.cpp: scalars of the text protocol.
  bool read_line(Position& at, std::string_view& line);
  Position text_int(Position at);
  Position text_long(Position at);
  Position push_text_integer(std::string_view line, Position at);
  Position text_float(Position at);
  Position text_string(Position at);
  Position text_unicode(Position at);
  Position text_get(Position at);
  Position text_put(Position at);
  bool parse_index(std::string_view line, std::int64_t& index);

  // machine_scalars.cpp: scalars with counted lengths.
  Position push_utf8(Position at, std::uint64_t size);
  Position push_ascii(Position at, std::uint64_t size);
  Position push_view(Tag tag, Position at, std::uint64_t size);
  Position counted_long(Position at, unsigned length_bytes);
  Position push_integer_bytes(std::string_view bytes, Position at);
  Position read_only_buffer(Position at);

  // machine_containers.cpp
  Position empty_tuple(Position at);
  Position counted_tuple(std::uint64_t count, Position at);
  Position make_tuple(std::uint64_t first, Position at);
  Position tuple(Position at);
  Position empty_list(Position at);
  Position empty_dict(Position at);
  Position empty_set(Position at);
  Position list(Position at);
  Position dict(Position at);
  Position frozen_set(Position at);
  Position append_from(std::uint64_t first, Position at);
  Position append_one(Position at);
  Position appends(Position at);
  Position set_items_from(std::uint64_t first, Position at);
  Position set_item(Position at);
  Position set_items(Position at);
  Position add_items(Position at);
  bool insert_pairs(DictNode& dict, std::uint64_t first, std::uint64_t last);
  bool insert_items(SetNode& set, std::uint64_t first, std::uint64_t last);
  bool assign_list_items(ListNode& list, std::uint64_t first, std::uint64_t last);

  // machine_calls.cpp
  Position text_global(Position at);
  Position stack_global(Position at);
  Position reduce(Position at);
  Position new_object(Construction construction, Position at);
  Position object(Position at);
  Position inst(Position at);
  Position build(Position at);
  bool build_plain(const Value& target, const Value& state);
  Position text_persistent(Position at);
  Position persistent(Position at);
  Position push_persistent(const Value& id, Position at);
  Position extension(Position at, unsigned code_bytes);
  bool push_global(std::string_view module, std::string_view name, std::uint64_t offset);
  bool take_tuple(std::uint64_t first, Value& tuple);
  ObjectNode* record(Construction construction, const Value& callable, const Value& args);
  ObjectNode* record_mutation(const Value& target);

  // Shared by all.
  std::uint64_t offset_at(Position at) const { return static_cast<std::uint64_t>(at - begin_); }
  std::uint64_t here() const { return offset_at(opcode_at_); }
  bool has_values(std::uint64_t count) const { return stack_.size() - fence_ >= count; }
  Position push(const Value& value, Position at) { return stack_.push(value) ? at : no_memory(); }
  /// True when `count` bytes follow `at`, leaving the frame if they reach behind its end.
  bool available(Position at, std::uint64_t count) {
    return count <= static_cast<std::uint64_t>(limit_ - at) || available_slowly(at, count);
  }
  bool available_slowly(Position at, std::uint64_t count);
  void leave_frame() {
    limit_ = end_;
    in_frame_ = false;
  }
  void deviate(Deviation::Kind kind, std::uint64_t offset, std::string detail);

  // Errors: each stores one and returns null. The message gets the opcode's name in front.
  std::nullptr_t fail_with(ErrorCode code, std::string_view reason);
  std::nullptr_t malformed(std::string_view reason) { return fail_with(ErrorCode::kMalformed, reason); }
  std::nullptr_t truncated() { return fail_with(ErrorCode::kTruncated, "the data ends inside its argument"); }
  std::nullptr_t underflow();
  std::nullptr_t no_memory() { return fail_with(ErrorCode::kLimitMemory, "the memory budget has run out"); }
  std::nullptr_t key_failure(KeyOutcome outcome, const Value& key);

  Document& document_;
  Account account_;
  Arena& arena_;
  Keys keys_;
  ChargedVector<Value> stack_;
  ChargedVector<std::uint64_t> marks_;
  Memo memo_;
  GlobalTable globals_;
  Position begin_;
  Position end_;
  Position limit_;                ///< end of the frame, or of the data outside frames
  Position opcode_at_ = nullptr;  ///< the opcode being run
  std::uint64_t fence_ = 0;       ///< values below it are hidden behind the last mark
  std::uint8_t newest_ = 1;       ///< opcodes of later protocols need a PROTO
  bool in_frame_ = false;
  bool may_have_dropped_ = false;  ///< something that could hold a call left the stack or was overwritten
  const TupleNode* empty_tuple_ = nullptr;
  Error error_;
};

/// True for values that the pickle didn't make and that real code may turn out to be anything: globals,
/// persistent objects and results of calls.
inline bool is_opaque(const Value& value) {
  return value.is(Tag::kGlobal) || value.is(Tag::kObject) || value.is(Tag::kPersistent);
}

inline std::uint64_t little_endian(const char* at, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return value;
}

}  // namespace cachetool::pickle
