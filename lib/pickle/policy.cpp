#include "pickle/policy.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/policy_rules.h"
#include "pickle/policy_shapes.h"

namespace cachetool::pickle {
namespace {

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);
constexpr std::size_t kLegacyPickles = 5;

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

std::string full_name(const GlobalNode& global) {
  return fmt::format("{}.{}", global.module, global.name);
}

bool names_graph_function(const GlobalNode& global) {
  return global.module == "torch.fx._graph_pickler" &&
         (global.name == "_OpFunctionPickleData" || global.name == "_OpBuiltinPickleData" ||
          global.name == "_OpOperatorPickleData");
}

std::string_view action_of(Construction construction) {
  switch (construction) {
    case Construction::kReduce:
      return "called";
    case Construction::kNewObj:
    case Construction::kNewObjEx:
      return "instantiated";
    case Construction::kInst:
    case Construction::kObj:
      return "called as a class";
    default:
      return "changed in place";
  }
}

/// Judges one outermost pickle and what is inside it, level by level.
class Judge {
 public:
  Judge(Budget& budget, const PolicyLimits& limits) : budget_(budget), limits_(limits) {}

  PolicyReport run(const Document& document) {
    outermost_ = document.bytes();
    judge_document(document);
    while (!queue_.empty()) {
      const Nested nested = queue_.front();
      queue_.pop_front();
      open(nested);
    }
    budget_.release(charged_);
    return std::move(report_);
  }

 private:
  /// Bytes that hold, or may hold, pickles.
  struct Nested {
    std::string_view bytes;
    std::uint32_t depth = 1;
    std::uint64_t base = 0;
    bool required = false;  // something applies them, so bytes that can't be read are a finding
    bool stream = false;    // several pickles in a row
  };

  void find(Verdict verdict, std::string subject, std::string reason, std::uint64_t offset) {
    report_.verdict = std::max(report_.verdict, verdict);
    ++report_.total_findings;
    if (report_.findings.size() >= limits_.max_findings) return;
    report_.findings.push_back({verdict, std::move(subject), std::move(reason), offset, depth_, base_});
  }

  void find_name(const GlobalNode& global, std::string_view reason, std::uint64_t offset) {
    const std::string_view danger = danger_of(global.module, global.name);
    if (danger.empty()) return find(Verdict::kUnknown, full_name(global), std::string(reason), offset);
    find(Verdict::kDangerous, full_name(global), fmt::format("{}: {}", reason, danger), offset);
  }

  bool charge(std::uint64_t bytes) {
    if (budget_.charge(bytes)) {
      charged_ += bytes;
      return true;
    }
    incomplete("the memory budget is used up");
    return false;
  }

  void incomplete(std::string reason) {
    if (!report_.complete) return;
    report_.complete = false;
    find(Verdict::kUnknown, "limit", std::move(reason), 0);
  }

  void judge_document(const Document& document) {
    named_.clear();
    report_.globals += document.globals().size();
    for (const Value& value : document.globals()) {
      if (!find_rule(value.global().module, value.global().name)) {
        find_name(value.global(), "isn't on the list of what builds data", value.global().offset);
      }
    }
    for (const Value& call : document.calls()) judge_call(call);
    walk(document);
    // A name that is looked up and then neither applied nor kept was still imported.
    for (const Value& value : document.globals()) {
      if (!named_.contains(value.address())) judge_bare(value.global());
    }
  }

  void judge_call(const Value& value) {
    if (!value.is(Tag::kObject)) return;
    const ObjectNode& object = value.object();
    ++report_.calls;
    if (object.construction == Construction::kMutation) return judge_mutation(object);
    if (!object.callable.is(Tag::kGlobal)) {
      if (object.callable.is(Tag::kObject) && may_be_called(object.callable.object(), object)) return;
      return find(Verdict::kUnknown, "an object",
                  "what is called isn't a name but the result of something else", object.offset);
    }
    const GlobalNode& global = object.callable.global();
    named_.insert(object.callable.address());
    const Rule* rule = find_rule(global.module, global.name);
    if (!rule) return;  // found with the globals already
    const bool makes =
        object.construction == Construction::kNewObj || object.construction == Construction::kNewObjEx;
    if (!(rule->roles & (makes ? kNew : kCall))) {
      return find_name(global,
                       fmt::format("is {}, which torch never does with it", action_of(object.construction)),
                       object.offset);
    }
    if (!object.args.is(Tag::kTuple)) {
      return find_name(global, "is applied to something that is no tuple", object.offset);
    }
    const auto args = object.args.tuple().items();
    if (!fits(rule->shape, args)) {
      return find_name(
          global,
          fmt::format("is {} with arguments that torch never gives it", action_of(object.construction)),
          object.offset);
    }
    judge_keywords(object, global);
    if (object.states.size > 0 && !(rule->roles & kBuild))
      find_name(global, "is given a state", object.offset);
    if (object.appended.size > 0 && !(rule->roles & kAppend))
      find_name(global, "is appended to", object.offset);
    if (object.items.size > 0 && !(rule->roles & kItems)) find_name(global, "is given items", object.offset);
    if (names_graph_function(global)) judge_graph_function(object, global);
    const bool stream = rule->shape == Shape::kLegacyStream;
    if (stream || rule->shape == Shape::kPickle) enqueue(args[0].bytes(), true, stream, object.offset);
  }

  /// Keywords are assumptions about symbols in what torch stores: scalars.
  void judge_keywords(const ObjectNode& object, const GlobalNode& global) {
    if (!object.kwargs.is(Tag::kDict)) return;
    for (const Pair& pair : object.kwargs.dict().pairs()) {
      if (!is_scalar(pair.value))
        return find_name(global, "is given a keyword that is no scalar", object.offset);
    }
  }

  /// A node of a stored graph that calls a function by name when the graph runs.
  void judge_graph_function(const ObjectNode& object, const GlobalNode& global) {
    for (const Value& state : object.states.items()) {
      const Value* root = state.is(Tag::kDict) ? pickle::find(state.dict(), "root") : nullptr;
      const Value* name = state.is(Tag::kDict) ? pickle::find(state.dict(), "name") : nullptr;
      const std::string_view module = root ? text_or(*root) : std::string_view("operator");
      if (name && allowed_graph_function(module, text_or(*name))) continue;
      const std::string target = name ? fmt::format("{}.{}", module, text_or(*name)) : full_name(global);
      find(Verdict::kDangerous, target, "is what a stored graph calls, and no operator", object.offset);
    }
  }

  void judge_mutation(const ObjectNode& object) {
    if (object.callable.is(Tag::kGlobal)) {
      named_.insert(object.callable.address());
      const std::string name = full_name(object.callable.global());
      return find(Verdict::kDangerous, name,
                  "is changed in place: a class or function of the loading process", object.offset);
    }
    find(Verdict::kUnknown, "an object", "something that the pickle didn't make is changed in place",
         object.offset);
  }

  void judge_bare(const GlobalNode& global) {
    const Rule* rule = find_rule(global.module, global.name);
    if (rule && !(rule->roles & kBare)) {
      find_name(global, "is stored as a value, which torch never does with it", global.offset);
    }
  }

  /// Visits everything below the root and the calls once.
  void walk(const Document& document) {
    const std::uint64_t bytes = NodeSet::bytes_for(document.bytes().size());
    if (!charge(bytes)) return;
    NodeSet visited(document.bytes().size());
    stack_.clear();
    stack_.push_back(document.root());
    for (const Value& call : document.calls()) stack_.push_back(call);
    while (!stack_.empty()) {
      const Value value = stack_.back();
      stack_.pop_back();
      if (value.is(Tag::kBytes) || value.is(Tag::kByteArray)) enqueue(value.bytes(), false, false, 0);
      if (is_node(value) && visited.insert(value)) visit(value);
    }
    budget_.release(bytes);
    charged_ -= bytes;
  }

  void visit(const Value& value) {
    if (value.is(Tag::kGlobal)) {
      named_.insert(value.address());
      return judge_bare(value.global());
    }
    const auto push = [&](const Value& child) {
      if (is_node(child) || child.is(Tag::kBytes) || child.is(Tag::kByteArray)) stack_.push_back(child);
    };
    if (!value.is(Tag::kObject)) return visit_children(value, push);
    // The callable was judged with the call. Its arguments are taken out of their tuple: nobody else may name
    // that.
    visit_children(value, [&](const Value& child) {
      const bool callable = child.is(Tag::kGlobal) && identical(child, value.object().callable);
      if (!callable && !(child.is(Tag::kTuple) && identical(child, value.object().args))) push(child);
    });
    for (const Value& argument : items_of(value.object().args)) push(argument);
  }

  void enqueue(std::string_view bytes, bool required, bool stream, std::uint64_t offset) {
    if (!bytes.empty() && !seen_bytes_.insert(bytes.data()).second) return;
    if (!required && bytes.starts_with(kLegacyMagic)) stream = true;
    if (!looks_like_pickle(bytes) && !required) {
      report_.opaque_bytes += bytes.size();
      return;
    }
    if (depth_ + 1 > limits_.max_depth)
      return incomplete(fmt::format("pickles inside pickles, deeper than {}", limits_.max_depth));
    if (report_.nested_pickles + queue_.size() >= limits_.max_nested) {
      return incomplete(fmt::format("more than {} pickles inside", limits_.max_nested));
    }
    if (!charge(sizeof(Nested))) return;
    queue_.push_back({bytes, depth_ + 1, base_of(bytes, offset), required, stream});
  }

  /// Position in the outermost bytes, when the nested ones lie there (they do unless an escape had to be
  /// decoded).
  std::uint64_t base_of(std::string_view bytes, std::uint64_t otherwise) const {
    const std::less_equal<const char*> not_after;
    const bool inside = not_after(outermost_.data(), bytes.data()) &&
                        not_after(bytes.data() + bytes.size(), outermost_.data() + outermost_.size());
    return inside ? static_cast<std::uint64_t>(bytes.data() - outermost_.data()) : otherwise;
  }

  void open(const Nested& nested) {
    depth_ = nested.depth;
    std::string_view rest = nested.bytes;
    base_ = nested.base;
    const std::size_t pickles = nested.stream ? kLegacyPickles : 1;
    for (std::size_t i = 0; i < pickles; ++i) {
      auto document = parse(rest, budget_);
      if (!document) {
        unreadable(nested, i, document.error());
        return;
      }
      const std::uint64_t end = document->end();
      ++report_.nested_pickles;
      report_.nested_bytes += end;
      documents_.push_back(std::move(*document));  // keeps alive what nested pickles point to
      judge_document(documents_.back());
      rest.remove_prefix(end);
      base_ += end;
    }
  }

  void unreadable(const Nested& nested, std::size_t position, const Error& error) {
    if (error.code == ErrorCode::kLimitMemory)
      return incomplete("the memory budget is used up inside a nested pickle");
    if (!nested.required && position == 0) {
      report_.opaque_bytes += nested.bytes.size();
      return;
    }
    find(Verdict::kUnknown, nested.stream ? "a torch.save stream" : "a nested pickle",
         fmt::format("can't be read: {}", error.message), error.offset.value_or(0));
  }

  Budget& budget_;
  PolicyLimits limits_;
  PolicyReport report_;
  std::string_view outermost_;
  std::uint32_t depth_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t charged_ = 0;
  std::unordered_set<const void*> named_;  // globals that are applied or kept
  std::vector<Value> stack_;               // of the walk
  std::unordered_set<const char*> seen_bytes_;
  std::deque<Nested> queue_;
  std::deque<Document> documents_;
};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kData:
      return "data";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kDangerous:
      return "dangerous";
  }
  return "unknown";
}

PolicyReport judge(const Document& document, Budget& budget, const PolicyLimits& limits) {
  return Judge(budget, limits).run(document);
}

Verdict classify_global(std::string_view module, std::string_view name) {
  if (find_rule(module, name)) return Verdict::kData;
  return danger_of(module, name).empty() ? Verdict::kUnknown : Verdict::kDangerous;
}

}  // namespace cachetool::pickle
