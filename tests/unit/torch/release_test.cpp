#include "torch/release.h"

#include <doctest/doctest.h>

#include <utility>

#include "pickle_text.h"
#include "torch/decode.h"

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

std::string from_hex(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

template <class... Members>
std::string graph_with(std::string_view module, const Members&... members) {
  return pickle_text::pickle(instance(module, "CompiledFxGraph", dict(members...)));
}

}  // namespace

TEST_SUITE_BEGIN("torch/release");

TEST_CASE("the identity of a build follows from its torch_key") {
  const std::pair<const char*, const char*> builds[] = {
      {"803ec2b3d0d216a05a75054da1fb277cf5d7ce4899cf1ad633354516fff4b6fe", "2.4.1+cu121"},
      {"7452ca55216aa3a89e54b349f832ce7d78e2e8ca2c438039e5f10d30d397c707", "2.5.1+cu124"},
      {"19ec5c2458c0b82917218af69950f8e052677af6d63556f29358869b5953aa22", "2.6.0+cu124"},
      {"ce326a83574b9f08845cf1739711002efc72c0f29d9af8792c811d4742414d70", "2.7.1+cu126"},
      {"d3b23fc8210f86a68cc10f1442fc63ce4580a2234591c7f2d5f7250c488797c9", "2.8.0+cu128"},
      {"70b0941789ab4fe2d391df038132ee382a9ba299ce17e79176b07c923c8bb107", "2.9.1+cu128"},
      {"e0acd64603cf7fef42357be317e3b42e6d622d8a97a1cd3240b50b4152c26f5c", "2.10.0+cu128"},
      {"5615ced183fc107f6ea805e7641952126fba20d46532b3f4bfd9586b51ce8d4d", "2.11.0+cu130"},
      {"157a5aa40da4ed8cfbe1a9641c7f31ba33547111fd76ceb6b955ba1fd69a0f0e", "2.12.0+cu130"},
      {"713a34dd1512a9f99c602814cb2d8c5233c21895e6e888065a2586c3ffee2678", "2.13.0+cu130"},
      {"3d5bd302af4315fb397c10c0a09ba7db415ec3d8c3637338b89153a8aaef43f2", "2.14.0+cu130"},
      {"b0d2d48093a2191c1f154a7d8ef867ef62747c218663e5d49bc2368ffc8ce86d", "2.15.0+cu132"},
  };
  for (const auto& [key, version] : builds) {
    CAPTURE(version);
    CHECK(release_of_identity(identity_of_torch_key(from_hex(key))) == version);
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
