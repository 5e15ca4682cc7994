#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/entry_sections.h"
#include "torch/graph_signature.h"
#include "torch/launches.h"
#include "torch/wrapper_scan.h"

namespace cachetool::report {
namespace {

constexpr std::size_t kOperators = 8;

using torch::CompiledFxGraph;
using torch::GraphSignature;

std::string titled(std::string_view title, std::string_view role) {
  return role.empty() ? std::string(title) : fmt::format("{} ({})", title, role);
}

template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& item : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", item);
  return text;
}

std::set<std::int64_t> as_set(const torch::Field<torch::Ints>& field) {
  std::set<std::int64_t> set;
  if (field) set.insert(field->begin(), field->end());
  return set;
}

// The signature from the printed graph, else from the wrapper's own test inputs.
GraphSignature signature_of(const CompiledFxGraph& graph) {
  GraphSignature signature;
  if (graph.inductor_post_grad_graph_str)
    signature = torch::graph_signature(*graph.inductor_post_grad_graph_str);
  if (signature.empty() && graph.source_code) signature = torch::wrapper_signature(*graph.source_code);
  return signature;
}

std::vector<Cell> value_row(const torch::GraphValue& value, std::size_t index, std::string notes) {
  const bool symbolic = value.dtype == "int";
  const auto bracketed = [](const std::string& text) { return "[" + text + "]"; };
  return {{std::to_string(index)},
          {value.name, Style::kName},
          {value.dtype},
          {symbolic              ? value.size
           : value.dtype.empty() ? ""
                                 : bracketed(value.size)},
          {symbolic || value.dtype.empty() ? "" : bracketed(value.stride)},
          {value.device},
          {std::move(notes)}};
}

void write_inputs(SectionWriter& sections, const CompiledFxGraph& graph, const GraphSignature& signature,
                  std::string_view role) {
  std::set<std::int64_t> fixed;
  if (graph.fx_kwargs) fixed = as_set(graph.fx_kwargs->static_input_idxs);
  const std::set<std::int64_t> mutated = as_set(graph.mutated_input_idxs);
  const std::set<std::int64_t> checked = as_set(graph.inputs_to_check);
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    std::vector<std::string> notes;
    const auto index = static_cast<std::int64_t>(i);
    if (fixed.contains(index)) notes.emplace_back("static");
    if (mutated.contains(index)) notes.emplace_back("mutated");
    if (checked.contains(index)) notes.emplace_back("alignment checked");
    rows.push_back(value_row(signature.inputs[i], i, joined(notes)));
  }
  sections.title(titled("Inputs", role));
  sections.table(value_columns(), std::move(rows));
}

// `('16', '1')` of output_strides as "16, 1".
std::string stride_text(const pickle::Value& strides) {
  std::string text;
  for (const pickle::Value& stride : pickle::items_of(strides)) {
    if (!text.empty()) text += ", ";
    text += stride.is(pickle::Tag::kInt) ? std::to_string(stride.as_int())
                                         : std::string(pickle::text_or(stride, "?"));
  }
  return text;
}

void write_outputs(SectionWriter& sections, const CompiledFxGraph& graph, GraphSignature signature,
                   std::string_view role) {
  // What the entry itself says of its outputs: strides, and which are no tensors.
  if (graph.output_strides) {
    const std::size_t count = graph.output_strides->size();
    if (signature.outputs.size() != count) signature.outputs.assign(count, {});
    for (std::size_t i = 0; i < count; ++i) {
      const pickle::Value strides = (*graph.output_strides)[i];
      torch::GraphValue& output = signature.outputs[i];
      if (strides.is_none()) continue;
      if (output.dtype.empty()) output.dtype = "tensor", output.size = "?";
      output.stride = stride_text(strides);
    }
  }
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
    rows.push_back(value_row(signature.outputs[i], i, signature.outputs[i].dtype.empty() ? "no tensor" : ""));
  }
  sections.title(titled("Outputs", role));
  sections.table(value_columns(), std::move(rows));
}

void write_constants(SectionWriter& sections, const CompiledFxGraph& graph, std::string_view role) {
  if (graph.constants) {
    std::vector<std::vector<Cell>> rows;
    for (const torch::Constant& constant : *graph.constants) {
      if (!constant.tensor) {
        rows.push_back({{std::string(constant.name), Style::kName}, {"no tensor"}, {}, {}, {}, {}, {}});
        continue;
      }
      const torch::Tensor& tensor = *constant.tensor;
      std::string notes = tensor.is_parameter ? "parameter" : "";
      if (tensor.storage_offset != 0)
        notes += fmt::format("{}offset {}", notes.empty() ? "" : ", ", tensor.storage_offset);
      if (!tensor.problem.empty()) notes += (notes.empty() ? "" : ", ") + tensor.problem;
      rows.push_back({{std::string(constant.name), Style::kName},
                      {std::string(tensor.dtype)},
                      {"[" + joined(tensor.size) + "]"},
                      {"[" + joined(tensor.stride) + "]"},
                      {tensor.device_text()},
                      {tensor.storage ? sections.look().size(tensor.storage->bytes.size()) : ""},
                      {std::move(notes), tensor.problem.empty() ? Style::kPlain : Style::kBad}});
    }
    sections.title(titled("Constants", role));
    sections.table({{"NAME"}, {"DTYPE"}, {"SHAPE"}, {"STRIDE"}, {"DEVICE"}, {"STORAGE", Align::kRight}, {""}},
                   std::move(rows));
  }
  sections.title(titled("Frozen parameters, by the attribute that supplies them", role));
  for (const auto* names : {&graph.frozen_param_names, &graph.allocated_constant_name}) {
    if (!*names) continue;
    for (std::size_t i = 0; i < (*names)->size(); ++i) {
      const pickle::Pair& pair = (**names)[i];
      sections.field(pickle::text_or(pair.key, "?"), pickle::text_or(pair.value, "?"));
    }
  }
}

void write_kernels(SectionWriter& sections, const CompiledFxGraph& graph, std::string_view role) {
  if (!graph.source_code) return;
  const torch::WrapperScan scan = torch::scan_wrapper(*graph.source_code);
  std::vector<std::vector<Cell>> rows;
  for (const torch::WrapperKernel& kernel : scan.kernels) {
    const auto calls =
        std::count_if(scan.launches.begin(), scan.launches.end(),
                      [&](const torch::WrapperLaunch& launch) { return launch.kernel == kernel.name; });
    rows.push_back({{std::string(kernel.name), Style::kName},
                    {std::string(torch::kernel_kind_name(kernel.kind))},
                    {std::to_string(calls)},
                    {std::to_string(kernel.line)}});
  }
  sections.title(titled("Kernels", role));
  if (scan.cpp_wrapper) sections.field("wrapper", "C++: the kernels are inside it");
  sections.table({{"NAME", Align::kLeft, 24}, {"KIND"}, {"CALLS", Align::kRight}, {"LINE", Align::kRight}},
                 std::move(rows));
  if (!graph.triton_bundle) return;
  const torch::TritonBundle& bundle = *graph.triton_bundle;
  std::uint64_t bytes = 0;
  for (const auto& kernel : bundle.kernel_artifacts) {
    for (const auto& artifact : kernel.artifacts) bytes += artifact.payload.size();
  }
  if (bundle.kernel_artifacts.empty()) return;
  sections.field("Triton bundle", fmt::format("{}, {}, {} with a static launcher",
                                              counted(bundle.kernel_artifacts.size(), "kernel", "kernels"),
                                              sections.look().size(bytes), bundle.static_autotuners.size()));
}

std::string yes_no(const torch::Field<bool>& field) {
  if (!field) return {};
  return *field ? "yes" : "no";
}

// The key's text of the device is a Python dictionary; where it holds a name and nothing else, the name says
// it.
std::string_view device_name(std::string_view text) {
  constexpr std::string_view kBefore = "{'name': '";
  constexpr std::string_view kAfter = "'}";
  if (!text.starts_with(kBefore) || !text.ends_with(kAfter)) return text;
  const std::string_view name = text.substr(kBefore.size(), text.size() - kBefore.size() - kAfter.size());
  return name.find('\'') == std::string_view::npos ? name : text;
}

// Stored facts only: what torch decides takes its settings and the machine too.
void write_cudagraphs(SectionWriter& sections, const CompiledFxGraph& graph, std::string_view role) {
  sections.title(titled("CUDA graphs, as stored", role));
  if (graph.fx_kwargs) sections.field("asked for", yes_no(graph.fx_kwargs->cudagraphs));
  if (graph.disabled_cudagraphs_reason) {
    sections.prose("reason", *graph.disabled_cudagraphs_reason, Style::kWarning);
  }
  if (graph.cudagraph_info) {
    const torch::CudagraphCachedInfo& info = *graph.cudagraph_info;
    if (info.placeholders)
      sections.field("info", counted(info.placeholders->size(), "placeholder", "placeholders"));
    if (info.cudagraph_fail_reasons) {
      for (const std::string_view reason : *info.cudagraph_fail_reasons) {
        sections.prose("fail reason", reason, Style::kWarning);
      }
    }
  } else if (graph.cudagraph_info.is_none()) {
    sections.field("info", "none");
  }
  if (graph.partition_maps) {
    sections.field("partitions", std::to_string(graph.partition_maps->size()));
    for (const torch::GraphPartitionMap& map : *graph.partition_maps) {
      sections.field(
          map.id ? fmt::format("  partition {}", *map.id) : "  partition",
          fmt::format(
              "{}, {}, {}",
              counted(map.input_index_mapping ? map.input_index_mapping->size() : 0, "input", "inputs"),
              counted(map.output_index_mapping ? map.output_index_mapping->size() : 0, "output", "outputs"),
              counted(map.constant_names ? map.constant_names->size() : 0, "constant", "constants")));
    }
  }
  sections.field("kernel-free", yes_no(graph.kernel_free_cudagraph));
}

void write_facts(SectionWriter& sections, const CompiledFxGraph& graph, std::string_view role) {
  sections.title(titled("Graph", role));
  if (graph.source_code) {
    sections.field("name", torch::graph_label(*graph.source_code));
    auto operators = torch::first_operators(*graph.source_code, kOperators);
    if (operators.empty() && graph.inductor_post_grad_graph_str) {
      operators = torch::first_operators(*graph.inductor_post_grad_graph_str, kOperators);
    }
    sections.field("operators", joined(operators));
  }
  if (graph.device_types) sections.field("devices", joined(*graph.device_types));
  if (graph.device_idxs) sections.field("device indices", joined(*graph.device_idxs));
  if (graph.cache_key) sections.field("wrapper", *graph.cache_key);
  if (graph.fx_kwargs) {
    const torch::FxKwargs& kwargs = *graph.fx_kwargs;
    sections.field("inference", yes_no(kwargs.is_inference));
    sections.field("backward", yes_no(kwargs.is_backward));
    sections.field("C++ wrapper", yes_no(kwargs.cpp_wrapper));
  }
  if (graph.key_details) sections.field("GPU", device_name(graph.key_details->device()));
  if (graph.time_taken_ns) sections.field("compile time", format_duration(*graph.time_taken_ns));
  if (graph.key_details && !graph.key_details->empty()) {
    sections.field("key details",
                   counted(graph.key_details->size(), "component", "components") + ", see --key-details");
  }
}

}  // namespace

std::vector<Column> value_columns() {
  return {{"#", Align::kRight},        {"NAME", Align::kLeft, 12},   {"DTYPE"},
          {"SHAPE", Align::kLeft, 12}, {"STRIDE", Align::kLeft, 12}, {"DEVICE"},
          {"NOTES", Align::kLeft, 8}};
}

void write_graph_sections(SectionWriter& sections, const CompiledFxGraph& graph, std::string_view role) {
  write_facts(sections, graph, role);
  const GraphSignature signature = signature_of(graph);
  write_inputs(sections, graph, signature, role);
  write_outputs(sections, graph, signature, role);
  sections.title(titled("Guards", role));
  if (graph.guards_expr) sections.text(*graph.guards_expr);
  write_constants(sections, graph, role);
  write_kernels(sections, graph, role);
  write_cudagraphs(sections, graph, role);
}

}  // namespace cachetool::report
