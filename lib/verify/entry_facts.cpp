#include "verify/entry_facts.h"

#include <algorithm>
#include <utility>

#include "verify/content_mark.h"

namespace cachetool::verify {
namespace {

using torch::HashName;

std::string text_of(const torch::Field<std::string_view>& field) {
  return std::string(field.value_or({}));
}

/// Texts are shared in a pickle, so copying each of them can take far more than the entry's own bytes.
class Copies {
 public:
  explicit Copies(std::uint64_t entry_bytes) : left_(entry_bytes * 4 + (std::uint64_t{1} << 20)) {}
  bool take(std::uint64_t bytes) {
    const std::uint64_t taken = std::min(left_, bytes);
    left_ -= taken;
    return taken == bytes;
  }
  bool take(const torch::Field<std::string_view>& field) { return take(field.value_or({}).size()); }

 private:
  std::uint64_t left_;
};

bool fits(const torch::TritonBundle& bundle, Copies& copies) {
  bool ok = true;
  for (const torch::TritonKernelArtifacts& kernel : bundle.kernel_artifacts) {
    ok = ok && copies.take(kernel.kernel_hash) && copies.take(kernel.kernel_hash);  // once more in the links
    for (const torch::TritonArtifact& artifact : kernel.artifacts)
      ok = ok && copies.take(artifact.filename.size());
  }
  for (const torch::StaticAutotuner& autotuner : bundle.static_autotuners) {
    for (const torch::StaticKernel& kernel : autotuner.kernels)
      ok = ok && copies.take(autotuner.kernel_name) && copies.take(kernel.name) && copies.take(kernel.hash);
  }
  return ok;
}

void add_bundle(const torch::TritonBundle& bundle, GraphFacts& facts) {
  for (const torch::TritonKernelArtifacts& kernel : bundle.kernel_artifacts) {
    std::vector<std::pair<std::string_view, std::uint64_t>> files;
    for (const torch::TritonArtifact& artifact : kernel.artifacts)
      files.emplace_back(artifact.filename, content_mark(artifact.payload));
    std::sort(files.begin(), files.end());
    BundledKernelFacts bundled{text_of(kernel.kernel_hash), {}, {}};
    for (const auto& [name, content] : files) {
      bundled.files.emplace_back(name);
      bundled.contents.push_back(content);
    }
    facts.bundle.push_back(std::move(bundled));
  }
  for (const torch::StaticAutotuner& autotuner : bundle.static_autotuners) {
    for (const torch::StaticKernel& kernel : autotuner.kernels) {
      facts.static_kernels.push_back({text_of(autotuner.kernel_name), text_of(kernel.name),
                                      text_of(kernel.hash), kernel.cubin_raw.has_value()});
    }
  }
}

bool names_frozen(const torch::CompiledFxGraph& graph) {
  return (graph.frozen_param_names && graph.frozen_param_names->size() > 0) ||
         (graph.allocated_constant_name && graph.allocated_constant_name->size() > 0);
}

/// False when the copies would come to too much.
bool add_graph(const torch::CompiledFxGraph& graph, Copies& copies, EntryFacts& facts) {
  if (graph.triton_bundle && !fits(*graph.triton_bundle, copies)) return false;
  GraphFacts result;
  result.links = store::links_of(graph);
  if (graph.source_code) result.source = source_text(*graph.source_code);
  result.has_bundle = graph.triton_bundle.has_value();
  if (result.has_bundle) add_bundle(*graph.triton_bundle, result);
  facts.names_frozen_parameters = facts.names_frozen_parameters || names_frozen(graph);
  facts.graphs.push_back(std::move(result));
  return true;
}

bool add_reference(const torch::Field<torch::CompiledGraphRef>& reference, bool is_backward, Copies& copies,
                   EntryFacts& facts) {
  if (!reference) return true;
  if (reference->result != nullptr) {
    const auto* graph = std::get_if<torch::CompiledFxGraph>(reference->result.get());
    if (graph != nullptr && !add_graph(*graph, copies, facts)) return false;
  }
  if (!reference->fx_graph_cache_key) return true;
  const auto key = HashName::parse(*reference->fx_graph_cache_key);
  if (!key) return true;
  GraphReferenceFacts result{*key, {}, is_backward};
  if (reference->fx_graph_guard_expr.present())
    result.guards = torch::content_hash(reference->fx_graph_guard_expr.value_or({}));
  facts.references.push_back(result);
  return true;
}

}  // namespace

Expected<std::unique_ptr<EntryFacts>> entry_facts(const torch::Decoded& decoded,
                                                  const torch::Release& release) {
  const torch::AotAutogradEntry* entry = decoded.aot_entry();
  if (entry == nullptr && decoded.output_code() == nullptr) return nullptr;
  auto facts = std::make_unique<EntryFacts>();
  facts->first = release.first;
  facts->last = release.last;
  facts->torch_identity = torch::torch_identity(decoded);
  Copies copies(decoded.document.bytes().size());
  bool fit = true;
  if (const torch::CompiledFxGraph* graph = decoded.fx_graph()) {
    facts->guards = torch::content_hash(graph->guards_expr.value_or({}));
    fit = add_graph(*graph, copies, *facts);
  }
  if (entry != nullptr) {
    facts->kind = torch::EntryKind::kAotAutograd;
    facts->guards = torch::content_hash(entry->guards_expr.value_or({}));
    fit = add_reference(entry->compiled_fw, false, copies, *facts) &&
          add_reference(entry->compiled_bw, true, copies, *facts);
  }
  if (!fit)
    return fail(ErrorCode::kLimitMemory,
                "its bundled kernels name more text than the entry's size justifies");
  return facts;
}

}  // namespace cachetool::verify
