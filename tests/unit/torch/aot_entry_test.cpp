#include "torch/aot_entry.h"

#include <doctest/doctest.h>

#include "pickle_text.h"
#include "torch/decode.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

Decoded decode(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  auto decoded = decode_entry_owned(bytes, budget);
  REQUIRE(decoded);
  return std::move(*decoded);
}

}  // namespace

TEST_SUITE_BEGIN("torch/aot_entry");

TEST_CASE("an entry of 2.6 with a backward names its graphs") {
  const Decoded decoded = decode(entry_file("aotautograd-2.6.0-train.pkl"));
  CHECK(decoded.notes.notes.empty());
  CHECK(decoded.notes.unrecognised.empty());
  const AotAutogradEntry* entry = decoded.aot_entry();
  REQUIRE(entry != nullptr);
  CHECK_FALSE(entry->bundled());
  CHECK(entry->compiled_fw->fx_graph_cache_key->starts_with("fevcvfk5jhsqq4o"));
  REQUIRE(entry->compiled_bw);
  CHECK(entry->compiled_bw->fx_graph_cache_key->starts_with("f"));
  CHECK(entry->compiled_bw->num_symints_saved_for_bw.value_or(-1) == 0);
  CHECK(entry->forward_time_taken_ns.value_or(0) == 2355515959);
  CHECK(entry->runtime_metadata->is_train.present());
  CHECK(entry->runtime_metadata->input_info->size() == 3);
  CHECK(entry->runtime_metadata->output_info->size() == 1);
  CHECK_FALSE(entry->guards_expr.present());
}

TEST_CASE("an entry of 2.9 with guards and key details") {
  const Decoded decoded = decode(entry_file("aotautograd-2.9.1-dynamic.pkl"));
  CHECK(decoded.notes.notes.empty());
  CHECK(decoded.notes.unrecognised.empty());
  const AotAutogradEntry* entry = decoded.aot_entry();
  REQUIRE(entry != nullptr);
  CHECK(entry->compiled_bw.is_none());
  CHECK(entry->guards_expr.value_or({}) == "9 <= L['t0']");
  CHECK(entry->compiled_fw->fx_graph_guard_expr.value_or({}) == "9 <= L['t0']");
  CHECK(entry->compiled_fw->key_details->size() > 300);
  CHECK((*entry->runtime_metadata->output_info)[0].dynamic_dims->size() == 1);
  CHECK(entry->sanitized_aot_config->aot_id.value_or(-1) == 4);
}

TEST_CASE("an entry of 2.15 says which input is mutated") {
  const Decoded decoded = decode(entry_file("aotautograd-2.15.0-mutation.pkl"));
  CHECK(decoded.notes.notes.empty());
  CHECK(decoded.notes.unrecognised.empty());
  const AotAutogradEntry* entry = decoded.aot_entry();
  REQUIRE(entry != nullptr);
  const InputAliasInfo& input = entry->runtime_metadata->input_info->front();
  CHECK(input.mutates_data.value_or(false));
  CHECK(input.mutation_type.value_or(0) == static_cast<std::int64_t>(MutationType::kMutatedInGraph));
  const OutputAliasInfo& output = entry->runtime_metadata->output_info->front();
  CHECK(output_type_name(output.output_type.value_or(0)) == "non_alias");
  CHECK(output.raw_type.value_or({}) == "FunctionalTensor");
  CHECK(entry->runtime_metadata->subclass_inputs == 0);
}

TEST_CASE("a bundled entry holds its graphs") {
  const Decoded decoded = decode(entry_file("aotautograd-2.9.1-bundled.pkl"));
  CHECK(decoded.notes.notes.empty());
  const AotAutogradEntry* entry = decoded.aot_entry();
  REQUIRE(entry != nullptr);
  CHECK(entry->bundled());
  REQUIRE(entry->compiled_fw->result != nullptr);
  const auto* forward = std::get_if<CompiledFxGraph>(entry->compiled_fw->result.get());
  REQUIRE(forward != nullptr);
  CHECK(forward->source_code->starts_with("# AOT ID: ['0_forward']"));
  CHECK_FALSE(forward->fx_graph_cache_key.present());
  REQUIRE(entry->compiled_bw->result != nullptr);
  CHECK(std::holds_alternative<CompiledFxGraph>(*entry->compiled_bw->result));
}

TEST_CASE("a bundled graph of an unknown class is kept as it is") {
  const std::string module = "torch._functorch._aot_autograd.aot_autograd_result";
  const Decoded decoded = decode(pickle_text::pickle(instance(
      module, "BundledAOTAutogradResult",
      dict(text("compiled_fw"), instance(module, "BundledCompiledForward",
                                         dict(text("result"), instance("next.year", "Code", dict())))))));
  const auto* code = std::get_if<UnknownOutputCode>(decoded.aot_entry()->compiled_fw->result.get());
  REQUIRE(code != nullptr);
  CHECK(code->module == "next.year");
  CHECK(code->name == "Code");
  REQUIRE(decoded.notes.unrecognised.size() == 1);
  CHECK(decoded.notes.unrecognised[0].path == "compiled_fw.result");
}

TEST_CASE("numbers of no member are unknown") {
  CHECK(output_type_name(8) == "custom_function_view");
  CHECK(output_type_name(9) == "unknown");
}

TEST_SUITE_END();
