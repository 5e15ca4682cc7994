#include "store/entry_links.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "container/python_literal.h"
#include "torch/wrapper_scan.h"

namespace cachetool::store {
namespace {

using torch::HashName;

void add_triton(GraphLinks& links, std::string_view text, std::string_view name) {
  const HashName module = torch::code_hash(torch::python_strip(text));
  const bool known = std::any_of(links.triton_modules.begin(), links.triton_modules.end(),
                                 [&](const TritonReference& other) { return other.module == module; });
  if (!known) links.triton_modules.push_back({module, std::string(name)});
}

void add_cpp(GraphLinks& links, std::string_view text, std::string_view name) {
  const HashName fingerprint = source_fingerprint(text);
  const bool known = std::any_of(links.cpp_kernels.begin(), links.cpp_kernels.end(),
                                 [&](const CppReference& other) { return other.fingerprint == fingerprint; });
  if (!known) links.cpp_kernels.push_back({fingerprint, std::string(name)});
}

std::size_t skip_blank(std::string_view text, std::size_t position) {
  while (position < text.size() &&
         (text[position] == ' ' || text[position] == '\n' || text[position] == '\t'))
    ++position;
  return position;
}

/// Triton kernels that generated C++ compiles on its first run: their definition stands in it as Python text.
/// torch/_inductor/codegen/cpp_wrapper_gpu.py (2.15).
void add_embedded_triton(GraphLinks& links, std::string_view cpp_text) {
  constexpr std::string_view kCall = "async_compile.triton(";
  for (std::size_t at = cpp_text.find(kCall); at != std::string_view::npos; at = cpp_text.find(kCall, at)) {
    at += kCall.size();
    const std::size_t name_at = skip_blank(cpp_text, at);
    if (!container::starts_python_string(cpp_text, name_at)) continue;
    const auto name = container::read_python_string(cpp_text, name_at);
    if (!name) continue;
    const std::size_t comma = skip_blank(cpp_text, name->end);
    if (comma >= cpp_text.size() || cpp_text[comma] != ',') continue;
    const std::size_t text_at = skip_blank(cpp_text, comma + 1);
    if (!container::starts_python_string(cpp_text, text_at)) continue;
    const auto text = container::read_python_string(cpp_text, text_at);
    if (!text) continue;
    add_triton(links, text->text, name->text);
    at = text->end;
  }
}

/// The literals that the module of a C++ wrapper hands to the compiler: `cpp_wrapper_src = (r'''…''')` and,
/// when the kernels are built apart, `kernel_src`. torch/_inductor/codegen/cpp_wrapper_cpu.py (2.9).
void add_cpp_wrapper(GraphLinks& links, std::string_view source_code) {
  for (const std::string_view opening : {"\ncpp_wrapper_src = (", "\nkernel_src = ("}) {
    const std::size_t found = source_code.find(opening);
    if (found == std::string_view::npos) continue;
    const std::size_t literal_at = skip_blank(source_code, found + opening.size());
    if (!container::starts_python_string(source_code, literal_at)) continue;
    const auto literal = container::read_python_string(source_code, literal_at);
    if (!literal) continue;
    add_cpp(links, literal->text, {});
    add_embedded_triton(links, literal->text);
  }
}

void add_graph(EntryLinks& links, const torch::OutputCode& code) {
  if (const auto* graph = std::get_if<torch::CompiledFxGraph>(&code))
    links.compiled.push_back(links_of(*graph));
}

void add_reference(EntryLinks& links, const torch::Field<torch::CompiledGraphRef>& reference) {
  if (!reference) return;
  if (reference->result) add_graph(links, *reference->result);
  if (!reference->fx_graph_cache_key) return;
  const auto key = HashName::parse(*reference->fx_graph_cache_key);
  if (key && std::find(links.graphs.begin(), links.graphs.end(), *key) == links.graphs.end())
    links.graphs.push_back(*key);
}

}  // namespace

GraphLinks links_of(const torch::CompiledFxGraph& graph) {
  GraphLinks links;
  if (graph.cache_key) links.wrapper = HashName::parse(*graph.cache_key);
  if (graph.source_code) {
    const torch::WrapperScan scan = torch::scan_wrapper(*graph.source_code);
    for (const torch::WrapperKernel& kernel : scan.kernels) {
      if (kernel.kind == torch::KernelKind::kTriton) add_triton(links, kernel.text, kernel.name);
      if (kernel.kind == torch::KernelKind::kCppPybinding || kernel.kind == torch::KernelKind::kCpp) {
        add_cpp(links, kernel.text, kernel.name);
      }
    }
    add_cpp_wrapper(links, *graph.source_code);
  }
  if (graph.triton_bundle) {
    for (const torch::TritonKernelArtifacts& kernel : graph.triton_bundle->kernel_artifacts) {
      if (kernel.kernel_hash) links.triton_directories.emplace_back(*kernel.kernel_hash);
    }
  }
  return links;
}

EntryLinks links_of(const torch::Decoded& decoded) {
  EntryLinks links;
  if (const torch::OutputCode* code = decoded.output_code()) add_graph(links, *code);
  if (const torch::AotAutogradEntry* entry = decoded.aot_entry()) {
    add_reference(links, entry->compiled_fw);
    add_reference(links, entry->compiled_bw);
  }
  return links;
}

HashName source_fingerprint(std::string_view kernel_text) {
  return torch::content_hash(torch::python_strip(kernel_text));
}

HashName file_fingerprint(std::string_view file_text) {
  const std::size_t binding = file_text.find("\n// Python bindings to call");
  return source_fingerprint(file_text.substr(0, binding));
}

}  // namespace cachetool::store
