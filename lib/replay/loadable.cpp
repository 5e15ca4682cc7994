#include "replay/loadable.h"

#include <fmt/format.h>

#include "pickle/policy.h"
#include "torch/plain.h"

namespace cachetool::replay {
namespace {

// A standalone artifact's tuple decodes as the entry inside, but torch sees the tuple.
bool root_is_the_entry(const torch::Decoded& decoded) {
  return identical(decoded.object(), decoded.document.root());
}

template <class Record>
GuardsField field_of(const Record& record) {
  return {record.guards_expr.state(), record.guards_expr.value_or({})};
}

}  // namespace

std::string why_it_may_not_load(const store::OpenedEntry& entry) {
  std::string names;
  std::size_t count = 0;
  for (const pickle::Value& value : entry.decoded.document.globals()) {
    const pickle::GlobalNode& global = value.global();
    if (pickle::classify_global(global.module, global.name) == pickle::Verdict::kData) continue;
    if (++count == 1) names = fmt::format("{}.{}", global.module, global.name);
  }
  if (count == 0) return {};
  if (count > 1) names += fmt::format(" and {} more", count - 1);
  return fmt::format("it names {}, which no studied torch stores", names);
}

bool has_unknown_root(const store::OpenedEntry& entry) {
  const torch::Decoded& decoded = entry.decoded;
  if (decoded.fx_graph() != nullptr || decoded.aot_entry() != nullptr) return false;
  const pickle::GlobalNode* cls = torch::class_of(decoded.document.root());
  return cls != nullptr && pickle::classify_global(cls->module, cls->name) != pickle::Verdict::kData;
}

GuardsField guards_of(const store::OpenedEntry& entry) {
  if (!root_is_the_entry(entry.decoded)) return {};
  if (const auto* graph = entry.decoded.fx_graph()) return field_of(*graph);
  if (const auto* aot = entry.decoded.aot_entry()) return field_of(*aot);
  return {};
}

std::string type_of(const store::OpenedEntry& entry) {
  const pickle::Value& root = entry.decoded.document.root();
  if (const pickle::GlobalNode* cls = torch::class_of(root)) return std::string(cls->name);
  return std::string(pickle::type_name(root.tag()));
}

std::string type_repr(const store::OpenedEntry& entry) {
  const pickle::Value& root = entry.decoded.document.root();
  if (const pickle::GlobalNode* cls = torch::class_of(root))
    return fmt::format("<class '{}.{}'>", cls->module, cls->name);
  return fmt::format("<class '{}'>", pickle::type_name(root.tag()));
}

}  // namespace cachetool::replay
