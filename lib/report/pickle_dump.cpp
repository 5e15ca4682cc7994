#include "report/pickle_dump.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/text.h"

namespace cachetool::report {
namespace {

using pickle::Tag;
using pickle::Value;

struct Child {
  std::string label;
  Value value;
};

bool is_node(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kDict:
    case Tag::kSet:
    case Tag::kFrozenSet:
    case Tag::kObject:
    case Tag::kPersistent:
      return true;
    default:
      return false;
  }
}

std::uint64_t object_children(const pickle::ObjectNode& object) {
  return 2 + (object.kwargs.is_none() ? 0 : 1) + object.states.size + object.appended.size +
         object.items.size * 2;
}

std::uint64_t child_count(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
      return pickle::items_of(value).size();
    case Tag::kDict:
      return value.dict().size * 2;
    case Tag::kObject:
      return object_children(value.object());
    case Tag::kPersistent:
      return 1;
    default:
      return 0;
  }
}

Child pair_child(const pickle::DictNode& dict, std::uint64_t i) {
  const pickle::Pair& pair = dict.pairs()[i / 2];
  return i % 2 == 0 ? Child{"key", pair.key} : Child{"value", pair.value};
}

Child object_child(const pickle::ObjectNode& object, std::uint64_t i) {
  if (i == 0) return {"callable", object.callable};
  if (i == 1) return {"args", object.args};
  i -= 2;
  if (!object.kwargs.is_none()) {
    if (i == 0) return {"kwargs", object.kwargs};
    --i;
  }
  if (i < object.states.size) return {"state", object.states.items()[i]};
  i -= object.states.size;
  if (i < object.appended.size) return {"appended", object.appended.items()[i]};
  return pair_child(object.items, i - object.appended.size);
}

Child child_at(const Value& value, std::uint64_t i) {
  if (value.is(Tag::kDict)) return pair_child(value.dict(), i);
  if (value.is(Tag::kObject)) return object_child(value.object(), i);
  if (value.is(Tag::kPersistent)) return {"id", value.persistent().id};
  return {std::to_string(i), pickle::items_of(value)[i]};
}

std::string_view construction_name(pickle::Construction construction) {
  switch (construction) {
    case pickle::Construction::kReduce:
      return "call";
    case pickle::Construction::kNewObj:
      return "new";
    case pickle::Construction::kNewObjEx:
      return "new with keywords";
    case pickle::Construction::kInst:
      return "instance";
    case pickle::Construction::kObj:
      return "object";
    case pickle::Construction::kMutation:
      return "mutation";
  }
  return "call";
}

class Dump {
 public:
  Dump(OutputSink& sink, const PickleDumpOptions& options) : sink_(sink), options_(options) {}

  void write(const Value& root) {
    struct Open {
      Value value;
      std::uint64_t next;
    };
    std::vector<Open> open;
    std::uint64_t lines = 1;
    if (line("", root, 0)) open.push_back({root, 0});
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == child_count(top.value)) {
        open.pop_back();
        continue;
      }
      if (++lines > options_.max_lines) {
        sink_.write(fmt::format("… more than {} values\n", options_.max_lines));
        return;
      }
      const Child child = child_at(top.value, top.next++);
      if (line(child.label, child.value, open.size())) open.push_back({child.value, 0});
    }
  }

 private:
  // Writes one value; true when its children are to follow.
  bool line(const std::string& label, const Value& value, std::size_t depth) {
    std::string text(depth * 2, ' ');
    if (!label.empty()) text += label + ": ";
    bool enter = false;
    if (is_node(value) && child_count(value) != 0) {
      const auto [known, is_new] = numbers_.emplace(value.address(), numbers_.size());
      enter = is_new;
      text += is_new ? fmt::format("{} #{}", summary(value), known->second)
                     : fmt::format("the same as #{}", known->second);
    } else {
      text += summary(value);
    }
    if (const std::uint64_t offset = pickle::offset_of(value); offset != 0)
      text += fmt::format("  @{}", offset);
    sink_.write(text + "\n");
    return enter;
  }

  std::string summary(const Value& value) const {
    switch (value.tag()) {
      case Tag::kNone:
        return "None";
      case Tag::kBool:
        return value.as_bool() ? "True" : "False";
      case Tag::kInt:
        return std::to_string(value.as_int());
      case Tag::kBigInt:
        return fmt::format("int of {} bytes", value.bytes().size());
      case Tag::kFloat:
        return fmt::format("{}", value.as_float());
      case Tag::kString:
        return string_summary(value.bytes());
      case Tag::kBytes:
        return bytes_summary("bytes", value.bytes());
      case Tag::kByteArray:
        return bytes_summary("bytearray", value.bytes());
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
      case Tag::kGlobal:
        return "global " + escape_for_terminal(value.global().module) + "." +
               escape_for_terminal(value.global().name);
      case Tag::kObject:
        return std::string(construction_name(value.object().construction));
      case Tag::kPersistent:
        return "persistent id";
      case Tag::kBuffer:
        return "out-of-band buffer";
    }
    return "?";
  }

  std::string string_summary(std::string_view text) const {
    if (options_.max_text == 0 || text.size() <= options_.max_text) return python_repr(text);
    std::size_t cut = options_.max_text;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
    return fmt::format("{}… ({} bytes)", python_repr(text.substr(0, cut)), text.size());
  }

  static std::string bytes_summary(std::string_view type, std::string_view bytes) {
    return fmt::format("{} ({}) sha256 {}", type, bytes.size(), to_hex(sha256(bytes)));
  }

  OutputSink& sink_;
  const PickleDumpOptions& options_;
  std::unordered_map<const void*, std::uint64_t> numbers_;
};

}  // namespace

void write_pickle_dump(OutputSink& sink, const pickle::Document& document, const PickleDumpOptions& options) {
  sink.write(fmt::format("protocol {}, {} bytes\n", document.protocol(), document.end()));
  Dump(sink, options).write(document.root());
  for (const pickle::Deviation& deviation : document.deviations()) {
    sink.write(fmt::format("deviation at {}: {} {}\n", deviation.offset,
                           pickle::deviation_name(deviation.kind), escape_for_terminal(deviation.detail)));
  }
  if (document.trailing_bytes() != 0)
    sink.write(fmt::format("{} bytes behind the end\n", document.trailing_bytes()));
}

}  // namespace cachetool::report
