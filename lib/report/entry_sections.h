#pragma once

#include "report/entry_report.h"
#include "report/section.h"

namespace cachetool::report {

// The sections of `show`, each written by its own file.

/// Inputs and outputs, guards, constants, kernels, CUDA graphs and times of a compiled graph.
void write_graph_sections(SectionWriter& sections, const torch::CompiledFxGraph& graph,
                          std::string_view role);

/// What an AOTAutograd entry knows beyond its graphs: inputs and outputs as autograd sees them, wrappers,
/// options, times.
void write_aot_sections(SectionWriter& sections, const torch::AotAutogradEntry& entry);

/// "float32 [8, 4]" and so on: a table of tensors.
std::vector<Column> value_columns();

}  // namespace cachetool::report
