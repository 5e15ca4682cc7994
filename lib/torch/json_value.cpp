#include "torch/json_value.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "torch/distinct.h"
#include "torch/json_scalar.h"
#include "torch/plain.h"
#include "torch/tensor.h"

namespace cachetool::torch {

using pickle::Pair;
using pickle::Tag;
using pickle::Value;

namespace {

/// What is written as one JSON value: a pickle value, or a part of one that has no value of its own.
struct Node {
  enum class Kind : std::uint8_t { kValue, kArray, kSortedArray, kMembers, kItems, kClass };
  Kind kind = Kind::kValue;
  Value value;                      ///< kValue; kClass: the global whose name is the text
  std::span<const Value> elements;  ///< kArray, kSortedArray
  DictView pairs;                   ///< kMembers (string keys only), kItems
};

struct Slot {
  std::string_view key;
  Node node;
};

/// Elements of a set, each written apart so that they can be sorted by their text.
struct Capture {
  std::vector<std::string> texts;
  StringSink sink;
  std::unique_ptr<JsonWriter> writer;
};

struct Frame {
  enum class Kind : std::uint8_t { kArray, kSortedArray, kMembers, kItems, kSlots };
  Kind kind = Kind::kArray;
  bool inside_items = false;  ///< kItems: the key of the current pair is written, its value is next
  const void* address = nullptr;
  std::size_t next = 0;
  std::span<const Value> elements;
  DictView pairs;
  std::vector<Slot> slots;
  std::vector<Value> kept;                ///< storage behind `elements` where some were left out
  std::vector<std::vector<Pair>> merged;  ///< storage behind `pairs` and `slots` where parts had to be merged
  std::unique_ptr<Capture> capture;
};

bool has_string_keys(const DictView& dict) {
  const auto is_string = [](const Pair& pair) { return pair.key.is(Tag::kString); };
  return std::ranges::all_of(dict.given, is_string) && std::ranges::all_of(dict.added, is_string);
}

/// Members that several states set, as Python's dict.update would leave them.
std::vector<Pair> merge(const std::vector<std::span<const Pair>>& parts) {
  std::vector<Pair> all;
  for (const std::span<const Pair> part : parts) all.insert(all.end(), part.begin(), part.end());
  return merge_pairs(all, {});
}

class Writer {
 public:
  Writer(JsonWriter& json, const JsonValueOptions& options) : root_(json), options_(options) {}

  void write(const Value& value) {
    write_node(Node{Node::Kind::kValue, value, {}, {}});
    run();
  }

  void write_fields(const Value& instance) {
    if (class_of(instance) == nullptr) return write(instance);
    push_instance(instance, /*with_class=*/false);
    run();
  }

 private:
  JsonWriter& json() { return captures_.empty() ? root_ : *captures_.back()->writer; }

  void run() {
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      switch (frame.kind) {
        case Frame::Kind::kArray:
          step_array(frame);
          break;
        case Frame::Kind::kSortedArray:
          step_sorted(frame);
          break;
        case Frame::Kind::kMembers:
          step_members(frame);
          break;
        case Frame::Kind::kItems:
          step_items(frame);
          break;
        case Frame::Kind::kSlots:
          step_slots(frame);
          break;
      }
    }
  }

  /// Long text and bytes that are shared cost time and output each time they are written.
  void count_bytes(std::uint64_t bytes) { nodes_ += bytes / 4096; }

  bool exhausted() const { return nodes_ >= options_.max_nodes; }

  void write_limit(std::uint64_t limit) {
    json().begin_object();
    json().member("$limit", limit);
    json().end_object();
  }

  // --- one step of each kind of frame: write the next element, or close
  // -----------------------------------------

  void step_array(Frame& frame) {
    const bool more = frame.next < frame.elements.size();
    if (more && !exhausted()) return write_node(value_node(frame.elements[frame.next++]));
    if (more) write_limit(options_.max_nodes);
    json().end_array();
    stack_.pop_back();
  }

  void step_sorted(Frame& frame) {
    Capture& capture = *frame.capture;
    if (capture.writer != nullptr) {
      capture.writer->flush();
      capture.writer.reset();
      capture.texts.push_back(capture.sink.take());
      captured_bytes_ += capture.texts.back().size();
      captures_.pop_back();
    }
    const bool more = frame.next < frame.elements.size();
    if (more && !exhausted() && captured_bytes_ < kMaxCapturedBytes) {
      capture.sink = StringSink();
      capture.writer = std::make_unique<JsonWriter>(capture.sink);
      captures_.push_back(&capture);
      return write_node(value_node(frame.elements[frame.next++]));
    }
    std::ranges::sort(capture.texts);
    json().begin_array();
    for (const std::string& text : capture.texts) {
      json().raw(text);
      captured_bytes_ -= text.size();
    }
    if (more) write_limit(exhausted() ? options_.max_nodes : kMaxCapturedBytes);
    json().end_array();
    stack_.pop_back();
  }

  void step_members(Frame& frame) {
    const bool more = frame.next < frame.pairs.size();
    if (more && !exhausted()) {
      const Pair& pair = frame.pairs[frame.next++];
      json().key(pair.key.bytes());
      return write_node(value_node(pair.value));
    }
    if (more) json().member("$limit", options_.max_nodes);
    json().end_object();
    stack_.pop_back();
  }

  void step_items(Frame& frame) {
    if (frame.inside_items) {
      frame.inside_items = false;
      return write_node(value_node(frame.pairs[frame.next++].value));
    }
    if (frame.next > 0) json().end_array();
    const bool more = frame.next < frame.pairs.size();
    if (more && !exhausted()) {
      json().begin_array();
      frame.inside_items = true;
      return write_node(value_node(frame.pairs[frame.next].key));
    }
    if (more) write_limit(options_.max_nodes);
    json().end_array();
    stack_.pop_back();
  }

  void step_slots(Frame& frame) {
    const bool more = frame.next < frame.slots.size();
    if (more && !exhausted()) {
      const Slot slot = frame.slots[frame.next++];
      json().key(slot.key);
      return write_node(slot.node);
    }
    if (more) json().member("$limit", options_.max_nodes);
    json().end_object();
    stack_.pop_back();
  }

  // --- values
  // -----------------------------------------------------------------------------------------------------

  static Node value_node(const Value& value) { return Node{Node::Kind::kValue, value, {}, {}}; }

  void write_node(const Node& node) {
    // The check for cycles looks along the stack, so a value deep inside counts for more.
    nodes_ += 1 + stack_.size() / 32;
    switch (node.kind) {
      case Node::Kind::kValue:
        return write_value_node(node.value);
      case Node::Kind::kArray:
        return push_array(node.elements, nullptr);
      case Node::Kind::kSortedArray:
        return push_sorted(node.elements, nullptr);
      case Node::Kind::kMembers:
        return push_members(node.pairs, nullptr);
      case Node::Kind::kItems:
        return push_items(node.pairs, nullptr);
      case Node::Kind::kClass:
        return json().string(fmt::format("{}.{}", node.value.global().module, node.value.global().name));
    }
  }

  void write_value_node(const Value& value) {
    if (write_scalar(json(), value, options_)) {
      if (value.is(Tag::kString) || value.is(Tag::kBytes) || value.is(Tag::kByteArray))
        count_bytes(value.bytes().size());
      return;
    }
    if (stack_.size() >= options_.max_depth) return write_limit(options_.max_depth);
    for (std::size_t depth = 0; depth < stack_.size(); ++depth) {
      if (stack_[depth].address != value.address()) continue;
      json().begin_object();
      json().member("$cycle", static_cast<std::uint64_t>(depth));
      json().end_object();
      return;
    }
    switch (value.tag()) {
      case Tag::kList:
      case Tag::kTuple:
        return push_array(pickle::items_of(value), value.address());
      case Tag::kSet:
      case Tag::kFrozenSet:
        return push_sorted(pickle::items_of(value), value.address());
      case Tag::kDict:
        return push_dict(DictView{value.dict().pairs(), {}}, value.address());
      case Tag::kPersistent:
        return push_slots({{"$persistent", value_node(value.persistent().id)}}, value.address());
      default:
        return write_object(value);
    }
  }

  void write_object(const Value& value) {
    if (is_tensor(value)) {
      if (const auto hashed = write_tensor(json(), value)) return count_bytes(*hashed);
    }
    if (const auto elements = sequence_items(value)) {
      return push_sequence(class_of(value)->name, *elements, value.address());
    }
    if (const auto pairs = dict_view(value)) return push_dict(*pairs, value.address());
    push_instance(value, /*with_class=*/true);
  }

  // --- frames
  // -----------------------------------------------------------------------------------------------------

  Frame& push(Frame::Kind kind, const void* address) {
    Frame& frame = stack_.emplace_back();
    frame.kind = kind;
    frame.address = address;
    return frame;
  }

  void push_array(std::span<const Value> elements, const void* address) {
    json().begin_array();
    push(Frame::Kind::kArray, address).elements = elements;
  }

  /// A sequence that a call makes: sets keep the first of equal elements.
  void push_sequence(std::string_view name, std::span<const Value> elements, const void* address) {
    const bool sorted = name == "set" || name == "frozenset";
    auto kept = sorted || name == "OrderedSet" ? distinct(elements) : std::nullopt;
    if (kept) elements = *kept;
    if (sorted) {
      push_sorted(elements, address);
    } else {
      push_array(elements, address);
    }
    if (kept) stack_.back().kept = std::move(*kept);
  }

  void push_sorted(std::span<const Value> elements, const void* address) {
    if (elements.size() < 2) return push_array(elements, address);
    Frame& frame = push(Frame::Kind::kSortedArray, address);
    frame.elements = elements;
    frame.capture = std::make_unique<Capture>();
  }

  void push_members(const DictView& pairs, const void* address) {
    json().begin_object();
    push(Frame::Kind::kMembers, address).pairs = pairs;
  }

  /// The array inside of {"$items": …}.
  void push_items(const DictView& pairs, const void* address) {
    json().begin_array();
    push(Frame::Kind::kItems, address).pairs = pairs;
  }

  void push_dict(DictView pairs, const void* address) {
    std::vector<Pair> merged;
    if (!pairs.given.empty() && !pairs.added.empty()) {
      merged = merge_pairs(pairs.given, pairs.added);
      pairs = DictView{merged, {}};
    }
    if (has_string_keys(pairs)) {
      push_members(pairs, address);
    } else {
      push_slots({{"$items", Node{Node::Kind::kItems, {}, {}, pairs}}}, address);
    }
    if (!merged.empty()) stack_.back().merged.push_back(std::move(merged));
  }

  void push_slots(std::vector<Slot> slots, const void* address) {
    json().begin_object();
    push(Frame::Kind::kSlots, address).slots = std::move(slots);
  }

  void push_instance(const Value& value, bool with_class) {
    const pickle::ObjectNode& object = value.object();
    std::vector<Slot> slots;
    std::vector<std::vector<Pair>> merged;
    if (with_class) {
      const auto kind = object.callable.is(Tag::kGlobal) ? Node::Kind::kClass : Node::Kind::kValue;
      slots.push_back({"$class", Node{kind, object.callable, {}, {}}});
    }
    if (!object.args.is(Tag::kTuple)) {
      slots.push_back({"$args", value_node(object.args)});
    } else if (object.args.tuple().size != 0) {
      slots.push_back({"$args", value_node(object.args)});
    }
    if (object.kwargs.is(Tag::kDict) && object.kwargs.dict().size != 0) {
      slots.push_back({"$kwargs", value_node(object.kwargs)});
    }
    add_state(object, slots, merged);
    if (object.appended.size != 0) {
      slots.push_back({"$list", Node{Node::Kind::kArray, {}, object.appended.items(), {}}});
    }
    if (object.items.size != 0) {
      slots.push_back({"$pairs", Node{Node::Kind::kItems, {}, {}, DictView{object.items.pairs(), {}}}});
    }
    push_slots(std::move(slots), value.address());
    stack_.back().merged = std::move(merged);
  }

  /// Members of the state inline; what is neither a dict with names nor a known list of slots is "$state".
  void add_state(const pickle::ObjectNode& object, std::vector<Slot>& slots,
                 std::vector<std::vector<Pair>>& merged) {
    std::vector<std::span<const Pair>> parts;
    std::vector<Value> others;
    for (const Value& state : object.states.items()) add_state_parts(object, state, parts, others, merged);
    std::span<const Pair> members;
    if (parts.size() == 1) members = parts[0];
    if (parts.size() > 1) members = merged.emplace_back(merge(parts));
    for (const Pair& pair : members) slots.push_back({pair.key.bytes(), value_node(pair.value)});
    for (const Value& other : others) slots.push_back({"$state", value_node(other)});
  }

  static void add_state_parts(const pickle::ObjectNode& object, const Value& state,
                              std::vector<std::span<const Pair>>& parts, std::vector<Value>& others,
                              std::vector<std::vector<Pair>>& merged) {
    const auto named = [](const Value& part) {
      return part.is_none() || (part.is(Tag::kDict) && has_string_keys(DictView{part.dict().pairs(), {}}));
    };
    if (state.is(Tag::kDict) && named(state)) return parts.push_back(state.dict().pairs());
    if (const auto slots = slot_state(state); slots && named((*slots)[0]) && named((*slots)[1])) {
      for (const Value& part : *slots) {
        if (part.is(Tag::kDict)) parts.push_back(part.dict().pairs());
      }
      return;
    }
    if (state.is(Tag::kList) && object.callable.is(Tag::kGlobal)) {
      const auto values = state.list().items();
      const auto names = slot_names(object.callable.global(), values.size());
      if (!names.empty()) {
        std::vector<Pair>& pairs = merged.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i)
          pairs.push_back({Value::text(Tag::kString, names[i]), values[i]});
        return parts.push_back(pairs);
      }
    }
    others.push_back(state);
  }

  static constexpr std::uint64_t kMaxCapturedBytes = std::uint64_t{64} << 20;

  JsonWriter& root_;
  const JsonValueOptions& options_;
  std::vector<Frame> stack_;
  std::vector<Capture*> captures_;
  std::uint64_t nodes_ = 0;
  std::uint64_t captured_bytes_ = 0;
};

}  // namespace

void write_value(JsonWriter& json, const Value& value, const JsonValueOptions& options) {
  Writer(json, options).write(value);
}

void write_fields(JsonWriter& json, const Value& instance, const JsonValueOptions& options) {
  Writer(json, options).write_fields(instance);
}

}  // namespace cachetool::torch
