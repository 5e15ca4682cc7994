#include "verify/scan/pickle_contents.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "container/frame.h"
#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/policy_rules.h"
#include "verify/scan/content.h"

namespace cachetool::verify {
namespace {

using pickle::ObjectNode;
using pickle::Pair;
using pickle::Tag;
using pickle::Value;

bool is_text(const Value& value) {
  return value.is(Tag::kString);
}
bool is_bytes(const Value& value) {
  return value.is(Tag::kBytes) || value.is(Tag::kByteArray) || value.is(Tag::kBuffer);
}

/// What may turn out to be a subclass of str, which eval takes: torch_version.TorchVersion is one.
bool is_opaque(const Value& value) {
  return value.is(Tag::kObject) || value.is(Tag::kGlobal) || value.is(Tag::kPersistent);
}

/// Fields that torch evaluates.
constexpr std::array<std::string_view, 2> kGuards = {"guards_expr", "fx_graph_guard_expr"};
constexpr std::string_view kStrides = "output_strides";

struct Field {
  std::string_view name;
  std::string_view what;
};

constexpr std::string_view kGraphCode = "graph-code";

/// Fields that hold what torch or vLLM runs, as text or bytes.
constexpr std::array kCode{Field{"source_code", "source_code"},
                           Field{"execution_code", "execution_code"},
                           Field{"_code", kGraphCode},
                           Field{"co_code", "bytecode"},
                           Field{"_src", "triton-source"},
                           Field{"src", "triton-source"},
                           Field{"_serialized_graph_module", "stored-graph"},
                           Field{"_serialized_original_gm", "stored-graph"},
                           Field{"graph_module", "stored-graph"}};

/// Text from which a launcher is generated when the kernel runs (triton_heuristics.py: GridExpr).
constexpr std::string_view kLaunchGrid = "inductor_meta";

/// The bytes that a text of code points below 256 stands for; empty for any other text.
std::string from_latin1(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at, Surrogates::kAllowed);
    if (!point.valid || point.value > 0xff) return {};
    bytes.push_back(static_cast<char>(point.value));
    at += point.length;
  }
  return bytes;
}

/// Texts that hold binary data, one code point a byte, as Python 2's pickles and `_codecs.encode` do.
bool may_be_latin1(std::string_view text) {
  return (text.starts_with("\xc2\x80") && text.size() > 2 && static_cast<unsigned char>(text[2]) <= 5) ||
         text.starts_with("\x1f\xc2\x8b") || text.starts_with("(\xc2\xb5/\xc3\xbd");
}

/// Base64 of something with a magic number: a pickle, zip, gzip, zstd, ELF.
bool may_be_base64(std::string_view text) {
  if (text.size() < 12) return false;
  if (text.starts_with("gA")) return text[2] >= 'I' && text[2] <= 'X';
  return text.starts_with("UEsDB") || text.starts_with("H4sI") || text.starts_with("KLUv/") ||
         text.starts_with("f0VMR");
}

class Walker {
 public:
  Walker(const pickle::Document& document, PickleContents& out)
      : document_(document), out_(out), visited_(document.bytes().size()) {}

  void run() {
    stack_.push_back(document_.root());
    for (const Value& call : document_.calls()) stack_.push_back(call);
    note(document_.root(), 0);
    while (!stack_.empty()) {
      const Value value = stack_.back();
      stack_.pop_back();
      if (pickle::is_node(value) && visited_.insert(value)) visit(value);
    }
    // A module's text goes by the usual name, or by any other: each module counts once.
    const auto texts = std::count_if(out_.code.begin(), out_.code.end(),
                                     [](const CodeField& code) { return code.what == kGraphCode; });
    for (auto i = static_cast<std::size_t>(texts); i < graph_modules_; ++i)
      out_.code.push_back({kGraphCode, 0});
  }

 private:
  void visit(const Value& value) {
    const std::uint64_t holder = pickle::offset_of(value);
    if (value.is(Tag::kObject)) look_at(value.object());
    if (value.is(Tag::kDict)) look_at(value.dict().pairs(), holder);
    pickle::visit_children(value, [&](const Value& child) {
      if (pickle::is_node(child)) {
        stack_.push_back(child);
      } else {
        note(child, holder);
      }
    });
  }

  void look_at(const ObjectNode& object) {
    look_at(object.items.pairs(), object.offset);
    if (!object.callable.is(Tag::kGlobal)) return;
    const pickle::GlobalNode& global = object.callable.global();
    // torch compiles the text among its arguments, whatever the names there.
    if (global.name == "SerializedGraphModule") ++graph_modules_;
    const auto args = pickle::items_of(object.args);
    if (args.size() != 1 || !is_bytes(args[0])) return;
    const pickle::Rule* rule = pickle::find_rule(global.module, global.name);
    const bool stream = rule != nullptr && rule->arguments == "stream";
    const bool loads = rule != nullptr && rule->arguments == "pickle";
    if (stream || loads) {
      require(args[0].bytes(), stream ? Expect::kTorchStream : Expect::kPickle, Origin::kValue,
              object.offset);
    }
  }

  void look_at(std::span<const Pair> pairs, std::uint64_t holder) {
    for (const Pair& pair : pairs) {
      if (!is_text(pair.key)) continue;
      const std::string_view key = pair.key.bytes();
      if (key == kGuards[0]) evaluate(kGuards[0], pair.value, holder);
      if (key == kGuards[1]) evaluate(kGuards[1], pair.value, holder);
      if (key == kStrides) evaluate_all(pair.value, holder);
      if (key == kLaunchGrid && pickle::is_node(pair.value)) out_.code.push_back({"launch-grid", 0});
      for (const Field& field : kCode) {
        if (key != field.name) continue;
        const bool has_bytes = is_text(pair.value) || is_bytes(pair.value);
        const std::uint64_t size = has_bytes ? pair.value.bytes().size() : 0;
        if (size != 0 || is_opaque(pair.value)) out_.code.push_back({field.what, size});
      }
    }
  }

  void evaluate(std::string_view field, const Value& value, std::uint64_t holder) {
    if (value.is_none() || (is_text(value) && value.bytes().empty())) return;  // torch: no guard
    const bool has_bytes = is_text(value) || is_bytes(value);
    out_.expressions.push_back(
        {field, has_bytes ? value.bytes() : std::string_view{}, holder, !is_text(value)});
  }

  /// Every text below the strides: torch goes through whatever is iterable.
  void evaluate_all(const Value& strides, std::uint64_t holder) {
    std::vector<Value> open{strides};
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      if (is_text(value) || is_bytes(value)) {
        out_.expressions.push_back({kStrides, value.bytes(), holder, is_bytes(value)});
      } else if (is_opaque(value)) {
        out_.expressions.push_back({kStrides, {}, pickle::offset_of(value), true});
      } else if (pickle::is_node(value) && strides_.insert(value.address()).second) {
        pickle::visit_children(value, [&](const Value& child) { open.push_back(child); });
      }
    }
  }

  /// A value that is no node: is it something by itself?
  void note(const Value& value, std::uint64_t holder) {
    if (is_bytes(value)) {
      if (value.bytes().empty()) return;
      require(value.bytes(), Expect::kAnything, Origin::kValue, holder);
      note_base64(value.bytes(), holder);
    } else if (is_text(value)) {
      note_text(value.bytes(), holder);
    }
  }

  void note_text(std::string_view text, std::uint64_t holder) {
    if (text.size() < 4) return;
    if (text.starts_with("\x7f"
                         "ELF") ||
        text.starts_with("PK\x03\x04") || may_be_text_pickle(text))
      require(text, Expect::kAnything, Origin::kText, holder);
    if (may_be_latin1(text)) decode(text, from_latin1(text), holder);
    note_base64(text, holder);
  }

  void note_base64(std::string_view text, std::uint64_t holder) {
    if (may_be_base64(text)) decode(text, container::from_base64(text).value_or(std::string()), holder);
  }

  void decode(std::string_view text, std::string decoded, std::uint64_t holder) {
    if (decoded.empty() || !decoded_.insert(text.data()).second) return;
    out_.nested.push_back({text, std::move(decoded), Expect::kAnything, Origin::kValue, holder});
  }

  void require(std::string_view bytes, Expect expect, Origin origin, std::uint64_t holder) {
    const auto [known, added] = seen_.try_emplace(bytes.data(), expect);
    if (!added && (expect == Expect::kAnything || known->second == expect)) return;
    known->second = expect;
    out_.nested.push_back({bytes, {}, expect, origin, holder});
  }

  const pickle::Document& document_;
  PickleContents& out_;
  pickle::NodeSet visited_;
  std::vector<Value> stack_;
  std::unordered_set<const void*> strides_;
  std::size_t graph_modules_ = 0;
  std::unordered_map<const char*, Expect> seen_;
  std::unordered_set<const char*> decoded_;
};

}  // namespace

PickleContents contents_of(const pickle::Document& document, Budget& budget) {
  PickleContents contents;
  const std::uint64_t bytes = pickle::NodeSet::bytes_for(document.bytes().size());
  if (!budget.charge(bytes)) {
    contents.complete = false;
    return contents;
  }
  Walker(document, contents).run();
  budget.release(bytes);
  return contents;
}

}  // namespace cachetool::verify
