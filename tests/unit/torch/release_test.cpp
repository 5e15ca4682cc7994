#include "torch/release.h"

#include <doctest/doctest.h>

#include "base/hash.h"
#include "pickle_text.h"
#include "torch/decode.h"
#include "torch/known_builds.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

Release release_of(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  auto decoded = decode_entry(bytes, budget);
  REQUIRE(decoded);
  return identify_release(*decoded);
}

template <class... Members>
std::string graph_with(std::string_view module, const Members&... members) {
  return pickle_text::pickle(instance(module, "CompiledFxGraph", dict(members...)));
}

}  // namespace

TEST_SUITE_BEGIN("torch/release");

TEST_CASE("the identity of a build follows from its torch_key") {
  REQUIRE(known_builds().size() == 12);
  for (const KnownBuild& build : known_builds()) {
    CAPTURE(build.version);
    CHECK(identity_of_torch_key(from_hex(build.torch_key)) == build.identity);
    CHECK(release_of_identity(build.identity) == build.version);
  }
  CHECK(release_of_identity("").empty());
  CHECK(release_of_identity(identity_of_torch_key(std::string(32, '\0'))).empty());
}

TEST_CASE("real entries") {
  CHECK(release_of(entry_file("fxgraph-2.4.1-cpu.pkl")).first == ReleaseFamily::k2_4);
  CHECK(release_of(entry_file("aotautograd-2.5.1.pkl")).first == ReleaseFamily::k2_5);
  CHECK(release_of(entry_file("fxgraph-2.6.0-cuda.pkl")).first == ReleaseFamily::k2_6);
  CHECK(release_of(entry_file("fxgraph-2.6.0-cuda.pkl")).exact.empty());
  CHECK(release_of(entry_file("aotautograd-2.6.0-train.pkl")).first == ReleaseFamily::k2_6);
  const Release bundled = release_of(entry_file("aotautograd-2.9.1-bundled.pkl"));
  CHECK(bundled.exact == "2.9.1+cu128");
  CHECK(bundled.evidence == "runnable_graph_str names torch version 2.9.1+cu128");
  const Release latest = release_of(entry_file("aotautograd-2.15.0-mutation.pkl"));
  CHECK(latest.exact == "2.15.0+cu132");
  CHECK(latest.first == ReleaseFamily::k2_15);
}

TEST_CASE("each release by the fields that came with it") {
  const std::string module = "torch._inductor.output_code";
  const auto first = [&](const char* field) { return release_of(graph_with(module, text(field), none())); };
  CHECK(first("has_uncaptured_partition").first == ReleaseFamily::k2_15);
  CHECK(first("kernel_free_cudagraph").first == ReleaseFamily::k2_14);
  CHECK(first("_compile_context").first == ReleaseFamily::k2_13);
  CHECK(first("extern_libs_key").first == ReleaseFamily::k2_12);
  CHECK(first("_wrap_compiled_regions").first == ReleaseFamily::k2_10);
  CHECK(first("_wrap_compiled_regions").last == ReleaseFamily::k2_11);
  CHECK(first("inductor_provenance_mapping_str").first == ReleaseFamily::k2_9);
  CHECK(first("compiled_fn_runner").first == ReleaseFamily::k2_8);
  CHECK(first("frozen_param_names").first == ReleaseFamily::k2_7);
  CHECK(first("allocated_constant_name").first == ReleaseFamily::k2_6);
  CHECK(first("cache_key").first == ReleaseFamily::kUnknown);
  CHECK(release_of(graph_with("torch._inductor.codecache", text("fx_kwargs"), dict())).first ==
        ReleaseFamily::k2_5);
}

TEST_CASE("names of families") {
  CHECK(family_name(ReleaseFamily::k2_15) == "2.15");
  CHECK(family_range(ReleaseFamily::k2_10, ReleaseFamily::k2_11) == "2.10-2.11");
  CHECK(family_range(ReleaseFamily::kUnknown, ReleaseFamily::kUnknown) == "unknown");
}

TEST_SUITE_END();
