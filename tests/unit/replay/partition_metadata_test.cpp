#include "replay/partition_metadata.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::boolean;
using pickle_text::integer;
using pickle_text::list;
using pickle_text::none;

// torch/_inductor/cudagraph_utils.py: get_partition_cudagraph_metadata, 2.8 to 2.13 and 2.14 on.

namespace {

Wrap whole_graph(torch::ReleaseFamily family) {
  Wrap whole;
  whole.device_index = 5;
  whole.is_backward = true;
  whole.static_input_idxs = {2, 0};
  whole.mutated_input_idxs = {1, 2};
  whole.placeholders = {"a", "b", "c"};
  whole.stack_traces_present = {true, false, true};
  if (family >= k2_14) {
    whole.kernel_free_cudagraph = true;
    whole.user_visible_output_idxs = Positions{2};
  }
  return whole;
}

const ConstantNames kConstants{{"c0", true}, {"c1", true}, {"Opaque", false}};

OrRaised<Wrap> wrap_of(const std::string& map, const Wrap& whole, torch::ReleaseFamily family) {
  GraphBuilder builder(family);
  builder.set("partition_maps", list(map));
  const Decoded decoded = decode(builder.pickle());
  REQUIRE(decoded.fx_graph()->partition_maps);
  const Rules rules = *rules_of(family);
  return PartitionMetadata(whole, kConstants, rules).wrap(decoded.fx_graph()->partition_maps->front());
}

OrRaised<Wrap> wrap_of(const std::string& map, torch::ReleaseFamily family) {
  return wrap_of(map, whole_graph(family), family);
}

// An output mapping in the release's form: a graph output or none each.
std::string outputs(std::initializer_list<std::optional<std::int64_t>> mapping, torch::ReleaseFamily family) {
  std::string items;
  for (const auto output : mapping) {
    if (family >= k2_14) {
      items += output ? integers({*output}) : list();
    } else {
      items += output ? integer(*output) : none();
    }
  }
  return list(items);
}

std::string error_of(const OrRaised<Wrap>& wrap) {
  if (wrap) return "none";
  CHECK(wrap.error().source == "get_partition_cudagraph_metadata");
  return describe(wrap.error());
}

const torch::ReleaseFamily kPartitioning[] = {k2_8, k2_9, k2_10, k2_11, k2_12, k2_13, k2_14, k2_15};

}  // namespace

TEST_SUITE_BEGIN("replay/partition_metadata");

TEST_CASE("inputs, outputs and constants of a partition") {
  for (const auto family : kPartitioning) {
    CAPTURE(torch::family_name(family));
    const auto wrap = wrap_of(partition(6, list(integer(1), none(), integer(0), integer(2), integer(2)),
                                        outputs({0, std::nullopt, 1, 2}, family), texts({"c1", "c0", "c1"})),
                              family);
    REQUIRE(wrap);
    CHECK(wrap->partition == 6);
    CHECK(wrap->device_index == 5);
    CHECK(wrap->is_backward);
    CHECK_FALSE(wrap->is_inference);
    CHECK(wrap->static_input_idxs == Positions{2, 3, 4});
    CHECK(wrap->mutated_input_idxs == Positions{0, 3, 4});
    CHECK(wrap->placeholders == Lines{"b", "partition_6_placeholder_1", "a", "c", "c"});
    CHECK(wrap->stack_traces_present == std::vector<bool>{true, false, false, true});
    // Names are keys of a dict.
    CHECK(wrap->n_constants == 2);
    CHECK(wrap->kernel_free_cudagraph.has_value() == (family >= k2_14));
    if (family >= k2_14) CHECK(wrap->user_visible_output_idxs == Positions{3});
  }
}

TEST_CASE("negative positions count from the end, but are no static or mutated ones") {
  for (const auto family : kPartitioning) {
    CAPTURE(torch::family_name(family));
    const auto wrap = wrap_of(partition(0, integers({-1, -3}), outputs({-1, -2}, family)), family);
    REQUIRE(wrap);
    CHECK(wrap->placeholders == Lines{"c", "a"});
    CHECK(wrap->static_input_idxs.empty());
    CHECK(wrap->mutated_input_idxs.empty());
    CHECK(wrap->stack_traces_present == std::vector<bool>{true, false});
    if (family >= k2_14) CHECK(wrap->user_visible_output_idxs == Positions{});
    Wrap whole = whole_graph(family);
    whole.static_input_idxs = {-1};
    CHECK(wrap_of(partition(0, integers({2, -1}), list()), whole, family)->static_input_idxs == Positions{1});
  }
}

TEST_CASE("positions that aren't there") {
  for (const auto family : kPartitioning) {
    CAPTURE(torch::family_name(family));
    CHECK(error_of(wrap_of(partition(0, integers({3}), list()), family)) ==
          "IndexError: tuple index out of range");
    CHECK(error_of(wrap_of(partition(0, integers({-4}), list()), family)) ==
          "IndexError: tuple index out of range");
    CHECK(error_of(wrap_of(partition(0, list(), outputs({3}, family)), family)) ==
          "IndexError: list index out of range");
    CHECK(error_of(wrap_of(partition(0, list(), outputs({-4}, family)), family)) ==
          "IndexError: list index out of range");
    // Inputs come before outputs, outputs before constants.
    CHECK(error_of(wrap_of(partition(0, integers({9}), outputs({9}, family), texts({"?"})), family)) ==
          "IndexError: tuple index out of range");
    CHECK(error_of(wrap_of(partition(0, list(), outputs({9}, family), texts({"?"})), family)) ==
          "IndexError: list index out of range");
  }
}

TEST_CASE("stack traces that are None are looked at only for outputs of the graph") {
  for (const auto family : {k2_8, k2_9, k2_10, k2_11}) {
    Wrap whole = whole_graph(family);
    whole.has_stack_traces = false;
    whole.stack_traces_present.clear();
    CHECK(error_of(wrap_of(partition(0, list(), outputs({0}, family)), whole, family)) ==
          "TypeError: 'NoneType' object is not subscriptable");
    CHECK(error_of(wrap_of(partition(0, list(), outputs({std::nullopt}, family)), whole, family)) == "none");
  }
}

TEST_CASE("constants that aren't there, or are no tensors any more") {
  for (const auto family : kPartitioning) {
    CAPTURE(torch::family_name(family));
    CHECK(error_of(wrap_of(partition(0, list(), list(), texts({"c0", "gone"})), family)) ==
          "KeyError: 'gone'");
    CHECK(error_of(wrap_of(partition(0, list(), list(), texts({"Opaque"})), family)) ==
          (family >= k2_10 ? "KeyError: 'Opaque'" : "none"));
  }
}

TEST_CASE("an output that is several outputs of the graph, 2.14 on: the first visible one counts") {
  for (const auto family : {k2_14, k2_15}) {
    const auto mapping = [](std::initializer_list<std::int64_t> first) { return list(integers(first)); };
    const auto seen = wrap_of(partition(0, list(), mapping({1, 2, 0})), family);
    REQUIRE(seen);
    CHECK(seen->stack_traces_present == std::vector<bool>{true});
    CHECK(seen->user_visible_output_idxs == Positions{0});
    const auto hidden = wrap_of(partition(0, list(), mapping({1, 0})), family);
    REQUIRE(hidden);
    CHECK(hidden->stack_traces_present == std::vector<bool>{false});
    CHECK(hidden->user_visible_output_idxs == Positions{});
    // The others aren't looked at.
    CHECK(error_of(wrap_of(partition(0, list(), mapping({9, 2})), family)) == "none");
    CHECK(error_of(wrap_of(partition(0, list(), mapping({9, 1})), family)) ==
          "IndexError: list index out of range");
  }
}

TEST_SUITE_END();
