#include "pickle/policy.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/policy_fields.h"
#include "pickle/policy_graphs.h"
#include "pickle/policy_nested.h"
#include "pickle/policy_rules.h"
#include "pickle/policy_shapes.h"
#include "pickle/policy_size.h"
#include "pickle/python2_names.h"

namespace cachetool::pickle {
namespace {

std::string full_name(const GlobalNode& global) {
  return fmt::format("{}.{}", global.module, global.name);
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
    in_stream_ = limits_.source == PickleSource::kTorchStream;
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
    bool stream = false;    // a legacy torch.save stream
    Payload payload = Payload::kPickle;
  };
  static constexpr std::size_t kMostInARow = 1000;

  void find(Verdict verdict, std::string subject, std::string reason, std::uint64_t offset) {
    report_.verdict = std::max(report_.verdict, verdict);
    ++report_.total_findings;
    if (report_.findings.size() >= limits_.max_findings) return;
    report_.findings.push_back({verdict, std::move(subject), std::move(reason), offset, depth_, base_});
  }

  void find_name(const GlobalNode& global, std::string_view reason, std::uint64_t offset) {
    const ImportName now = python3_name(global.module, global.name);
    const std::string_view written = danger_of(global.module, global.name);
    const std::string_view danger = written.empty() && old_names_ ? danger_of(now.module, now.name) : written;
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
    choose_names(document);
    for (const Value& value : document.globals()) {
      if (!rule_for(value.global())) {
        find_name(value.global(), "isn't on the list of what builds data", value.global().offset);
      }
    }
    for (const Value& call : document.calls()) judge_call(call);
    walk(document);
    judge_size(document);
    // A name that is looked up and then neither applied nor kept was still imported.
    for (const Value& value : document.globals()) {
      if (!named_.contains(value.address())) judge_bare(value.global());
    }
  }

  /// Up to protocol 2 CPython imports other names than those written. PROTO in the middle changes that on the
  /// way, so then a name that would become another counts as none.
  void choose_names(const Document& document) {
    old_names_ = document.protocol() < 3;
    mixed_names_ = false;
    for (const Deviation& deviation : document.deviations()) {
      mixed_names_ = mixed_names_ || deviation.kind == Deviation::Kind::kSecondProto;
    }
  }

  const Rule* rule_for(const GlobalNode& global) const {
    if (!old_names_ && !mixed_names_) return find_rule(global.module, global.name);
    const ImportName now = python3_name(global.module, global.name);
    const bool same = now.module == global.module && now.name == global.name;
    return same || !mixed_names_ ? find_rule(now.module, now.name) : nullptr;
  }

  static std::uint8_t role_of(Construction construction) {
    switch (construction) {
      case Construction::kReduce:
        return kCall;
      case Construction::kNewObj:
        return kNew;
      case Construction::kNewObjEx:
        return kKeywords;
      default:
        return 0;  // INST and OBJ: no pickler of Python 3 writes them
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
    const Rule* rule = rule_for(global);
    if (!rule) return;  // found with the globals already
    if ((rule->roles & role_of(object.construction)) == 0) {
      return find_name(global,
                       fmt::format("is {}, which torch never does with it", action_of(object.construction)),
                       object.offset);
    }
    if (!object.args.is(Tag::kTuple)) {
      return find_name(global, "is applied to something that is no tuple", object.offset);
    }
    const auto args = object.args.tuple().items();
    const bool partial = is_global(object.callable, "functools", "partial");
    if (!fits(rule->arguments, args) || (partial && !is_opaque_partial(object))) {
      return find_name(
          global,
          fmt::format("is {} with arguments that torch never gives it", action_of(object.construction)),
          object.offset);
    }
    judge_keywords(object, global);
    judge_state(object, global, *rule);
    if (object.appended.size > 0 && !(rule->roles & kAppend))
      find_name(global, "is appended to", object.offset);
    if (object.items.size > 0 && !(rule->roles & kItems)) find_name(global, "is given items", object.offset);
    for (const auto& objection : {graph_objection(object), field_objection(object)}) {
      if (objection) find(Verdict::kDangerous, objection->subject, objection->reason, object.offset);
    }
    const bool stream = rule->arguments == "stream";
    if (stream || rule->arguments == "pickle") enqueue(args[0].bytes(), true, stream, object.offset);
  }

  /// Keywords are assumptions about symbols in what torch stores: scalars.
  void judge_keywords(const ObjectNode& object, const GlobalNode& global) {
    if (!object.kwargs.is(Tag::kDict)) return;
    for (const Pair& pair : object.kwargs.dict().pairs()) {
      if (!is_scalar(pair.value))
        return find_name(global, "is given a keyword that is no scalar", object.offset);
    }
  }

  /// The state's form; its attributes are looked at in `visit_state`.
  void judge_state(const ObjectNode& object, const GlobalNode& global, const Rule& rule) {
    if (object.states.size == 0) return;
    if (!(rule.roles & kState)) return find_name(global, "is given a state", object.offset);
    if (object.states.size > 1) return find_name(global, "is given more than one state", object.offset);
    if (!has_word(rule.states, state_form(object.states.items()[0]))) {
      find_name(global, "is given a state of another form than torch gives it", object.offset);
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
    const Rule* rule = rule_for(global);
    if (rule && !(rule->roles & kBare)) {
      find_name(global, "is stored as a value, which torch never does with it", global.offset);
    }
  }

  /// Few bytes can stand for more than Python gets through: sharing doubles, and nesting recurses.
  void judge_size(const Document& document) {
    const std::optional<Oversize> oversize = measure(document, budget_);
    if (!oversize) return incomplete("the memory budget is used up");
    if (oversize->unfolds) {
      find(Verdict::kUnknown, "a container",
           fmt::format("unfolds to more than {} values: hashing or comparing it wouldn't end", kMostUnfolded),
           *oversize->unfolds);
    }
    if (oversize->nested) {
      find(Verdict::kUnknown, "a container",
           fmt::format("is nested more than {} levels deep, which torch never does", kMostLevels),
           *oversize->nested);
    }
  }

  /// Visits everything below the root and the calls once.
  void walk(const Document& document) {
    const std::uint64_t bytes = NodeSet::bytes_for(document.bytes().size());
    if (!charge(bytes)) return;
    visited_ = NodeSet(document.bytes().size());
    stack_.clear();
    // Calls first: `visit_state` has to see a state before anything else that holds it does.
    push(document.root());
    for (const Value& call : document.calls()) push(call);
    while (!stack_.empty()) {
      const Value value = stack_.back();
      stack_.pop_back();
      if (is_node(value)) {
        if (visited_.insert(value)) visit(value);
      } else {
        visit_payload(value);
      }
    }
    budget_.release(bytes);
    charged_ -= bytes;
  }

  void push(const Value& value) {
    if (is_node(value) || is_payload(value)) stack_.push_back(value);
  }

  void visit(const Value& value) {
    if (value.is(Tag::kGlobal)) {
      named_.insert(value.address());
      return judge_bare(value.global());
    }
    if (value.is(Tag::kPersistent)) judge_persistent(value.persistent());
    if (value.is(Tag::kObject)) return visit_object(value.object());
    visit_children(value, [&](const Value& child) {
      if (is_function(child) && !(value.is(Tag::kTuple) && is_artifact_loader(child)))
        find(Verdict::kUnknown, "a container", "holds something to call", child.object().offset);
      push(child);
    });
  }

  /// The callable was judged with the call. Its arguments are taken out of their tuple: nobody else may name
  /// that.
  void visit_object(const ObjectNode& object) {
    if (!object.callable.is(Tag::kGlobal)) push(object.callable);
    for (const Value& argument : items_of(object.args)) push(argument);
    push(object.kwargs);
    for (const Value& state : object.states.items()) visit_state(object, state);
    for (const Value& item : object.appended.items()) push(item);
    for (const Pair& pair : object.items.pairs()) {
      push(pair.key);
      push(pair.value);
    }
  }

  void visit_state(const ObjectNode& object, const Value& state) {
    const std::string_view form = state_form(state);
    if (form == "dict") return visit_attributes(object, state);
    if (form != "pair") return push(state);
    for (const Value& part : items_of(state)) {
      if (part.is(Tag::kDict)) visit_attributes(object, part);
    }
  }

  /// Attributes decide what later calls mean: Python looks up __setstate__ and extend on the object itself.
  void visit_attributes(const ObjectNode& object, const Value& attributes) {
    const GlobalNode* maker = object.callable.is(Tag::kGlobal) ? &object.callable.global() : nullptr;
    const Rule* rule = maker ? rule_for(*maker) : nullptr;
    const std::string_view states = rule ? rule->states : std::string_view{};
    const std::string subject = maker ? full_name(*maker) : "an object";
    if (!visited_.insert(attributes)) {
      return find(Verdict::kUnknown, subject, "shares its state with something else", object.offset);
    }
    for (const Pair& pair : attributes.dict().pairs()) {
      const std::string_view name = text_or(pair.key);
      if (!is_plain_attribute(name) &&
          (name.empty() || name.find(' ') != std::string_view::npos || !has_word(states, name))) {
        find(Verdict::kDangerous, subject,
             fmt::format("is given an attribute that changes what it does: {}", name.substr(0, 60)),
             object.offset);
      }
      const bool holds = is_plain_attribute(name) && has_word(states, fmt::format("holds:{}", name));
      if (holds && is_held(pair.value)) {
        named_.insert(pair.value.address());
        continue;
      }
      if (!holds && is_lookup(pair.value)) {
        find(Verdict::kUnknown, subject, fmt::format("is given something to call as {}", name.substr(0, 60)),
             object.offset);
      }
      push(pair.key);
      push(pair.value);
    }
  }

  /// A function that only such an attribute may hold.
  bool is_held(const Value& value) const {
    const Rule* rule = value.is(Tag::kGlobal) ? rule_for(value.global()) : nullptr;
    return rule != nullptr && (rule->roles & kField) != 0;
  }

  /// Persistent ids mean something only to an unpickler that knows them: torch.save's and a stored graph's.
  void judge_persistent(const PersistentNode& persistent) {
    const bool inside = depth_ > 0 || limits_.source == PickleSource::kInsidePickle;
    const bool known =
        in_stream_ ? is_storage_id(persistent.id) : inside && text_or(persistent.id) == "unpickle_state";
    if (!known)
      find(Verdict::kUnknown, "a persistent id", "names something outside the pickle", persistent.offset);
  }

  static bool is_payload(const Value& value) {
    return value.is(Tag::kBytes) || value.is(Tag::kByteArray) || value.is(Tag::kBuffer) ||
           value.is(Tag::kString);
  }

  void visit_payload(const Value& value) {
    if (limits_.nested == NestedPickles::kLeft) return;
    if (!value.is(Tag::kString)) return enqueue(value.bytes(), false, false, 0);
    // Bytes that were decoded as Latin-1: every one of 0x80 and more takes two.
    const std::string_view text = value.bytes();
    const bool binary = text.size() > 3 && text.starts_with("\xc2\x80") && text[2] >= 2 && text[2] <= 5;
    const bool legible = text.size() > 6 && text.ends_with('.') && payload_of(text) == Payload::kTextPickle &&
                         text.find('\n') != std::string_view::npos;
    if (legible) enqueue(text, false, false, 0);
    if (!binary || !seen_bytes_.insert(text.data()).second || !charge(text.size())) return;
    decoded_.push_back(latin1_bytes(text));
    enqueue(decoded_.back(), false, false, 0);
  }

  /// The bytes that text of code points below 256 stands for, up to the first other one.
  static std::string latin1_bytes(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto lead = static_cast<unsigned char>(text[i]);
      if (lead < 0x80) {
        bytes.push_back(text[i]);
      } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
        bytes.push_back(static_cast<char>((lead & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f)));
      } else {
        break;
      }
    }
    return bytes;
  }

  /// `required`: something applies the bytes, so that they must be what they are taken for.
  void enqueue(std::string_view bytes, bool required, bool stream, std::uint64_t offset) {
    if (limits_.nested == NestedPickles::kLeft) return;
    const Payload payload = payload_of(bytes);
    stream = stream || payload == Payload::kLegacyStream;
    if (payload == Payload::kOpaque && !required) {
      report_.opaque_bytes += bytes.size();
      return;
    }
    if (!bytes.empty() && was_seen(bytes.data(), required, stream)) return;
    if (depth_ + 1 > limits_.max_depth)
      return incomplete(fmt::format("pickles inside pickles, deeper than {}", limits_.max_depth));
    if (report_.nested_pickles + queue_.size() >= limits_.max_nested) {
      return incomplete(fmt::format("more than {} pickles inside", limits_.max_nested));
    }
    if (!charge(sizeof(Nested))) return;
    queue_.push_back({bytes, depth_ + 1, base_of(bytes, offset), required, stream, payload});
  }

  /// The same bytes may be applied as a stream and as one pickle: each is looked into.
  bool was_seen(const char* bytes, bool required, bool stream) {
    if (required) return !(stream ? seen_streams_ : seen_pickles_).insert(bytes).second;
    return seen_streams_.contains(bytes) || seen_pickles_.contains(bytes) ||
           !seen_bytes_.insert(bytes).second;
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
    base_ = nested.base;
    in_stream_ = nested.stream;
    std::string_view rest = nested.bytes;
    std::vector<const Document*> parts;
    // What follows a pickle may be another one: pickle.load goes on there.
    for (std::size_t i = 0; i < kMostInARow; ++i) {
      const bool expected = i == 0 || (nested.stream && i < kLegacyPickles);
      if (nested.stream && i == kLegacyPickles)
        return judge_storages(nested, rest, *parts[kLegacyObject], *parts.back());
      if (!expected && payload_of(rest) != Payload::kPickle) return;
      PartialDocument part = parse_partly(rest, budget_);
      if (part.error && expected) unreadable(nested, i, *part.error, part.document);
      if (!part.error && is_text(nested) && part.document.globals().empty()) {
        report_.opaque_bytes += nested.bytes.size();
        return;
      }
      if (part.error && (!expected || !acts(nested, part.document))) return;
      const std::uint64_t end = part.document.end();
      ++report_.nested_pickles;
      report_.nested_bytes += end;
      documents_.push_back(std::move(part.document));  // keeps alive what nested pickles point to
      parts.push_back(&documents_.back());
      judge_document(documents_.back());
      if (part.error) return;
      rest.remove_prefix(end);
      base_ += end;
    }
    incomplete("too many pickles in a row");
  }

  /// What loading a storage gives has to be one, and what lies in it is looked into like bytes.
  void judge_storages(const Nested& nested, std::string_view rest, const Document& object,
                      const Document& keys) {
    if (nested.required && !object.root().is(Tag::kPersistent)) {
      find(Verdict::kUnknown, "a torch.save stream", "holds something else than a storage", 0);
    }
    std::vector<std::string_view> storages;
    if (!find_storages(rest, object, keys, storages) && nested.required) {
      find(Verdict::kUnknown, "a torch.save stream", "has storages that aren't all there", 0);
    }
    for (const std::string_view storage : storages) enqueue(storage, false, false, 0);
  }

  /// Nothing marks a pickle of protocol 0 or 1, so other text may look like one.
  static bool is_text(const Nested& nested) {
    return nested.payload == Payload::kTextPickle && !nested.required && !nested.stream;
  }

  /// What stands before the place where a pickle breaks was carried out.
  static bool acts(const Nested& nested, const Document& document) {
    const auto globals = document.globals();
    if (!is_text(nested)) return !globals.empty();
    return std::any_of(globals.begin(), globals.end(), [](const Value& value) {
      return !danger_of(value.global().module, value.global().name).empty();
    });
  }

  void unreadable(const Nested& nested, std::size_t position, const Error& error, const Document& document) {
    if (error.code == ErrorCode::kLimitMemory)
      return incomplete("the memory budget is used up inside a nested pickle");
    if (!nested.required && position == 0 && !acts(nested, document)) {
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
  NodeSet visited_{0};
  bool old_names_ = false;
  bool mixed_names_ = false;
  bool in_stream_ = false;
  std::unordered_set<const char*> seen_bytes_;
  std::unordered_set<const char*> seen_streams_;  // applied as such
  std::unordered_set<const char*> seen_pickles_;
  std::deque<std::string> decoded_;
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
