#include "torch/saved_values.h"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "pickle/policy.h"
#include "torch/plain.h"

namespace cachetool::torch {
namespace {

using pickle::Tag;
using pickle::Value;

constexpr std::size_t kMaxDepth = 8;
constexpr std::uint64_t kValueCost = 2 * sizeof(SavedValue);

constexpr std::string_view kExpected =
    "expected is a dict of tensors by name: torch.save({\"NAME\": tensor, …}, FILE)";

// What a value is that can't be a constant; empty for a tensor that can.
std::string other_than_tensor(const Value& value, const std::optional<Tensor>& tensor) {
  if (!is_tensor(value)) {
    const std::string_view type = pickle::type_name(value.tag());
    const pickle::GlobalNode* cls = class_of(value);
    if (cls != nullptr) return fmt::format("a {}.{}", cls->module, cls->name);
    return value.is_none() ? "None" : fmt::format("a value of type {}", type);
  }
  if (!tensor) return "a tensor with other arguments than torch writes";
  switch (tensor->kind) {
    case TensorKind::kStrided:
      return {};
    case TensorKind::kSparse:
      return "a sparse tensor";
    case TensorKind::kQuantised:
      return "a quantised tensor";
    case TensorKind::kMeta:
      return "a tensor without elements";
    case TensorKind::kWrapper:
    case TensorKind::kFromNumpy:
    case TensorKind::kFromCpu:
      break;
  }
  return "a tensor of a kind that isn't read";
}

// A dict, or an OrderedDict with attributes: the state dict of a module carries _metadata.
std::optional<DictView> named_values(const Value& value) {
  if (is_instance(value, "collections", "OrderedDict") && value.object().args.is(Tag::kTuple) &&
      value.object().args.tuple().size == 0)
    return DictView{{}, value.object().items.pairs()};
  return dict_view(value);
}

// Walks dicts without recursion.
class Flattener {
 public:
  Flattener(Budget& budget, const StorageProvider& storages) : budget_(budget), storages_(storages) {}

  Expected<std::vector<SavedValue>> flatten(const DictView& root) {
    open_.push_back({root, 0, {}});
    while (!open_.empty()) {
      if (open_.back().next == open_.back().dict.size()) {
        open_.pop_back();
        continue;
      }
      const pickle::Pair pair = open_.back().dict[open_.back().next++];
      if (const auto done = take(pair); !done) return tl::unexpected(done.error());
    }
    return std::move(values_);
  }

 private:
  struct Open {
    DictView dict;
    std::size_t next = 0;
    std::string prefix;
  };

  Status take(const pickle::Pair& pair) {
    if (!pair.key.is(Tag::kString) && !pair.key.is(Tag::kInt))
      return fail(ErrorCode::kWrongType, "a dict has a key that is no text");
    const std::string number = pair.key.is(Tag::kInt) ? std::to_string(pair.key.as_int()) : std::string();
    const std::string_view key = pair.key.is(Tag::kInt) ? std::string_view(number) : pair.key.bytes();
    if (!budget_.charge(kValueCost + 2 * (open_.back().prefix.size() + key.size())))
      return fail(ErrorCode::kLimitMemory, "the names of the values don't fit into the memory allowed");
    std::string name = open_.back().prefix + std::string(key);
    if (const auto inner = named_values(pair.value); inner && !is_tensor(pair.value)) {
      if (open_.size() == kMaxDepth)
        return fail(ErrorCode::kLimitDepth, fmt::format("more than {} dicts inside each other", kMaxDepth));
      open_.push_back({*inner, 0, std::move(name) + "."});
      return {};
    }
    if (!names_.insert(name).second)
      return fail(ErrorCode::kMalformed,
                  fmt::format("two values are called '{}'", escape_for_terminal(name)));
    return add(std::move(name), pair.value);
  }

  Status add(std::string name, const Value& value) {
    SavedValue saved;
    auto tensor = is_tensor(value) ? decode_tensor(value, budget_, &storages_) : std::nullopt;
    saved.other = other_than_tensor(value, tensor);
    if (saved.other.empty()) {
      if (!tensor->problem.empty())
        return fail(ErrorCode::kMalformed,
                    fmt::format("value '{}': {}", escape_for_terminal(name), tensor->problem));
      saved.tensor = std::move(tensor);
    }
    saved.name = std::move(name);
    values_.push_back(std::move(saved));
    return {};
  }

  Budget& budget_;
  const StorageProvider& storages_;
  std::vector<Open> open_;
  std::unordered_set<std::string> names_;
  std::vector<SavedValue> values_;
};

}  // namespace

Status refuse_code(const pickle::Document& document, Budget& budget) {
  pickle::PolicyLimits limits;
  limits.source = pickle::PickleSource::kTorchStream;
  limits.max_findings = 1;
  const pickle::PolicyReport report = pickle::judge(document, budget, limits);
  if (report.verdict == pickle::Verdict::kData && report.complete) return {};
  if (report.findings.empty())
    return fail(ErrorCode::kUnsupported, "the pickle couldn't be judged as a whole");
  const pickle::PolicyFinding& finding = report.findings.front();
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("the pickle is not only data: {} {}", escape_for_terminal(finding.subject), finding.reason),
      {}, finding.offset,
      "save tensors and nothing else, as value.detach(); 'cachetool scan FILE' tells all that was found");
}

Expected<std::vector<SavedValue>> saved_values(const pickle::Document& document, Budget& budget,
                                               const StorageProvider& storages) {
  const Value& root = document.root();
  if (is_tensor(root))
    return fail(ErrorCode::kWrongType, fmt::format("holds a tensor without a name; {}", kExpected));
  const auto dict = named_values(root);
  if (!dict)
    return fail(ErrorCode::kWrongType, fmt::format("holds {}; {}", other_than_tensor(root, {}), kExpected));
  return Flattener(budget, storages).flatten(*dict);
}

}  // namespace cachetool::torch
