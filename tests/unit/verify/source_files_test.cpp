#include "verify/source_files.h"

#include <doctest/doctest.h>

#include "torch/key.h"
#include "unit/torch/pickle_text.h"
#include "unit/verify/own_lines.h"
#include "verify/template_extra.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/source_files");

namespace {

const std::string kWrapper = "# AOT ID: ['0_inference']\nimport torch\ndef call(args):\n    return args\n";

std::string stem_of(std::string_view text, std::string_view extra = {}) {
  return torch::code_hash(torch::python_strip(text), extra).str();
}

std::string place(const std::string& stem, const std::string& suffix) {
  return "/cache/" + store_tests::shard_file(stem, suffix);
}

verify::Result one_file(const std::string& stem, const std::string& suffix, const std::string& bytes,
                        verify::Depth depth = verify::Depth::kDefault) {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file(place(stem, suffix), bytes);
  verify::Options options;
  options.depth = depth;
  return own_result(fs, options);
}

std::string candidate(const std::string& arguments) {
  return "\nimport triton\n\n@triton_heuristics.template(\n\nnum_stages=5,\nnum_warps=8,\n"
         "inductor_meta={'kernel_name': 'x'" +
         arguments + "},\n\n)\n@triton.jit\ndef triton_mm(a):\n    pass\n";
}

}  // namespace

TEST_CASE("a module is named after its text") {
  const verify::Result result = one_file(stem_of(kWrapper), "py", "\n" + kWrapper + "\n \n");
  CHECK(ids_of(result) == Lines{});
  CHECK(checked(result, verify::checks::kModuleName) == 1);
  const verify::Result changed = one_file(stem_of(kWrapper), "py", kWrapper + "import os\n");
  REQUIRE(ids_of(changed) == Lines{"error module.name"});
  CHECK(changed.findings[0].message == "its text is named " + stem_of(kWrapper + "import os\n"));
  CHECK(changed.findings[0].repair == Lines{changed.findings[0].path});
}

TEST_CASE("a module that is empty or no text says so only") {
  const std::string stem = stem_of(kWrapper);
  CHECK(ids_of(one_file(stem, "py", "")) == Lines{"error file.empty"});
  CHECK(ids_of(one_file(stem, "py", kWrapper + "\xff")) == Lines{"error file.encoding"});
  CHECK(ids_of(one_file(stem, "py", kWrapper + std::string(1, '\0'))) == Lines{"error file.encoding"});
  CHECK(ids_of(one_file(stem, "py", kWrapper + "#", verify::Depth::kQuick)) == Lines{});
  CHECK(ids_of(one_file(stem, "py", "", verify::Depth::kQuick)) == Lines{"error file.empty"});
}

TEST_CASE("a max-autotune candidate has its arguments behind its text") {
  const std::string text = candidate(", 'config_args': {'B': 'tl.float32', 'A': 32, 'C': (1, [2])}");
  const std::string extra = "A=32-B='tl.float32'-C=(1, [2])-num_stages=5-num_warps=8-";
  CHECK(verify::template_extras(text) ==
        Lines{extra, extra + "num_consumer_groups=0-num_buffers_warp_spec=0-"});
  CHECK(ids_of(one_file(stem_of(text, extra), "py", text)) == Lines{});
  CHECK(ids_of(one_file(stem_of(text, "A=64-"), "py", text)) == Lines{"error module.name"});
  const std::string old = candidate("");
  const verify::Result result = one_file(stem_of(old, extra), "py", old);
  CHECK(ids_of(result) == Lines{});
  CHECK(not_checkable(result, verify::checks::kModuleName) == 1);
}

TEST_CASE("arguments that aren't a plain dict give nothing") {
  for (const char* arguments : {", 'config_args': {A: 32}", ", 'config_args': {'A'}",
                                ", 'config_args': {'A': '32}", ", 'config_args': {'A': ((((}"}) {
    CAPTURE(arguments);
    CHECK(verify::template_extras(candidate(arguments)).empty());
  }
  CHECK(verify::template_extras("").empty());
}

TEST_CASE("a header is named after its text, a precompiled one isn't") {
  const std::string text = "#pragma once\n";
  CHECK(ids_of(one_file(stem_of(text), "h", text)) == Lines{});
  CHECK(ids_of(one_file(stem_of(text), "h", text + "int i;\n")) == Lines{"error header.name"});
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/precompiled_headers/" + store_tests::hash_name('c', 'h') + ".h", text);
  const verify::Result result = own_result(fs);
  CHECK(ids_of(result) == Lines{});
  CHECK(not_checkable(result, verify::checks::kHeaderName) == 1);
}

TEST_SUITE_END();
