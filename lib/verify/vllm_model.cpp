#include "verify/vllm_model.h"

#include <map>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "pickle/document.h"
#include "torch/plain.h"
#include "verify/damage.h"
#include "verify/entry_bytes.h"
#include "verify/pickle_problems.h"
#include "verify/structure_checks.h"
#include "verify/vllm_checks.h"

namespace cachetool::verify {
namespace {

using pickle::Tag;
using pickle::Value;

bool is_limit(ErrorCode code) {
  return code == ErrorCode::kLimitMemory || code == ErrorCode::kLimitWork || code == ErrorCode::kLimitDepth ||
         code == ErrorCode::kLimitSize;
}

/// The value of a dict under a string key; null when there is none.
const Value* member(const Value& value, std::string_view name) {
  const auto dict = torch::dict_view(value);
  return dict ? torch::find(*dict, name) : nullptr;
}

/// The same of an instance.
const Value* attribute(const Value& value, std::string_view name) {
  if (!value.is(Tag::kObject)) return nullptr;
  const Value* found = nullptr;
  torch::for_each_state(value.object(), [&](const pickle::DictNode& state) {
    for (const pickle::Pair& pair : state.pairs())
      if (pair.key.is(Tag::kString) && pair.key.bytes() == name) found = &pair.value;
  });
  return found;
}

/// The bytes that `compiled_fn` is made from: the last item of a pair of function and bytes.
std::optional<std::string_view> artifact_bytes(const Value& compiled) {
  std::span<const Value> items;
  if (compiled.is(Tag::kTuple)) items = compiled.tuple().items();
  if (compiled.is(Tag::kObject) && compiled.object().args.is(Tag::kTuple))
    items = compiled.object().args.tuple().items();
  if (items.empty() || !items.back().is(Tag::kBytes)) return std::nullopt;
  return items.back().bytes();
}

class ModelCheck {
 public:
  ModelCheck(std::string_view bytes, const FileInput& input, FileReport& report)
      : bytes_(bytes), input_(input), report_(report), budget_(input.options().limits.budget(bytes.size())) {}

  Status run() {
    auto document = pickle::parse(bytes_, budget_);
    if (!document) {
      auto problem = pickle_failure(document.error(), 0);
      if (!problem) return tl::unexpected(std::move(document.error()));
      report_damage(input_, report_, *problem->check, problem->text.message, problem->text.offset);
      return {};
    }
    if (auto problem = trailing_bytes(*document, 0)) {
      report_damage(input_, report_, *problem->check, problem->text.message, problem->text.offset);
      return {};
    }
    const Value* compiled = member(document->root(), "compiled_fn");
    const auto artifact = compiled == nullptr ? std::nullopt : artifact_bytes(*compiled);
    if (!artifact) return unreadable("no compiled function in it");
    return check_function(*artifact);
  }

 private:
  std::uint64_t offset_of(std::string_view part) const {
    return static_cast<std::uint64_t>(part.data() - bytes_.data());
  }

  Status unreadable(std::string message, std::optional<std::uint64_t> offset = {}) {
    report_damage(input_, report_, checks::kVllmModel, std::move(message), offset);
    return {};
  }

  /// vLLM's own dict, or torch's bundle where vLLM hands the graph to torch as a whole.
  Status check_function(std::string_view artifact) {
    auto document = pickle::parse(artifact, budget_);
    if (!document) {
      if (is_limit(document.error().code)) return tl::unexpected(std::move(document.error()));
      return unreadable("the compiled function's pickle is damaged: " + document.error().message,
                        offset_of(artifact) + document.error().offset.value_or(0));
    }
    if (!document->root().is(Tag::kDict)) return check_bundle("bundle", artifact);
    report_.fine(checks::kVllmModel);
    const Value* parts = member(document->root(), "standalone_compile_artifacts");
    if (parts == nullptr || parts->is_none()) return {};
    const Value* names = attribute(*parts, "submodule_bytes");
    const Value* store = attribute(*parts, "submodule_bytes_store");
    const auto names_view = names == nullptr ? std::nullopt : torch::dict_view(*names);
    const auto store_view = store == nullptr ? std::nullopt : torch::dict_view(*store);
    if (!names_view || !store_view)
      return unreadable("no tables of compiled parts in it", offset_of(artifact));
    if (names_view->size() == 0 || store_view->size() == 0) {
      report_.found(checks::kVllmModelEmpty, {.message = "it loads, and runs without what was compiled",
                                              .offset = offset_of(artifact),
                                              .repair = loss_of(input_).repair});
      return {};
    }
    report_.fine(checks::kVllmModelEmpty);
    return check_parts(*names_view, *store_view);
  }

  Status check_parts(const torch::DictView& names, const torch::DictView& store) {
    std::map<std::string_view, std::string_view> name_of;  // digest → first part of that content
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].key.is(Tag::kString) || !names[i].value.is(Tag::kString)) continue;
      name_of.try_emplace(names[i].value.bytes(), names[i].key.bytes());
    }
    for (std::size_t i = 0; i < store.size(); ++i) {
      if (!store[i].key.is(Tag::kString) || !store[i].value.is(Tag::kBytes)) continue;
      const std::string_view content = store[i].value.bytes();
      const auto named = name_of.extract(store[i].key.bytes());
      const std::string part(named.empty() ? store[i].key.bytes() : named.mapped());
      if (to_hex(sha256(content)) != store[i].key.bytes()) {
        digest_problem(part + " isn't what its digest says", offset_of(content));
        continue;
      }
      report_.fine(checks::kVllmModelDigest);
      if (auto done = check_part(part, content); !done) return done;
    }
    if (!name_of.empty())
      digest_problem(fmt::format("the content of {} isn't there", name_of.begin()->second), std::nullopt);
    return {};
  }

  void digest_problem(const std::string& message, std::optional<std::uint64_t> offset) {
    report_.found(
        checks::kVllmModelDigest,
        {.message = escape_for_terminal(message), .offset = offset, .repair = loss_of(input_).repair});
  }

  /// A pickle of the bytes of a pickled entry.
  Status check_part(const std::string& name, std::string_view content) {
    auto document = pickle::parse(content, budget_);
    if (!document && is_limit(document.error().code)) return tl::unexpected(std::move(document.error()));
    if (!document || !document->root().is(Tag::kBytes)) return check_bundle(name, content);
    return check_bundle(name, document->root().bytes());
  }

  Status check_bundle(std::string_view name, std::string_view bytes) {
    FileReport part(report_.root(), fmt::format("{}!{}", report_.path(), name));
    const EntryPlace place{torch::EntryKind::kAotAutograd, {}, {}, offset_of(bytes)};
    auto facts = check_entry_bytes(bytes, place, input_.options().limits, part);
    if (!facts) return tl::unexpected(std::move(facts.error()));
    report_.add(std::move(part));
    return {};
  }

  std::string_view bytes_;
  const FileInput& input_;
  FileReport& report_;
  Budget budget_;
};

}  // namespace

Expected<Facts> check_vllm_model(FileInput& input, FileReport& report) {
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  if (input.depth() == Depth::kQuick) return Facts{};
  const auto bytes = input.whole();
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto done = ModelCheck(*bytes, input, report).run(); !done)
    return tl::unexpected(std::move(done.error()));
  return Facts{};
}

}  // namespace cachetool::verify
