#include "pickle/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "pickle/children.h"
#include "pickle/node_set.h"

namespace cachetool::pickle {
namespace {

/// Real entries take 0.2 to 0.4 times their size.
constexpr std::size_t kArenaShare = 4;

/// Steps that hashing, comparing and probing may take per byte of input.
constexpr std::uint64_t kWorkPerByte = 64;
constexpr std::uint64_t kWorkAlways = 1'000'000;

constexpr std::uint8_t kHighestProtocol = 5;

/// Its loss may mean that a call was made for nothing.
bool may_hold_call(const Value& value) {
  return is_node(value) && !value.is(Tag::kGlobal);
}

}  // namespace

Machine::Machine(Document& document, Budget& budget)
    : document_(document),
      account_(budget),
      arena_(*(document.arena_ = std::make_unique<Arena>(account_, document.bytes_.size() / kArenaShare))),
      keys_(account_, document.bytes_.size() * kWorkPerByte + kWorkAlways),
      stack_(account_),
      marks_(account_),
      memo_(account_),
      globals_(account_),
      begin_(document.bytes_.data()),
      end_(begin_ + document.bytes_.size()),
      limit_(end_) {}

Status Machine::run() {
  Position at = begin_;
  for (;;) {
    if (at >= limit_) [[unlikely]] {
      leave_frame();
      if (at == end_) {
        return fail(ErrorCode::kTruncated, "the data ends before STOP", {}, document_.bytes_.size());
      }
    }
    opcode_at_ = at;
    const auto opcode = static_cast<std::uint8_t>(*at++);
    if (kOpcodeProtocol[opcode] > newest_) [[unlikely]] {
      if (static_cast<Opcode>(opcode) != Opcode::kProto) {
        newest_ = kHighestProtocol;
        deviate(Deviation::Kind::kMissingProto, here(),
                fmt::format("{} belongs to protocol {}", opcode_name(opcode), kOpcodeProtocol[opcode]));
      }
    }
    if (static_cast<Opcode>(opcode) == Opcode::kStop) return stop(at);
    at = step(opcode, at);
    if (at == nullptr) [[unlikely]]
      return tl::unexpected<Error>(std::move(error_));
  }
}

inline Machine::Position Machine::step(std::uint8_t opcode, Position at) {
  // Bytes that a length or an index takes.
  const auto needs = [&](unsigned count) { return available(at, count) || truncated() != nullptr; };
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kMark:
      if (!marks_.push(stack_.size())) return no_memory();
      fence_ = stack_.size();
      return at;
    case Opcode::kStop:
      return at;
    case Opcode::kPop:
      return pop(at);
    case Opcode::kPopMark:
      return pop_mark(at);
    case Opcode::kDup:
      return has_values(1) ? push(Value(stack_.back()), at) : underflow();
    case Opcode::kFloat:
      return text_float(at);
    case Opcode::kInt:
      return text_int(at);
    case Opcode::kBinint:
      if (!needs(4)) return nullptr;
      return push(Value::integer(static_cast<std::int32_t>(little_endian(at, 4))), at + 4);
    case Opcode::kBinint1:
      if (!needs(1)) return nullptr;
      return push(Value::integer(static_cast<unsigned char>(*at)), at + 1);
    case Opcode::kBinint2:
      if (!needs(2)) return nullptr;
      return push(Value::integer(static_cast<std::int64_t>(little_endian(at, 2))), at + 2);
    case Opcode::kLong:
      return text_long(at);
    case Opcode::kLong1:
      return counted_long(at, 1);
    case Opcode::kLong4:
      return counted_long(at, 4);
    case Opcode::kNone:
      return push(Value::none(), at);
    case Opcode::kNewtrue:
      return push(Value::boolean(true), at);
    case Opcode::kNewfalse:
      return push(Value::boolean(false), at);
    case Opcode::kPersid:
      return text_persistent(at);
    case Opcode::kBinpersid:
      return persistent(at);
    case Opcode::kReduce:
      return reduce(at);
    case Opcode::kString:
      return text_string(at);
    case Opcode::kUnicode:
      return text_unicode(at);
    case Opcode::kBinstring:
      return needs(4) ? push_ascii(at + 4, little_endian(at, 4)) : nullptr;
    case Opcode::kShortBinstring:
      return needs(1) ? push_ascii(at + 1, little_endian(at, 1)) : nullptr;
    case Opcode::kShortBinunicode:
      return needs(1) ? push_utf8(at + 1, static_cast<unsigned char>(*at)) : nullptr;
    case Opcode::kBinunicode:
      return needs(4) ? push_utf8(at + 4, little_endian(at, 4)) : nullptr;
    case Opcode::kBinunicode8:
      return needs(8) ? push_utf8(at + 8, little_endian(at, 8)) : nullptr;
    case Opcode::kShortBinbytes:
      return needs(1) ? push_view(Tag::kBytes, at + 1, little_endian(at, 1)) : nullptr;
    case Opcode::kBinbytes:
      return needs(4) ? push_view(Tag::kBytes, at + 4, little_endian(at, 4)) : nullptr;
    case Opcode::kBinbytes8:
      return needs(8) ? push_view(Tag::kBytes, at + 8, little_endian(at, 8)) : nullptr;
    case Opcode::kBytearray8:
      return needs(8) ? push_view(Tag::kByteArray, at + 8, little_endian(at, 8)) : nullptr;
    case Opcode::kNextBuffer:
      return malformed("the pickle refers to out-of-band data, which a cache never has");
    case Opcode::kReadonlyBuffer:
      return read_only_buffer(at);
    case Opcode::kBinfloat: {
      if (!needs(8)) return nullptr;
      return push(Value::real(std::bit_cast<double>(__builtin_bswap64(little_endian(at, 8)))), at + 8);
    }
    case Opcode::kAppend:
      return append_one(at);
    case Opcode::kAppends:
      return appends(at);
    case Opcode::kBuild:
      return build(at);
    case Opcode::kGlobal:
      return text_global(at);
    case Opcode::kStackGlobal:
      return stack_global(at);
    case Opcode::kDict:
      return dict(at);
    case Opcode::kEmptyDict:
      return empty_dict(at);
    case Opcode::kGet:
      return text_get(at);
    case Opcode::kBinget:
      return needs(1) ? get(static_cast<unsigned char>(*at), at + 1) : nullptr;
    case Opcode::kLongBinget:
      return needs(4) ? get(little_endian(at, 4), at + 4) : nullptr;
    case Opcode::kInst:
      return inst(at);
    case Opcode::kList:
      return list(at);
    case Opcode::kEmptyList:
      return empty_list(at);
    case Opcode::kObj:
      return object(at);
    case Opcode::kPut:
      return text_put(at);
    case Opcode::kBinput:
      return needs(1) ? memoize(static_cast<unsigned char>(*at), at + 1) : nullptr;
    case Opcode::kLongBinput:
      return needs(4) ? memoize(little_endian(at, 4), at + 4) : nullptr;
    case Opcode::kMemoize:
      return memoize(memo_.count(), at);
    case Opcode::kSetitem:
      return set_item(at);
    case Opcode::kSetitems:
      return set_items(at);
    case Opcode::kTuple:
      return tuple(at);
    case Opcode::kEmptyTuple:
      return empty_tuple(at);
    case Opcode::kTuple1:
      return counted_tuple(1, at);
    case Opcode::kTuple2:
      return counted_tuple(2, at);
    case Opcode::kTuple3:
      return counted_tuple(3, at);
    case Opcode::kProto:
      return proto(at);
    case Opcode::kNewobj:
      return new_object(Construction::kNewObj, at);
    case Opcode::kNewobjEx:
      return new_object(Construction::kNewObjEx, at);
    case Opcode::kExt1:
      return extension(at, 1);
    case Opcode::kExt2:
      return extension(at, 2);
    case Opcode::kExt4:
      return extension(at, 4);
    case Opcode::kEmptySet:
      return empty_set(at);
    case Opcode::kAdditems:
      return add_items(at);
    case Opcode::kFrozenset:
      return frozen_set(at);
    case Opcode::kFrame:
      return frame(at);
  }
  return unknown_opcode(opcode);
}

bool Machine::available_slowly(Position at, std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(end_ - at)) return false;
  deviate(Deviation::Kind::kArgumentAcrossFrame, here(),
          fmt::format("its argument ends {} bytes behind the frame",
                      count - static_cast<std::uint64_t>(limit_ - at)));
  leave_frame();
  return true;
}

Machine::Position Machine::proto(Position at) {
  if (!available(at, 1)) return truncated();
  const auto version = static_cast<std::uint8_t>(*at);
  if (version > kHighestProtocol) {
    return fail_with(ErrorCode::kUnsupported, fmt::format("protocol {} is not known", version));
  }
  if (opcode_at_ != begin_) {
    deviate(Deviation::Kind::kSecondProto, here(), fmt::format("PROTO {} in the middle", version));
  }
  document_.protocol_ = version;
  newest_ = std::max<std::uint8_t>(version, 2);  // PROTO itself belongs to protocol 2
  return at + 1;
}

Machine::Position Machine::frame(Position at) {
  if (!available(at, 8)) return truncated();
  const std::uint64_t size = little_endian(at, 8);
  at += 8;
  if (size > static_cast<std::uint64_t>(end_ - at)) {
    return fail_with(ErrorCode::kTruncated,
                     fmt::format("a frame of {} bytes goes beyond the end of the data", size));
  }
  const Position frame_end = at + size;
  if (in_frame_) {
    deviate(Deviation::Kind::kNestedFrame, here(), fmt::format("a frame of {} bytes inside a frame", size));
    if (frame_end > limit_) {
      deviate(Deviation::Kind::kFrameBeyondEnd, here(),
              fmt::format("the inner frame ends {} bytes behind the outer one", frame_end - limit_));
    }
  }
  limit_ = frame_end;
  in_frame_ = true;
  return at;
}

Machine::Position Machine::memoize(std::uint64_t index, Position at) {
  if (!has_values(1)) return underflow();
  switch (memo_.put(index, stack_.back())) {
    case Memo::Put::kDone:
      return at;
    case Memo::Put::kNoMemory:
      return no_memory();
    case Memo::Put::kSparse:
      break;
  }
  deviate(Deviation::Kind::kSparsePut, here(),
          fmt::format("index {} with {} values in the memo", index, memo_.count()));
  return at;
}

Machine::Position Machine::get(std::uint64_t index, Position at) {
  const Value* value = memo_.get(index);
  if (value == nullptr) return malformed(fmt::format("the memo has no value {}", index));
  return push(Value(*value), at);
}

Machine::Position Machine::pop(Position at) {
  if (!marks_.empty() && marks_.back() == stack_.size()) {  // it is the mark that goes
    std::uint64_t ignored = 0;
    pop_marker(ignored);
    return at;
  }
  if (!has_values(1)) return underflow();
  may_have_dropped_ = may_have_dropped_ || may_hold_call(stack_.back());
  stack_.pop();
  return at;
}

Machine::Position Machine::pop_mark(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  for (std::uint64_t i = first; i < stack_.size(); ++i) {
    may_have_dropped_ = may_have_dropped_ || may_hold_call(stack_[i]);
  }
  stack_.truncate(first);
  return at;
}

/// Takes the last mark away; `first` is the position of the first value behind it.
bool Machine::pop_marker(std::uint64_t& first) {
  if (marks_.empty()) return malformed("there is no MARK") != nullptr;
  first = marks_.back();
  marks_.pop();
  fence_ = marks_.empty() ? 0 : marks_.back();
  return true;
}

Status Machine::stop(Position at) {
  if (!has_values(1)) {
    underflow();
    return tl::unexpected<Error>(std::move(error_));
  }
  document_.root_ = stack_.back();
  stack_.pop();
  document_.end_ = offset_at(at);
  if (!stack_.empty()) {
    may_have_dropped_ = true;
    deviate(Deviation::Kind::kStackLeftovers, here(),
            fmt::format("{} values are left on the stack", stack_.size()));
  }
  if (may_have_dropped_ && !collect_dropped_calls()) {
    no_memory();
    return tl::unexpected<Error>(std::move(error_));
  }
  if (at != end_) {
    deviate(Deviation::Kind::kTrailingBytes, offset_at(at), fmt::format("{} bytes behind STOP", end_ - at));
  }
  document_.peak_memory_ = account_.peak();
  return {};
}

/// Finds the calls that the root doesn't hold.
bool Machine::collect_dropped_calls() {
  const std::uint64_t set_bytes = NodeSet::bytes_for(document_.bytes_.size());
  if (!account_.charge(set_bytes)) return false;
  NodeSet reached(document_.bytes_.size());
  ChargedVector<Value> open(account_);
  bool complete = open.push(document_.root_);
  while (complete && !open.empty()) {
    const Value value = open.back();
    open.pop();
    visit_children(value, [&](const Value& child) {
      if (complete && is_node(child) && reached.insert(child)) complete = open.push(child);
    });
  }
  reached.insert(document_.root_);
  for (const Value& call : document_.calls()) {
    if (!complete) break;
    const bool dropped = call.object().construction != Construction::kMutation && !reached.contains(call);
    if (!dropped) continue;
    complete = append(arena_, document_.dropped_, &call, 1);
    deviate(Deviation::Kind::kDroppedCall, call.object().offset, "the result of this call isn't used");
  }
  account_.release(set_bytes);
  return complete;
}

}  // namespace cachetool::pickle
