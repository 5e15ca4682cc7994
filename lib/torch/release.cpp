#include "torch/release.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "torch/decode.h"
#include "torch/known_builds.h"
#include "torch/plain.h"

namespace cachetool::torch {

namespace {

constexpr std::array<std::string_view, 13> kFamilyNames = {
    "unknown", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15"};

struct Dialect {
  ReleaseFamily first = ReleaseFamily::kUnknown;
  ReleaseFamily last = ReleaseFamily::kUnknown;
  std::string_view sign;
};

Dialect only(ReleaseFamily family, std::string_view sign) {
  return {family, family, sign};
}

/// Newest sign first: each field came with one release and stayed.
Dialect dialect_of(const CompiledFxGraph& graph, std::string_view module) {
  using enum ReleaseFamily;
  if (graph.has_uncaptured_partition.present()) return only(k2_15, "has_uncaptured_partition");
  if (graph.kernel_free_cudagraph.present()) return only(k2_14, "kernel_free_cudagraph without later fields");
  if (graph.compile_context.present()) return only(k2_13, "_compile_context without later fields");
  if (graph.extern_libs_key.present()) return only(k2_12, "extern_libs_key without later fields");
  if (graph.wrap_compiled_regions.present())
    return {k2_10, k2_11, "_wrap_compiled_regions without later fields"};
  if (graph.inductor_provenance_mapping_str.present()) {
    return only(k2_9, "inductor_provenance_mapping_str without later fields");
  }
  if (graph.compiled_fn_runner.present()) return only(k2_8, "compiled_fn_runner without later fields");
  if (graph.frozen_param_names.present()) return only(k2_7, "frozen_param_names without later fields");
  if (graph.allocated_constant_name.present()) return only(k2_6, "allocated_constant_name");
  if (module == "torch._inductor.codecache") {
    if (graph.fx_kwargs.present()) return only(k2_5, "class in codecache, with fx_kwargs");
    return only(k2_4, "class in codecache, without fx_kwargs");
  }
  return {};
}

Dialect dialect_of(const AotAutogradEntry& entry) {
  using enum ReleaseFamily;
  if (!entry.runtime_metadata) return {};
  const ViewAndMutationMeta& metadata = *entry.runtime_metadata;
  if (entry.entry_class == AotEntryClass::kAOTAutogradResult ||
      entry.entry_class == AotEntryClass::kBundledAOTAutogradResult) {
    if (metadata.act_input_paths.present()) return {k2_14, k2_15, "act_input_paths"};
    if (metadata.graphsafe_rng_device.present())
      return only(k2_13, "graphsafe_rng_device without later fields");
    if (metadata.compile_id_str.present()) return only(k2_12, "compile_id_str without later fields");
    if (metadata.mutated_inp_stream_indices.present()) {
      return only(k2_11, "mutated_inp_stream_indices without later fields");
    }
    return only(k2_10, "AOTAutogradResult without later fields");
  }
  if (metadata.traced_tangents_descs.present())
    return only(k2_9, "traced_tangents_descs in an AOTAutogradCacheEntry");
  if (entry.sanitized_aot_config.present()) return only(k2_8, "sanitized_aot_config without later fields");
  if (metadata.num_graphsafe_rng_states.present())
    return only(k2_7, "num_graphsafe_rng_states without later fields");
  if (entry.aot_forward_graph_str.present()) return only(k2_6, "aot_forward_graph_str without later fields");
  return only(k2_5, "AOTAutogradCacheEntry without graph texts");
}

/// The graph inside of a bundled entry, or null.
const CompiledFxGraph* bundled_graph(const AotAutogradEntry& entry) {
  if (!entry.compiled_fw || entry.compiled_fw->result == nullptr) return nullptr;
  return std::get_if<CompiledFxGraph>(entry.compiled_fw->result.get());
}

Dialect dialect_of(const Decoded& decoded) {
  if (const CompiledFxGraph* graph = decoded.fx_graph()) {
    const pickle::GlobalNode* cls = class_of(decoded.object());
    return dialect_of(*graph, cls != nullptr ? cls->module : std::string_view{});
  }
  const AotAutogradEntry* entry = decoded.aot_entry();
  if (entry == nullptr) return {};
  const Dialect dialect = dialect_of(*entry);
  if (dialect.first == dialect.last) return dialect;
  if (const CompiledFxGraph* graph = bundled_graph(*entry)) {
    const Dialect inner = dialect_of(*graph, {});
    if (inner.first >= dialect.first && inner.last <= dialect.last) return inner;
  }
  return dialect;
}

/// "2.9.1+cu128" from the line "# torch version: 2.9.1+cu128" of a repro script.
std::string_view version_in_script(std::string_view script) {
  constexpr std::string_view kMark = "\n# torch version: ";
  const std::size_t at = script.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = script.substr(at + kMark.size());
  return rest.substr(0, rest.find('\n'));
}

std::string_view identity_of(const Decoded& decoded) {
  if (const CompiledFxGraph* graph = decoded.fx_graph()) {
    return graph->key_details ? graph->key_details->torch_identity() : std::string_view{};
  }
  const AotAutogradEntry* entry = decoded.aot_entry();
  if (entry == nullptr || !entry->compiled_fw || !entry->compiled_fw->key_details) return {};
  return entry->compiled_fw->key_details->torch_identity();
}

std::string_view script_of(const Decoded& decoded) {
  const CompiledFxGraph* graph = decoded.fx_graph();
  if (graph == nullptr && decoded.aot_entry() != nullptr) graph = bundled_graph(*decoded.aot_entry());
  return graph != nullptr ? graph->runnable_graph_str.value_or({}) : std::string_view{};
}

}  // namespace

ReleaseFamily family_of_version(std::string_view version) {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return ReleaseFamily::kUnknown;
  const std::string_view name = version.substr(0, version.find_first_not_of("0123456789", dot + 1));
  for (std::size_t i = 1; i < kFamilyNames.size(); ++i) {
    if (kFamilyNames[i] == name) return static_cast<ReleaseFamily>(i);
  }
  return ReleaseFamily::kUnknown;
}

std::string_view torch_identity(const Decoded& decoded) {
  return identity_of(decoded);
}

Release identify_release(const Decoded& decoded) {
  const std::string_view identity = identity_of(decoded);
  if (const std::string_view version = release_of_identity(identity); !version.empty()) {
    const ReleaseFamily family = family_of_version(version);
    return {family, family, std::string(version),
            fmt::format("the torch_version component of its key is that of {}", version)};
  }
  if (const std::string_view version = version_in_script(script_of(decoded)); !version.empty()) {
    const ReleaseFamily family = family_of_version(version);
    return {family, family, std::string(version),
            fmt::format("runnable_graph_str names torch version {}", version)};
  }
  if (!decoded.notes.unrecognised.empty()) {
    return {ReleaseFamily::kUnknown,
            ReleaseFamily::kUnknown,
            {},
            fmt::format("it has {} fields that no studied release has", decoded.notes.unrecognised.size())};
  }
  const Dialect dialect = dialect_of(decoded);
  if (dialect.first == ReleaseFamily::kUnknown)
    return {dialect.first, dialect.last, {}, "no field tells releases apart"};
  return {dialect.first, dialect.last, {}, fmt::format("fields: {}", dialect.sign)};
}

std::string_view family_name(ReleaseFamily family) {
  return kFamilyNames[static_cast<std::size_t>(family)];
}

std::string family_range(ReleaseFamily first, ReleaseFamily last) {
  if (first == last) return std::string(family_name(first));
  return fmt::format("{}-{}", family_name(first), family_name(last));
}

}  // namespace cachetool::torch
