#include "replay/graph_inputs.h"

#include <cstdint>

#include "torch/graph_signature.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;

torch::GraphSignature signature_of(const CompiledFxGraph& graph) {
  torch::GraphSignature signature;
  if (graph.inductor_post_grad_graph_str)
    signature = torch::graph_signature(*graph.inductor_post_grad_graph_str);
  if (signature.inputs.empty() && graph.source_code) signature = torch::wrapper_signature(*graph.source_code);
  return signature;
}

constexpr std::size_t kMaxTextBytes = 16 << 20;

// Copies texts up to a number of bytes in all; what goes beyond that stays empty.
class TextCopier {
 public:
  std::string copy(std::string_view text) {
    if (text.size() > left_) return {};
    left_ -= text.size();
    return std::string(text);
  }

 private:
  std::size_t left_ = kMaxTextBytes;
};

void add_placeholders(const torch::CudagraphCachedInfo& info, std::vector<GraphInput>& inputs) {
  if (!info.placeholders) return;
  inputs.resize(info.placeholders->size());
  TextCopier texts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const torch::PlaceholderInfo& placeholder = (*info.placeholders)[i];
    inputs[i].name = texts.copy(placeholder.name.value_or({}));
    inputs[i].mutation_trace = texts.copy(placeholder.mutating_use_stack_trace.value_or({}));
  }
}

// Positions beyond the inputs are what an entry that was made up has; they are left out.
template <class Mark>
void mark(const torch::Field<torch::Ints>& positions, std::vector<GraphInput>& inputs, Mark member) {
  if (!positions) return;
  for (const std::int64_t position : *positions) {
    if (position >= 0 && static_cast<std::uint64_t>(position) < inputs.size())
      inputs[static_cast<std::size_t>(position)].*member = true;
  }
}

}  // namespace

std::vector<GraphInput> graph_inputs(const CompiledFxGraph& graph) {
  std::vector<GraphInput> inputs;
  if (graph.cudagraph_info) add_placeholders(*graph.cudagraph_info, inputs);
  const torch::GraphSignature signature = signature_of(graph);
  if (inputs.empty()) inputs.resize(signature.inputs.size());
  for (std::size_t i = 0; i < inputs.size() && i < signature.inputs.size(); ++i) {
    const torch::GraphValue& value = signature.inputs[i];
    if (inputs[i].name.empty()) inputs[i].name = value.name;
    inputs[i].is_size = value.dtype == "int";
  }
  if (graph.fx_kwargs) mark(graph.fx_kwargs->static_input_idxs, inputs, &GraphInput::is_static);
  mark(graph.mutated_input_idxs, inputs, &GraphInput::is_mutated);
  return inputs;
}

}  // namespace cachetool::replay
