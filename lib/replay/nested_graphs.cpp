#include "replay/nested_graphs.h"

#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/policy_nested.h"
#include "torch/decode.h"

namespace cachetool::replay {
namespace {

// Every bytes object of a pickle that is a pickle itself, in order.
std::vector<std::string_view> nested_pickles(const pickle::Document& document, std::size_t input_bytes) {
  std::vector<std::string_view> found;
  pickle::NodeSet seen(input_bytes);
  std::vector<pickle::Value> pending{document.root()};
  std::vector<pickle::Value> children;
  while (!pending.empty()) {
    const pickle::Value value = pending.back();
    pending.pop_back();
    if (value.is(pickle::Tag::kBytes) && pickle::payload_of(value.bytes()) == pickle::Payload::kPickle)
      found.push_back(value.bytes());
    if (!pickle::is_node(value) || !seen.insert(value)) continue;
    children.clear();
    pickle::visit_children(value, [&](const pickle::Value& child) { children.push_back(child); });
    pending.insert(pending.end(), children.rbegin(), children.rend());
  }
  return found;
}

void add(const torch::OutputCode& code, std::vector<std::string>& names) {
  const auto* graph = std::get_if<torch::CompiledFxGraph>(&code);
  if (graph == nullptr) return;
  const std::string_view key = graph->fx_graph_cache_key.value_or({});
  names.emplace_back(key.empty() ? graph->cache_key.value_or({}) : key);
}

}  // namespace

std::vector<std::string> nested_graphs(const torch::RegionalOutputCode& code, Budget& budget) {
  std::vector<std::string> names;
  if (!code.serialized_graph_module) return names;
  const auto document = pickle::parse(*code.serialized_graph_module, budget);
  if (!document) return names;
  for (const std::string_view bytes : nested_pickles(*document, code.serialized_graph_module->size())) {
    const auto decoded = torch::decode_entry(bytes, budget);
    if (!decoded) continue;
    if (const torch::OutputCode* graph = decoded->output_code()) add(*graph, names);
    const torch::AotAutogradEntry* aot = decoded->aot_entry();
    if (aot == nullptr) continue;
    for (const torch::Field<torch::CompiledGraphRef>* part : {&aot->compiled_fw, &aot->compiled_bw}) {
      if (!*part) continue;
      if ((*part)->result != nullptr) {
        add(*(*part)->result, names);
      } else if ((*part)->fx_graph_cache_key) {
        names.emplace_back(*(*part)->fx_graph_cache_key);
      }
    }
  }
  return names;
}

}  // namespace cachetool::replay
