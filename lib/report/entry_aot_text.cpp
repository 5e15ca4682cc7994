#include <fmt/format.h>

#include "report/entry_sections.h"
#include "torch/graph_signature.h"

namespace cachetool::report {
namespace {

using torch::AotAutogradEntry;

void add(std::string& notes, bool when, std::string_view note) {
  if (!when) return;
  if (!notes.empty()) notes += ", ";
  notes += note;
}

bool holds(const torch::Field<bool>& field) {
  return field && *field;
}

std::string input_notes(const torch::InputAliasInfo& info) {
  std::string notes;
  add(notes, holds(info.requires_grad), "requires grad");
  add(notes, holds(info.mutates_data), "data mutated");
  add(notes, holds(info.mutates_metadata), "metadata mutated");
  add(notes, holds(info.mutates_storage_metadata), "storage mutated");
  if (info.mutation_type) {
    const auto is = [&](torch::MutationType type) {
      return *info.mutation_type == static_cast<std::int64_t>(type);
    };
    add(notes, is(torch::MutationType::kMutatedInGraph), "by the graph");
    add(notes, is(torch::MutationType::kMutatedOutGraph), "after the graph");
  }
  return notes;
}

std::string output_notes(const torch::OutputAliasInfo& info) {
  std::string notes;
  if (info.output_type) {
    add(notes, *info.output_type != static_cast<std::int64_t>(torch::OutputType::kNonAlias),
        torch::output_type_name(*info.output_type));
  }
  if (info.base_idx) add(notes, true, fmt::format("base {}", *info.base_idx));
  add(notes, holds(info.requires_grad), "requires grad");
  return notes;
}

std::vector<Cell> value_row(const torch::GraphValue& value, std::size_t index, std::string notes) {
  return {{std::to_string(index)},
          {value.name, Style::kName},
          {value.dtype},
          {value.dtype.empty() ? "" : "[" + value.size + "]"},
          {value.dtype.empty() ? "" : "[" + value.stride + "]"},
          {value.device},
          {std::move(notes)}};
}

// Forward inputs and outputs from the printed forward graph, with what runtime_metadata says of each.
void write_values(SectionWriter& sections, const AotAutogradEntry& entry) {
  torch::GraphSignature signature;
  if (entry.aot_forward_graph_str) signature = torch::graph_signature(*entry.aot_forward_graph_str);
  if (!entry.runtime_metadata) return;
  const torch::ViewAndMutationMeta& metadata = *entry.runtime_metadata;
  const auto value_at = [](const std::vector<torch::GraphValue>& values, std::size_t i) {
    return i < values.size() ? values[i] : torch::GraphValue{};
  };
  std::vector<std::vector<Cell>> rows;
  if (metadata.input_info) {
    for (std::size_t i = 0; i < metadata.input_info->size(); ++i) {
      rows.push_back(value_row(value_at(signature.inputs, i), i, input_notes((*metadata.input_info)[i])));
    }
  }
  sections.title("Inputs of the forward graph");
  sections.table(value_columns(), std::move(rows));
  rows.clear();
  if (metadata.output_info) {
    // Mutated inputs come first among the graph's outputs.
    const std::size_t before =
        metadata.mutated_inp_runtime_indices ? metadata.mutated_inp_runtime_indices->size() : 0;
    for (std::size_t i = 0; i < metadata.output_info->size(); ++i) {
      rows.push_back(
          value_row(value_at(signature.outputs, before + i), i, output_notes((*metadata.output_info)[i])));
    }
  }
  sections.title("Outputs that the user sees");
  sections.table(value_columns(), std::move(rows));
}

void write_graph_reference(SectionWriter& sections, std::string_view label,
                           const torch::Field<torch::CompiledGraphRef>& reference) {
  if (reference.is_none()) return sections.field(label, "none");
  if (!reference) return;
  if (reference->result != nullptr) return sections.field(label, "held in this entry");
  if (reference->fx_graph_cache_key) sections.field(label, *reference->fx_graph_cache_key, Style::kName);
  if (reference->fx_graph_guard_expr && !reference->fx_graph_guard_expr->empty()) {
    sections.field("  its guard", *reference->fx_graph_guard_expr);
  }
}

std::string number(const torch::Field<std::int64_t>& field) {
  return field ? std::to_string(*field) : std::string();
}
std::string count_of(const torch::Field<torch::Ints>& field) {
  return field ? std::to_string(field->size()) : std::string();
}

void write_metadata(SectionWriter& sections, const AotAutogradEntry& entry) {
  sections.title("Autograd");
  sections.field("saved values", number(entry.num_fw_outs_saved_for_bw));
  if (entry.runtime_metadata) {
    const torch::ViewAndMutationMeta& metadata = *entry.runtime_metadata;
    sections.field("saved symbols", number(metadata.num_symints_saved_for_bw));
    sections.field("donated", count_of(metadata.bw_donated_idxs));
    sections.field("static inputs", count_of(metadata.static_input_indices));
    sections.field("output aliases", number(metadata.num_outputs_aliased));
    sections.field("runtime mutated", count_of(metadata.mutated_inp_runtime_indices));
    if (metadata.subclass_inputs != 0)
      sections.field("subclass inputs", std::to_string(metadata.subclass_inputs));
    if (metadata.dynamic_outputs) sections.field("dynamic output", *metadata.dynamic_outputs ? "yes" : "no");
  }
  if (entry.sanitized_aot_config) {
    sections.field("AOT id", number(entry.sanitized_aot_config->aot_id));
    sections.field("parameters", number(entry.sanitized_aot_config->num_params_buffers));
  }
  if (entry.serialized_bw_module) sections.field("lazy backward", "its graph module is stored");
}

}  // namespace

void write_aot_sections(SectionWriter& sections, const AotAutogradEntry& entry) {
  sections.title("Graphs");
  write_graph_reference(sections, "forward", entry.compiled_fw);
  write_graph_reference(sections, "backward", entry.compiled_bw);
  write_values(sections, entry);
  sections.title("Guards");
  if (entry.guards_expr) sections.text(*entry.guards_expr);
  write_metadata(sections, entry);
  sections.title("Times");
  if (entry.forward_time_taken_ns) sections.field("forward", format_duration(*entry.forward_time_taken_ns));
  if (entry.backward_time_taken_ns)
    sections.field("backward", format_duration(*entry.backward_time_taken_ns));
}

}  // namespace cachetool::report
