#include "verify/entry_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "pickle/sym_expr.h"
#include "torch/plain.h"
#include "verify/entry_checks.h"
#include "verify/required_fields.h"

namespace cachetool::verify {
namespace {

using pickle::Tag;
using pickle::Value;

/// Python decimal integers need no parser.
bool is_plain_number(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Cases of one check: the first one in words, the others as a number.
class Cases {
 public:
  explicit Cases(const Check& check) : problem_{&check, {}, {}} {}

  void add(std::string message, std::optional<std::uint64_t> offset, std::optional<Severity> severity = {}) {
    if (count_++ == 0) {
      problem_.text.message = std::move(message);
      problem_.text.offset = offset;
      problem_.severity = severity;
      return;
    }
    // The worst of them; none stands for the check's own.
    if (!severity || !problem_.severity) {
      problem_.severity.reset();
    } else {
      problem_.severity = std::max(*problem_.severity, *severity);
    }
  }

  void move_to(std::vector<Problem>& problems) {
    if (count_ == 0) return;
    if (count_ > 1) problem_.text.message += fmt::format(" (and {} more)", count_ - 1);
    problems.push_back(std::move(problem_));
  }

 private:
  Problem problem_;
  std::size_t count_ = 0;
};

/// First name of "fx_kwargs.static_input_idxs" or "partition_maps[0].id".
std::string_view top_of(std::string_view path) {
  return path.substr(0, path.find_first_of(".["));
}

class ContentCheck {
 public:
  ContentCheck(const torch::Decoded& decoded, const torch::Release& release, std::uint64_t base)
      : decoded_(decoded), release_(release), base_(base) {}

  std::vector<Problem> run() {
    if (const torch::CompiledFxGraph* graph = decoded_.fx_graph()) check_graph(*graph, "");
    if (const torch::AotAutogradEntry* entry = decoded_.aot_entry()) check_aot(*entry);
    check_notes();
    std::vector<Problem> problems;
    for (Cases* cases : {&guards_, &strides_, &fields_, &constants_, &classes_}) cases->move_to(problems);
    return problems;
  }

 private:
  void check_aot(const torch::AotAutogradEntry& entry) {
    for (const std::string& text : missing_fields(entry, release_.first))
      fields_.add(text, std::nullopt, Severity::kWarning);
    if (entry.guards_expr) check_guard("guards_expr", *entry.guards_expr);
    if (entry.compiled_fw) check_reference(*entry.compiled_fw, "compiled_fw");
    if (entry.compiled_bw) check_reference(*entry.compiled_bw, "compiled_bw");
  }

  void check_reference(const torch::CompiledGraphRef& reference, std::string_view name) {
    if (reference.fx_graph_guard_expr)
      check_guard(fmt::format("{}.fx_graph_guard_expr", name), *reference.fx_graph_guard_expr);
    if (reference.result == nullptr) {
      if (!reference.fx_graph_cache_key.present())
        fields_.add(fmt::format("{} names no graph", name), std::nullopt, Severity::kWarning);
      return;
    }
    const std::string prefix = fmt::format("{}.result.", name);
    if (const auto* graph = std::get_if<torch::CompiledFxGraph>(reference.result.get()))
      return check_graph(*graph, prefix);
    const auto* unknown = std::get_if<torch::UnknownOutputCode>(reference.result.get());
    if (unknown == nullptr) return;
    if (unknown->name.empty())
      return fields_.add(fmt::format("{}.result is no compiled graph", name), std::nullopt,
                         Severity::kWarning);
    classes_.add(fmt::format("{}.result is of class {}.{}", name, unknown->module, unknown->name),
                 std::nullopt);
  }

  void check_graph(const torch::CompiledFxGraph& graph, std::string_view prefix) {
    const auto severity = prefix.empty() ? std::optional<Severity>{} : Severity::kWarning;
    for (const std::string& text : missing_fields(graph, release_.first))
      fields_.add(fmt::format("{}{}", prefix, text), std::nullopt, severity);
    if (graph.guards_expr) check_guard(fmt::format("{}guards_expr", prefix), *graph.guards_expr);
    if (graph.output_strides) check_strides(graph.output_strides->values(), prefix);
  }

  void check_guard(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    const auto parsed = pickle::SymExpr::parse(text);
    if (parsed) return;
    guards_.add(fmt::format("{}: {}", name, parsed.error().message),
                offset_of(text, parsed.error().offset.value_or(0)));
  }

  void check_strides(std::span<const Value> outputs, std::string_view prefix) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto strides = torch::sequence_items(outputs[i]);
      if (!strides) continue;
      for (const Value& stride : *strides) {
        if (!stride.is(Tag::kString) || is_plain_number(stride.bytes())) continue;
        if (!parsed_.insert(stride.bytes().data()).second) continue;  // one text can stand for many strides
        const auto parsed = pickle::SymExpr::parse(stride.bytes());
        if (parsed) continue;
        strides_.add(fmt::format("{}output_strides[{}]: {}", prefix, i, parsed.error().message),
                     offset_of(stride.bytes(), parsed.error().offset.value_or(0)));
      }
    }
  }

  /// Notes of the decoder: what doesn't have the type that torch writes.
  void check_notes() {
    const bool aot = decoded_.aot_entry() != nullptr;
    for (const torch::Note& note : decoded_.notes.notes) {
      const std::string_view top = top_of(note.path);
      const std::string message = fmt::format("{}: {}", note.path, note.message);
      if (top == "constants" && note.path.size() > top.size()) {
        constants_.add(message, base_ + note.offset);
      } else if (note.path.find(".constants.") != std::string::npos) {
        constants_.add(message, base_ + note.offset);
      } else {
        const bool required = !aot && is_required_field(top);
        fields_.add(message, base_ + note.offset, required ? std::optional<Severity>{} : Severity::kWarning);
      }
    }
  }

  /// Position in the file of byte `at` of a text that the document holds.
  std::optional<std::uint64_t> offset_of(std::string_view text, std::uint64_t at) const {
    const std::string_view bytes = decoded_.document.bytes();
    const std::less_equal<const char*> before;
    const bool inside =
        before(bytes.data(), text.data()) && before(text.data() + text.size(), bytes.data() + bytes.size());
    if (!inside) return std::nullopt;  // a text that was put together from escapes
    return base_ + static_cast<std::uint64_t>(text.data() - bytes.data()) + at;
  }

  const torch::Decoded& decoded_;
  const torch::Release& release_;
  std::uint64_t base_;
  std::unordered_set<const char*> parsed_;
  Cases guards_{checks::kEntryGuards};
  Cases strides_{checks::kEntryOutputStrides};
  Cases fields_{checks::kEntryField};
  Cases constants_{checks::kEntryConstant};
  Cases classes_{checks::kEntryClass};
};

}  // namespace

std::vector<Problem> content_problems(const torch::Decoded& decoded, const torch::Release& release,
                                      std::uint64_t base) {
  return ContentCheck(decoded, release, base).run();
}

}  // namespace cachetool::verify
