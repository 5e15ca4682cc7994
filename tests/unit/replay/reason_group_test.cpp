#include "replay/reason_group.h"

#include <doctest/doctest.h>

#include <string>

using cachetool::replay::reason_group;
using cachetool::replay::short_reason;

TEST_SUITE_BEGIN("replay/reason_group");

// Texts as real entries hold them (tests/data, torch 2.6.0, 2.9.1 and 2.15.0), else as the named function
// words them.
TEST_CASE("each reason that torch stores has a group without node names and traces") {
  const struct {
    const char* text;
    const char* group;
  } cases[] = {
      {"skipping cudagraphs due to cpu device (arg1_1). Found from : \n   File \"a.py\", line 1, in f\n",
       "cpu device"},
      {"skipping cudagraphs due to cpu device (device_put)", "cpu device"},
      {"skipping cudagraphs due to multiple devices: device(type='cuda', index=0), device(type='cuda', "
       "index=1)",
       "multiple devices"},
      {"skipping cudagraphs due to multiple devices: ", "multiple devices"},
      {"skipping cudagraphs due to mutated inputs (2 instances). Found from : \n   x.mul_(2)\n",
       "mutated inputs"},
      {"skipping cudagraphs due to mutated inputs", "mutated inputs"},
      {"mutated inputs", "mutated inputs"},
      {"non-Tensor inputs", "non-Tensor inputs"},
      {"complex memory overlap", "complex memory overlap"},
      {"input storage mutation (1 instances)", "input storage mutation"},
      {"input storage mutation (1 instances). Found from:\n f", "input storage mutation"},
      {"disabling cudagraphs due to incompatible op aten.nonzero.default Found from   File \"a\"\n\n",
       "incompatible op"},
      {"graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True. Found from   "
       "File \"a\"\n\n",
       "dynamic shapes"},
      {"skipping cudagraphs due to cudagraph capture requires the caching allocator; current allocator is "
       "uncached",
       "uncached allocator"},
      {"index_put_ fallback with boolean indexing is not compatible with CUDA graphs Found from : \n",
       "index put"},
      {"sparsity not handled. Please file issue for sparse inference weights.", "sparse weights"},
      {"user CUDA MemPool contexts are not compatible with CUDA graphs", "user memory pool"},
      {"force_disable_cudagraph_TESTING_ONLY", "forced off for testing"},
      // torch/_inductor/lowering.py 2.6: cond, while_loop, index_put_fallback
      {"control flow operator: torch.cond.", "control flow"},
      {"index put with accumulate.", "index put"},
      {"deterministic index put. Found from : \n x", "index put"},
      {"skipping cudagraphs due to bisector", "bisector"},
      {"no partition that can be captured", "no partition"},
      {"config.cudagraph_policy doesn't wrap the graph", "policy"},
  };
  for (const auto& [text, group] : cases) {
    CAPTURE(text);
    CHECK(reason_group(text) == group);
  }
}

TEST_CASE("a short reason keeps the node and drops introduction and trace") {
  CHECK(
      short_reason("skipping cudagraphs due to skipping cudagraphs due to cpu device (arg1_1). Found from : "
                   "\n   File \"a.py\"\n") == "cpu device (arg1_1)");
  CHECK(
      short_reason("disabling cudagraphs due to incompatible op demo.sync.default Found from   File \"a\"") ==
      "incompatible op demo.sync.default");
  CHECK(short_reason("skipping cudagraphs due to multiple devices: ") == "multiple devices");
  CHECK(short_reason("") == "");
}

TEST_CASE("a reason of no known release is its own group, cut to a line") {
  CHECK(reason_group("skipping cudagraphs due to the moon (full)\nsecond line") == "the moon (full)");
  const std::string long_text = reason_group(std::string(98, 'x') + "\xc3\xa4\xc3\xa4" + "tail");
  CHECK(long_text == std::string(98, 'x') + "\xc3\xa4…");
  CHECK(reason_group(std::string(99, 'x') + "\xc3\xa4tail") == std::string(99, 'x') + "…");
}
