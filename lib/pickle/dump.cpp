#include "pickle/dump.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/numbers.h"

namespace cachetool::pickle {
namespace {

constexpr std::uint64_t kMaxIndent = 40;  // deeper lines give their depth as a number
constexpr std::uint64_t kMaxInlineItems = 8;

std::string_view construction_name(Construction construction) {
  switch (construction) {
    case Construction::kReduce:
      return "REDUCE";
    case Construction::kNewObj:
      return "NEWOBJ";
    case Construction::kNewObjEx:
      return "NEWOBJ_EX";
    case Construction::kInst:
      return "INST";
    case Construction::kObj:
      return "OBJ";
    case Construction::kMutation:
      return "mutation";
  }
  return {};
}

/// The first `size` bytes or a few less, so that no character is cut.
std::string_view head_of(std::string_view text, std::uint64_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (text[size] & '\xc0') == '\x80') --size;
  return text.substr(0, size);
}

/// A child with what stands in front of it.
struct Child {
  std::string label;
  Value value;
};

class Dumper {
 public:
  Dumper(const Document& document, OutputSink& sink, const DumpOptions& options)
      : sink_(sink), options_(options), input_bytes_(document.bytes().size()), shared_(input_bytes_) {
    find_shared(document.root());
  }

  bool run(const Value& root) {
    begin({"", root}, 0);
    while (!open_.empty()) {
      Frame& frame = open_.back();
      if (frame.next == child_count(frame.node)) {
        open_.pop_back();
        continue;
      }
      if (lines_ >= options_.max_lines) {
        sink_.write(fmt::format("... ends here, after {} lines\n", lines_));
        return false;
      }
      const Child child = child_at(frame.node, frame.next++);
      begin(child, open_.size());
    }
    return true;
  }

 private:
  struct Frame {
    Value node;
    std::uint64_t next;
  };

  /// Marks the nodes that are reached more than once.
  void find_shared(const Value& root) {
    NodeSet seen(input_bytes_);
    std::vector<Value> open{root};
    if (is_node(root)) seen.insert(root);
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      visit_children(value, [&](const Value& child) {
        if (!is_node(child) || child.is(Tag::kGlobal)) return;
        if (seen.insert(child)) {
          open.push_back(child);
        } else {
          shared_.insert(child);
        }
      });
    }
  }

  bool is_shared(const Value& value) const { return is_node(value) && shared_.contains(value); }

  /// Writes the line of a value and opens it if it has children.
  void begin(const Child& child, std::uint64_t depth) {
    const Value& value = child.value;
    std::string text = child.label;
    bool descend = child_count(value) > 0;
    if (is_shared(value) && descend) {
      const auto [at, added] = numbers_.emplace(offset_of(value), numbers_.size() + 1);
      text += fmt::format("{}{}{}", added ? "&" : "*", at->second, added ? " " : "");
      if (!added) descend = false;
      if (added) text += header(value);
    } else if (is_inline(value)) {
      text += inline_text(value);
      descend = false;
    } else {
      text += header(value);
    }
    write_line(text, depth);
    if (descend) open_.push_back({value, 0});
  }

  void write_line(std::string_view text, std::uint64_t depth) {
    ++lines_;
    if (depth <= kMaxIndent) {
      sink_.write(std::string(depth * 2, ' '));
    } else {
      sink_.write(fmt::format("{}[{}] ", std::string(kMaxIndent * 2, ' '), depth));
    }
    sink_.write(text);
    sink_.write("\n");
  }

  /// Containers of a few scalars fit on one line.
  bool is_inline(const Value& value) const {
    if (!is_node(value) || value.is(Tag::kGlobal)) return true;
    const std::span<const Value> items = items_of(value);
    if (!value.is(Tag::kList) && !value.is(Tag::kTuple) && !value.is(Tag::kSet) && !value.is(Tag::kFrozenSet))
      return false;
    if (items.size() > kMaxInlineItems) return false;
    for (const Value& item : items) {
      if (is_node(item) && !item.is(Tag::kGlobal)) return false;
      const bool is_text = item.is(Tag::kString) || item.is(Tag::kBytes) || item.is(Tag::kByteArray);
      if (is_text && item.bytes().size() > 16) return false;
    }
    return true;
  }

  std::string inline_text(const Value& value) const {
    if (!is_node(value) || value.is(Tag::kGlobal)) return scalar(value);
    std::vector<std::string> parts;
    for (const Value& item : items_of(value)) parts.push_back(scalar(item));
    const std::string joined = fmt::format("{}", fmt::join(parts, ", "));
    switch (value.tag()) {
      case Tag::kList:
        return "[" + joined + "]";
      case Tag::kTuple:
        return "(" + joined + (parts.size() == 1 ? ",)" : ")");
      case Tag::kSet:
        return parts.empty() ? "set()" : "{" + joined + "}";
      default:
        return parts.empty() ? "frozenset()" : "frozenset({" + joined + "})";
    }
  }

  std::string text_of(std::string_view text, std::string (*repr)(std::string_view)) const {
    const std::uint64_t most = options_.max_string == 0 ? text.size() : options_.max_string;
    const std::string_view head = head_of(text, most);
    return repr(head) + (head.size() < text.size() ? fmt::format("... ({} bytes)", text.size()) : "");
  }

  std::string scalar(const Value& value) const {
    switch (value.tag()) {
      case Tag::kNone:
        return "None";
      case Tag::kBool:
        return value.as_bool() ? "True" : "False";
      case Tag::kInt:
      case Tag::kBigInt:
        return to_decimal(value);
      case Tag::kFloat:
        return python_float_repr(value.as_float());
      case Tag::kString:
        return text_of(value.bytes(), python_repr);
      case Tag::kBytes:
        return text_of(value.bytes(), python_bytes_repr);
      case Tag::kByteArray:
        return "bytearray(" + text_of(value.bytes(), python_bytes_repr) + ")";
      case Tag::kBuffer:
        return "memoryview(" + text_of(value.bytes(), python_bytes_repr) + ")";
      case Tag::kGlobal:
        return global_name(value);
      default:
        return header(value);
    }
  }

  std::string global_name(const Value& value) const {
    const std::string name = fmt::format("{}.{}", value.global().module, value.global().name);
    return fmt::format("<{}>", escape_for_terminal(head_of(name, 500)));
  }

  std::string header(const Value& value) const {
    switch (value.tag()) {
      case Tag::kList:
        return fmt::format("list ({})", value.list().size);
      case Tag::kTuple:
        return fmt::format("tuple ({})", value.tuple().size);
      case Tag::kDict:
        return fmt::format("dict ({})", value.dict().size);
      case Tag::kSet:
        return fmt::format("set ({})", value.set().size);
      case Tag::kFrozenSet:
        return fmt::format("frozenset ({})", value.set().size);
      case Tag::kPersistent:
        return fmt::format("persistent object @{}", value.persistent().offset);
      case Tag::kObject: {
        const ObjectNode& object = value.object();
        const bool named = object.callable.is(Tag::kGlobal);
        return fmt::format("{} {} @{}", named ? global_name(object.callable) : "result of calling a value",
                           construction_name(object.construction), object.offset);
      }
      default:
        return scalar(value);
    }
  }

  // Children of an object, in this order: callable when it isn't a global, arguments, keywords, states,
  // appended values, items.
  static bool shows_callable(const ObjectNode& object) { return !object.callable.is(Tag::kGlobal); }
  static bool shows_args(const ObjectNode& object) {
    return !object.args.is(Tag::kTuple) ? !object.args.is_none() : object.args.tuple().size > 0;
  }
  static bool shows_kwargs(const ObjectNode& object) { return !object.kwargs.is_none(); }

  static std::uint64_t child_count(const Value& value) {
    switch (value.tag()) {
      case Tag::kDict:
        return value.dict().size;
      case Tag::kPersistent:
        return 1;
      case Tag::kObject: {
        const ObjectNode& object = value.object();
        return std::uint64_t{shows_callable(object)} + shows_args(object) + shows_kwargs(object) +
               object.states.size + object.appended.size + object.items.size;
      }
      default:
        return items_of(value).size();
    }
  }

  Child pair(const Pair& entry) const {
    // A key that is a container is told apart by what it is; its items are part of the policy's and decoder's
    // view.
    return {(is_inline(entry.key) ? inline_text(entry.key) : header(entry.key)) + ": ", entry.value};
  }

  Child child_at(const Value& value, std::uint64_t at) const {
    switch (value.tag()) {
      case Tag::kDict:
        return pair(value.dict().data[at]);
      case Tag::kPersistent:
        return {"id: ", value.persistent().id};
      case Tag::kObject:
        return object_child(value.object(), at);
      default:
        return {"", items_of(value)[at]};
    }
  }

  Child object_child(const ObjectNode& object, std::uint64_t at) const {
    if (shows_callable(object) && at-- == 0) return {"callable: ", object.callable};
    if (shows_args(object) && at-- == 0) return {"args: ", object.args};
    if (shows_kwargs(object) && at-- == 0) return {"kwargs: ", object.kwargs};
    if (at < object.states.size) return {"state: ", object.states.data[at]};
    at -= object.states.size;
    if (at < object.appended.size) return {"", object.appended.data[at]};
    return pair(object.items.data[at - object.appended.size]);
  }

  OutputSink& sink_;
  const DumpOptions& options_;
  std::uint64_t input_bytes_;
  NodeSet shared_;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
  std::vector<Frame> open_;
  std::uint64_t lines_ = 0;
};

}  // namespace

bool dump(const Document& document, OutputSink& sink, const DumpOptions& options) {
  return Dumper(document, sink, options).run(document.root());
}

}  // namespace cachetool::pickle
