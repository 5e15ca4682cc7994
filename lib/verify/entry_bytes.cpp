#include "verify/entry_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "torch/decode.h"
#include "torch/release.h"
#include "verify/entry_checks.h"
#include "verify/entry_content.h"
#include "verify/entry_facts.h"
#include "verify/pickle_problems.h"

namespace cachetool::verify {
namespace {

using torch::EntryKind;
using torch::HashName;

bool is_error(const Problem& problem) {
  return problem.severity.value_or(problem.check->severity) == Severity::kError;
}

/// Classes of these modules may be new kinds of entries; of any other they are none.
bool is_entry_module(std::string_view module, EntryKind kind) {
  if (kind == EntryKind::kAotAutograd) return module.starts_with("torch._functorch._aot_autograd.");
  return module == "torch._inductor.output_code" || module == "torch._inductor.codecache";
}

class EntryCheck {
 public:
  EntryCheck(std::string_view bytes, const EntryPlace& place, FileReport& report)
      : bytes_(bytes), place_(place), report_(report) {}

  Expected<std::unique_ptr<EntryFacts>> run(const store::ReadLimits& limits, const EntryScrutiny& scrutiny) {
    if (bytes_.empty()) return damaged({&checks::kPickleTruncated, {.message = "the entry is empty"}});
    Budget budget = limits.budget(bytes_.size());
    auto decoded = torch::decode_entry(bytes_, budget);
    if (!decoded) {
      if (auto problem = pickle_failure(decoded.error(), place_.offset)) return damaged(std::move(*problem));
      return tl::unexpected(std::move(decoded.error()));
    }
    const torch::Release release = torch::identify_release(*decoded);
    report_.set_release(release.first, release.last);
    report_.fine(checks::kPickleTruncated);
    report_.fine(checks::kPickleMalformed);
    auto facts = entry_facts(*decoded, release);
    if (facts) known_ = facts->get();
    if (!judge(*decoded, release)) return nullptr;
    const bool damaged_anyhow =
        std::any_of(report_.findings().begin(), report_.findings().end(),
                    [](const Finding& finding) { return finding.severity == Severity::kError; });
    if (!damaged_anyhow) check_entry_deep(*decoded, scrutiny, budget, report_);
    return facts;
  }

 private:
  std::unique_ptr<EntryFacts> damaged(Problem problem) {
    say(std::move(problem));
    return nullptr;
  }

  void say(Problem problem) {
    if (!place_.leaf.empty()) problem.text.repair = {report_.path()};
    report_.found(*problem.check, std::move(problem.text), problem.severity);
  }

  /// Tells what is wrong, with one finding for each cause: an entry that was changed in a way that shows
  /// elsewhere isn't also called misnamed, and what is misnamed may say anything about its key. False when it
  /// is no entry of this kind.
  bool judge(const torch::Decoded& decoded, const torch::Release& release) {
    if (auto problem = wrong_root(decoded)) {
      say(std::move(*problem));
      return false;
    }
    report_.fine(checks::kPickleRootType);
    std::vector<Problem> problems = content_problems(decoded, release, place_.offset);
    if (auto problem = new_class(decoded)) problems.push_back(std::move(*problem));
    bool explained = std::any_of(problems.begin(), problems.end(), is_error);
    if (auto problem = trailing_bytes(decoded.document, place_.offset)) {
      problems.push_back(std::move(*problem));
      explained = true;
    } else {
      report_.fine(checks::kPickleTrailingBytes);
    }
    if (!explained && is_misnamed(release)) return true;
    if (!explained) add_identity_problems(decoded, problems);
    if (auto problem = pickle_deviation(decoded.document, place_.offset)) {
      problems.push_back(std::move(*problem));
    } else {
      report_.fine(checks::kPickleDeviation);
    }
    for (const Check* check : {&checks::kEntryGuards, &checks::kEntryOutputStrides, &checks::kEntryField,
                               &checks::kEntryConstant, &checks::kEntryClass}) {
      const bool said = std::any_of(problems.begin(), problems.end(),
                                    [&](const Problem& problem) { return problem.check == check; });
      if (!said) report_.fine(*check);
    }
    for (Problem& problem : problems) say(std::move(problem));
    return true;
  }

  std::optional<Problem> wrong_root(const torch::Decoded& decoded) const {
    const bool graph = decoded.output_code() != nullptr;
    const bool aot = decoded.aot_entry() != nullptr;
    if (place_.kind == EntryKind::kFxGraph ? graph : aot) return std::nullopt;
    // torch catches what goes wrong with an AOTAutograd entry and compiles; with a graph it fails.
    const auto severity = place_.kind == EntryKind::kAotAutograd ? Severity::kWarning : Severity::kError;
    const auto problem = [&](std::string message) {
      return Problem{
          &checks::kPickleRootType, {.message = std::move(message), .offset = place_.offset}, severity};
    };
    if (graph) return problem("an FX graph entry in the place of an AOTAutograd entry");
    if (aot) return problem("an AOTAutograd entry in the place of an FX graph entry");
    const auto* other = std::get_if<torch::OtherEntry>(&decoded.entry);
    if (other == nullptr || other->name.empty()) {
      return problem(fmt::format("the pickle holds a {}, not an entry",
                                 pickle::type_name(decoded.document.root().tag())));
    }
    if (is_entry_module(other->module, place_.kind)) return std::nullopt;
    return problem(
        fmt::format("the pickle holds a {}, not an entry", escape_for_terminal(decoded.class_name())));
  }

  std::optional<Problem> new_class(const torch::Decoded& decoded) const {
    if (!std::holds_alternative<torch::OtherEntry>(decoded.entry)) return std::nullopt;
    return Problem{&checks::kEntryClass,
                   {.message = fmt::format("an object of class {}, which no studied release stores",
                                           escape_for_terminal(decoded.class_name())),
                    .offset = place_.offset}};
  }

  /// Compares the name with the content; true, having said so, when they differ.
  bool is_misnamed(const torch::Release& release) {
    if (place_.leaf.empty()) return false;
    const bool graph = place_.kind == EntryKind::kFxGraph;
    const Check& check = graph ? checks::kFxGraphName : checks::kAotAutogradName;
    const bool named_by_content = graph || release.first >= torch::ReleaseFamily::k2_8;
    if (!graph && place_.leaf == "entry" && !named_by_content) {
      report_.not_checkable(check, "up to torch 2.7 each AOTAutograd entry is called `entry`");
      return false;
    }
    const auto name = HashName::parse(place_.leaf);
    if (name && name->prefix == '\0') {
      const HashName actual = torch::content_hash(bytes_);
      if (*name == actual) return report_.fine(check), false;
      say({&check, {.message = fmt::format("the content's hash is {}", actual.str())}});
      return true;
    }
    say({&check,
         {.message =
              fmt::format("`{}` is no name that torch gives an entry", escape_for_terminal(place_.leaf))}});
    return true;
  }

  void add_identity_problems(const torch::Decoded& decoded, std::vector<Problem>& problems) {
    if (const torch::CompiledFxGraph* graph = decoded.fx_graph()) {
      check_key(graph->fx_graph_cache_key, problems);
      check_cache_key(*graph, "", 0, problems);
    }
    const torch::AotAutogradEntry* entry = decoded.aot_entry();
    if (entry == nullptr) return;
    std::size_t number = 0;
    for (const auto* reference : {&entry->compiled_fw, &entry->compiled_bw}) {
      if (!*reference || (*reference)->result == nullptr) continue;
      const auto* graph = std::get_if<torch::CompiledFxGraph>((*reference)->result.get());
      const std::string_view prefix =
          reference == &entry->compiled_fw ? "compiled_fw.result." : "compiled_bw.result.";
      if (graph != nullptr) check_cache_key(*graph, prefix, number++, problems);
    }
  }

  void check_key(const torch::Field<std::string_view>& own, std::vector<Problem>& problems) {
    if (!place_.key) return;
    if (!own) {
      report_.not_checkable(checks::kEntryKey, "the entry doesn't hold its own key (torch up to 2.5)");
      return;
    }
    if (*own == place_.key->str()) return report_.fine(checks::kEntryKey);
    problems.push_back(
        {&checks::kEntryKey,
         {.message = fmt::format("made for key {}", escape_for_terminal(own->substr(0, 64)))}});
  }

  /// The name of a graph's source, from the facts where they have it: hashing it twice would show.
  HashName source_name(const torch::CompiledFxGraph& graph, std::size_t number) const {
    const bool known = known_ != nullptr && number < known_->graphs.size() && known_->graphs[number].source;
    if (known) return known_->graphs[number].source->name;
    return torch::code_hash(torch::python_strip(*graph.source_code));
  }

  /// `number` counts the graphs of the entry, as EntryFacts::graphs does.
  void check_cache_key(const torch::CompiledFxGraph& graph, std::string_view prefix, std::size_t number,
                       std::vector<Problem>& problems) {
    if (!graph.cache_key || !graph.source_code) return;
    const HashName actual = source_name(graph, number);
    if (*graph.cache_key == actual.str()) return report_.fine(checks::kEntryCacheKey);
    problems.push_back(
        {&checks::kEntryCacheKey,
         {.message = fmt::format("{}cache_key is {}, the source's name is {}", prefix,
                                 escape_for_terminal(graph.cache_key->substr(0, 64)), actual.str())}});
  }

  std::string_view bytes_;
  const EntryPlace& place_;
  FileReport& report_;
  const EntryFacts* known_ = nullptr;  ///< of the entry at hand
};

}  // namespace

Expected<std::unique_ptr<EntryFacts>> check_entry_bytes(std::string_view bytes, const EntryPlace& place,
                                                        const store::ReadLimits& limits, FileReport& report,
                                                        const EntryScrutiny& scrutiny) {
  return EntryCheck(bytes, place, report).run(limits, scrutiny);
}

}  // namespace cachetool::verify
