#include "replay/on_hit.h"

#include <algorithm>

#include "replay/static_launchers.h"
#include "store/paths.h"
#include "store/triton_home.h"
#include "torch/key.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;
using torch::ReleaseFamily;
using torch::TritonKernelArtifacts;

Counts stored_counters(const CompiledFxGraph& graph) {
  Counts counts;
  if (!graph.counter_deltas) return counts;
  for (std::size_t i = 0; i < graph.counter_deltas->size(); ++i) {
    const pickle::Pair& pair = (*graph.counter_deltas)[i];
    if (pair.key.is(pickle::Tag::kString) && pair.value.is(pickle::Tag::kInt))
      counts.emplace_back(pair.key.bytes(), pair.value.as_int());
  }
  return counts;
}

Counts stored_metrics(const CompiledFxGraph& graph) {
  Counts counts;
  if (!graph.metrics_deltas) return counts;
  const torch::CachedMetricsDeltas& deltas = *graph.metrics_deltas;
  const auto add = [&](std::string_view name, const torch::Field<std::int64_t>& field) {
    if (field) counts.emplace_back(name, *field);
  };
  add("generated_kernel_count", deltas.generated_kernel_count);
  add("generated_cpp_vec_kernel_count", deltas.generated_cpp_vec_kernel_count);
  add("ir_nodes_pre_fusion", deltas.ir_nodes_pre_fusion);
  add("cpp_to_dtype_count", deltas.cpp_to_dtype_count);
  add("num_bytes_accessed", deltas.num_bytes_accessed);
  add("num_matches_for_scatter_upon_const_tensor", deltas.num_matches_for_scatter_upon_const_tensor);
  return counts;
}

// An option of whoever hits the entry; all that are asked for here are on by default.
bool is_on(const CompiledFxGraph& graph, std::string_view option) {
  const auto text = graph.key_details ? graph.key_details->config(option) : std::nullopt;
  return !text || *text != "False";
}

// One load, in torch's order.
class Load {
 public:
  Load(const CompiledFxGraph& graph, store::Source& source, const Hit& hit, const Rules& rules)
      : graph_(graph), hit_(hit), rules_(rules) {
    if (hit.store && !source.cache().stores[*hit.store].is_file())
      files_.emplace(source, *hit.store, hit.written != nullptr ? *hit.written : written_);
  }

  OnHit run() {
    result_.counter_deltas = stored_counters(graph_);
    result_.metrics_deltas = stored_metrics(graph_);
    result_.files_known = files_.has_value();
    if (graph_.triton_bundle) read_and_emit(*graph_.triton_bundle);
    write_module();
    if (hit_.held_by == HeldBy::kFxEntry || rules_.family == ReleaseFamily::k2_8)
      count("fxgraph_cache_hit", 1);
    return std::move(result_);
  }

 private:
  void read_and_emit(const torch::TritonBundle& bundle) {
    result_.static_autotuners = bundle.static_autotuners.size();
    if (!is_on(graph_, "bundle_triton_into_fx_graph_cache")) return;
    const bool launches = rules_.family >= ReleaseFamily::k2_8 &&
                          is_on(graph_, rules_.family < ReleaseFamily::k2_11 ? "use_static_cuda_launcher"
                                                                             : "use_static_triton_launcher");
    // A process that only loads such entries compiles nothing.
    if (files_ && (!launches || bundle.static_autotuners.empty())) files_->only_first_device();
    std::int64_t files = 0;
    bool known = true;
    for (const TritonKernelArtifacts& kernel : bundle.kernel_artifacts) {
      if (!kernel.kernel_hash) continue;  // nothing that torch writes there
      const TritonEmission& emission = result_.triton.emplace_back(emit(kernel));
      if (emission.shadowed == false) files += static_cast<std::int64_t>(emission.files);
      known &= emission.shadowed.has_value();
    }
    result_.files_known &= known;
    if (known) count("triton_bundler_read_and_emit_kernel", files);
    if (launches) load_autotuners(bundle, known);
  }

  TritonEmission emit(const TritonKernelArtifacts& kernel) {
    TritonEmission emission;
    emission.kernel_hash = kernel.kernel_hash.value_or({});
    emission.device = kernel.device.value_or(0);
    emission.files = kernel.artifacts.size();
    for (const torch::TritonArtifact& artifact : kernel.artifacts) emission.bytes += artifact.payload.size();
    if (!files_ || !kernel.device) return emission;
    const auto directory = files_->kernel_directory(emission.device, emission.kernel_hash);
    if (!directory) return emission;
    emission.path = files_->shown(*directory);
    emission.shadowed = files_->holds_something(*directory);
    if (emission.shadowed != false) return emission;
    for (const torch::TritonArtifact& artifact : kernel.artifacts) files_->add(*directory, artifact.filename);
    return emission;
  }

  void load_autotuners(const torch::TritonBundle& bundle, bool known) {
    std::int64_t loaded = 0;
    for (const torch::StaticAutotuner& autotuner : bundle.static_autotuners) {
      const auto found =
          files_ && known ? reload_binaries(autotuner, *files_, rules_, result_.files_written) : std::nullopt;
      if (!found) {
        result_.files_known = false;
        return;
      }
      if (*found) {
        ++loaded;
      } else {
        result_.static_missing.emplace_back(autotuner.kernel_name.value_or({}));
      }
    }
    count("triton_bundler_load_static_autotuner", loaded);
  }

  // CompiledFxGraph.write_to_disk (2.8; 2.6 in after_deserialization)
  void write_module() {
    const auto name = torch::HashName::parse(graph_.cache_key.value_or({}));
    if (!files_ || !name || !graph_.source_code) {
      result_.files_known = false;
      return;
    }
    const std::string text = name->str();
    const Place module = files_->below_store(store::join_path(text.substr(1, 2), text + ".py"));
    const auto there = files_->exists(module);
    if (!there) result_.files_known = false;
    if (there != false) return;
    files_->add(module, {});
    result_.files_written.push_back(files_->shown(module));
    count("fxgraph_lookup_write_file", 1);
  }

  void count(std::string_view name, std::int64_t number) {
    if (number != 0) result_.counters.emplace_back(name, number);
  }

  const CompiledFxGraph& graph_;
  const Hit& hit_;
  const Rules& rules_;
  std::set<std::string> written_;
  std::optional<CacheFiles> files_;  // nothing where the entry lies in no directory
  OnHit result_;
};

}  // namespace

OnHit on_hit(const CompiledFxGraph& graph, store::Source& source, const Hit& hit, const Rules& rules) {
  return Load(graph, source, hit, rules).run();
}

}  // namespace cachetool::replay
