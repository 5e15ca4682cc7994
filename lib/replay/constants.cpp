#include "replay/constants.h"

#include <unordered_map>
#include <utility>

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;

// Constants as a Python dict holds them: a later one of the same name replaces the value and keeps the place.
class Constants {
 public:
  void set(BoundConstant constant) {
    const auto [known, added] = places_.try_emplace(constant.name, all_.size());
    if (added) {
      all_.push_back(std::move(constant));
    } else {
      all_[known->second] = std::move(constant);
    }
  }
  std::vector<BoundConstant> take() { return std::move(all_); }

 private:
  std::vector<BoundConstant> all_;
  std::unordered_map<std::string, std::size_t> places_;
};

void add_stored(const CompiledFxGraph& graph, Constants& all) {
  if (!graph.constants) return;
  for (const torch::Constant& constant : *graph.constants) {
    const bool is_tensor = constant.tensor.has_value();
    all.set({std::string(constant.name), is_tensor ? &*constant.tensor : nullptr, is_tensor, false});
  }
}

void add_classes(const CompiledFxGraph& graph, Constants& all) {
  if (!graph.opaque_value_type_classes) return;
  for (std::size_t i = 0; i < graph.opaque_value_type_classes->size(); ++i) {
    const pickle::Value& name = (*graph.opaque_value_type_classes)[i].key;
    if (name.is(pickle::Tag::kString)) all.set({std::string(name.bytes()), nullptr, false, false});
  }
}

tl::unexpected<Raised> no_constants(const Rules& rules) {
  return raise("AssertionError", rules.assertion_messages ? "g.constants must not be None" : "",
               "CompiledFxGraphConstants.unwrap: g.constants is not None");
}

}  // namespace

std::vector<FrozenName> frozen_names(const CompiledFxGraph& graph) {
  std::vector<FrozenName> names;
  const bool old = graph.allocated_constant_name.has_value();
  const torch::Field<torch::DictView>& dict = old ? graph.allocated_constant_name : graph.frozen_param_names;
  if (!dict) return names;
  for (std::size_t i = 0; i < dict->size(); ++i) {
    const pickle::Pair& pair = (*dict)[i];
    if (!pair.key.is(pickle::Tag::kString) || !pair.value.is(pickle::Tag::kString)) continue;
    // 2.6 sets the attribute under its own name.
    names.push_back({old ? pair.value.bytes() : pair.key.bytes(), pair.value.bytes()});
  }
  return names;
}

OrRaised<std::vector<BoundConstant>> StoredConstants::unwrap(const CompiledFxGraph& graph,
                                                             const Rules& rules) const {
  Constants all;
  const bool with_module = loaded_by_ == LoadedBy::kFxGraphCache;
  const bool only_frozen = with_module && graph.allocated_constant_name.has_value();
  const bool may_lack = with_module && rules.family >= torch::ReleaseFamily::k2_7;
  if (!only_frozen && !may_lack && !graph.constants) return no_constants(rules);
  if (!only_frozen) add_stored(graph, all);
  if (with_module) {
    for (const FrozenName& frozen : frozen_names(graph)) {
      all.set({std::string(frozen.name), nullptr, true, true});
    }
  }
  if (rules.tensor_constants_only) add_classes(graph, all);
  return all.take();
}

}  // namespace cachetool::replay
