#include "replay/constant_binding.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "graph_builder.h"
#include "replay/constants_report.h"
#include "replay/supplied_constants.h"
#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::dict;
using pickle_text::text;

namespace {

std::string sample(std::string_view name) {
  std::ifstream file(std::string(CACHETOOL_TEST_DATA) + "/constants/" + std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string line(std::string_view name, std::string_view rest) {
  return std::string(name) + " = None  # device(type='" + std::string(rest) + " 7f00\n";
}

// A graph whose frozen parameters are `names` (module name, attribute) and whose wrapper is `source`.
Decoded frozen(const std::vector<std::pair<std::string_view, std::string_view>>& names,
               const std::string& source, torch::ReleaseFamily family = k2_9) {
  GraphBuilder builder(family);
  std::string items;
  for (const auto& [name, attribute] : names) items += text(name) + text(attribute);
  builder.set(family == k2_6 ? "allocated_constant_name" : "frozen_param_names", dict(items));
  if (family == k2_6) builder.set("constants", pickle_text::none());
  builder.set("source_code", text(source));
  return decode(builder.pickle());
}

SuppliedValues values(std::string bytes) {
  auto loaded = SuppliedValues::of_bytes(std::move(bytes), "x");
  REQUIRE(loaded);
  return std::move(*loaded);
}

std::string array(std::string_view descr, std::string_view shape, std::size_t bytes) {
  const std::string header = "{'descr': '" + std::string(descr) +
                             "', 'fortran_order': False, 'shape': " + std::string(shape) + "}\n";
  return std::string("\x93NUMPY\x01\0", 8) + test::little_bytes(header.size(), 2) + header +
         std::string(bytes, '\0');
}

std::string archive(std::string_view name, std::string_view descr, std::string_view shape,
                    std::size_t bytes) {
  return test::make_zip({{std::string(name) + ".npy", array(descr, shape, bytes)}});
}

std::string problem(const std::string& declaration, const SuppliedValues& supplied) {
  const Decoded decoded = frozen({{"p", "p"}}, line("p", declaration));
  const ConstantBinding binding = bind_constants(*decoded.fx_graph(), &supplied);
  REQUIRE(binding.parameters.size() == 1);
  REQUIRE(binding.parameters[0].value != nullptr);
  return binding.parameters[0].problem;
}

const std::string kSource = line("_frozen_param1", "cpu') torch.float32 (11,) (1,)") +
                            line("_frozen_param4", "cpu') torch.float32 (6, 11) (1, 6)") +
                            line("_frozen_param5", "cpu') torch.float32 (11, 4) (1, 11)");
const std::vector<std::pair<std::string_view, std::string_view>> kNames = {
    {"_frozen_param1", "_frozen_param1"},
    {"_frozen_param4", "_frozen_param4"},
    {"_frozen_param5", "_frozen_param5"}};

}  // namespace

TEST_SUITE("replay/constant_binding") {
  TEST_CASE("values of every form fit, in every release's graph") {
    for (const torch::ReleaseFamily family : kFamilies) {
      const Decoded decoded = frozen(kNames, kSource, family);
      for (const char* name :
           {"frozen.pt", "frozen-legacy.pt", "frozen.npz", "frozen-packed.npz", "frozen.safetensors"}) {
        CAPTURE(name);
        const SuppliedValues supplied = values(sample(name));
        const ConstantsReport report =
            report_constants(*decoded.fx_graph(), LoadedBy::kFxGraphCache, &supplied);
        REQUIRE(report.rows.size() == 3);
        for (const ConstantRow& row : report.rows) CHECK(row.state == ConstantState::kSupplied);
        CHECK(report.rows[1].size == std::vector<std::int64_t>{6, 11});
        CHECK(report.superfluous.empty());
        CHECK(report.snippet.empty());
        const SuppliedConstants source(*decoded.fx_graph(), supplied);
        const auto bound = source.unwrap(*decoded.fx_graph(), *rules_of(family));
        REQUIRE(bound);
        REQUIRE(bound->size() == 3);
        for (const BoundConstant& constant : *bound) CHECK(constant.tensor != nullptr);
      }
    }
  }

  TEST_CASE("without values each parameter is missing, and the snippet names them") {
    const Decoded decoded = frozen(kNames, kSource);
    const ConstantsReport report = report_constants(*decoded.fx_graph(), LoadedBy::kFxGraphCache, nullptr);
    REQUIRE(report.rows.size() == 3);
    for (const ConstantRow& row : report.rows) CHECK(row.state == ConstantState::kMissing);
    CHECK(report.rows[0].dtype == "float32");
    CHECK(report.rows[0].device == "cpu");
    CHECK(report.snippet.find("['_frozen_param1', '_frozen_param4', '_frozen_param5']") != std::string::npos);
    CHECK(report.snippet.find("m.key == 'cbbb") != std::string::npos);
  }

  TEST_CASE("a state dict's names are superfluous") {
    const Decoded decoded = frozen(kNames, kSource);
    const SuppliedValues supplied = values(archive("l1.weight", "<f4", "(6, 11)", 264));
    const ConstantsReport report = report_constants(*decoded.fx_graph(), LoadedBy::kFxGraphCache, &supplied);
    CHECK(report.superfluous == std::vector<std::string>{"l1.weight"});
    CHECK(report.rows[1].state == ConstantState::kMissing);
    CHECK_FALSE(report.snippet.empty());
  }

  TEST_CASE("dtype, shape, stride and device are compared") {
    const std::string declared = "cpu') torch.float32 (6, 11) (1, 6)";
    CHECK(problem(declared, values(archive("p", "<f4", "(6, 11)", 264))).empty());
    CHECK(problem(declared, values(archive("p", "<f8", "(6, 11)", 528))) ==
          "dtype is float64, expected float32");
    CHECK(problem(declared, values(archive("p", "<f4", "(11, 6)", 264))) ==
          "shape is [11, 6], expected [6, 11]");
    CHECK(problem(declared, values(archive("p", "<f2", "(66,)", 132))) ==
          "dtype is float16, expected float32; shape is [66], expected [6, 11]");
    const Decoded decoded = frozen({{"_frozen_param4", "_frozen_param4"}},
                                   line("_frozen_param4", "cuda', index=0) torch.float32 (6, 11) (11, 1)"));
    const SuppliedValues supplied = values(sample("frozen.pt"));
    const ConstantsReport report = report_constants(*decoded.fx_graph(), LoadedBy::kFxGraphCache, &supplied);
    CHECK(report.rows[0].problem == "stride is [1, 6], expected [11, 1]; device is cpu, expected cuda:0");
    CHECK(report.rows[0].state == ConstantState::kMisfit);
    const SuppliedConstants source(*decoded.fx_graph(), supplied);
    CHECK(source.unwrap(*decoded.fx_graph(), *rules_of(k2_9))->at(0).tensor == nullptr);
    CHECK(report.superfluous == std::vector<std::string>{"_frozen_param1", "_frozen_param5"});
  }

  TEST_CASE("strides that nothing is reached by don't matter") {
    const Decoded decoded = frozen({{"base", "base"}}, line("base", "cpu') torch.float32 (4, 5) (5, 1)"));
    const SuppliedValues supplied = values(sample("many.pt"));
    CHECK(bind_constants(*decoded.fx_graph(), &supplied).parameters[0].fits());
    const Decoded empty = frozen({{"empty", "empty"}}, line("empty", "cpu') torch.float32 (0, 3) (9, 9)"));
    CHECK(bind_constants(*empty.fx_graph(), &supplied).parameters[0].fits());
    const Decoded one = frozen({{"ordered.one", "x"}}, line("ordered.one", "cpu') torch.float32 (1,) (7,)"));
    CHECK(bind_constants(*one.fx_graph(), &supplied).parameters[0].fits());
    const Decoded view = frozen({{"view", "view"}}, line("view", "cpu') torch.float32 (3,) (1,)"));
    CHECK(bind_constants(*view.fx_graph(), &supplied).parameters[0].problem == "stride is [5], expected [1]");
  }

  TEST_CASE("numpy's integers stand for types that it doesn't have, where the graph expects these") {
    for (const char* descr : {"<u2", "|V2"}) {
      const SuppliedValues raw = values(archive("p", descr, "(3,)", 6));
      CHECK(problem("cpu') torch.bfloat16 (3,) (1,)", raw).empty());
      CHECK(problem("cpu') torch.float16 (3,) (1,)", raw).empty());
      CHECK_FALSE(problem("cpu') torch.int16 (3,) (1,)", raw).empty());
      const Decoded decoded = frozen({{"p", "p"}}, line("p", "cpu') torch.bfloat16 (3,) (1,)"));
      const SuppliedConstants source(*decoded.fx_graph(), raw);
      const auto bound = source.unwrap(*decoded.fx_graph(), *rules_of(k2_9));
      REQUIRE(bound->at(0).tensor != nullptr);
      CHECK(bound->at(0).tensor->dtype == "bfloat16");
    }
    CHECK(problem("cpu') torch.float8_e4m3fn (3,) (1,)", values(archive("p", "|u1", "(3,)", 3))).empty());
    CHECK(problem("cpu') torch.uint16 (3,) (1,)", values(archive("p", "<u2", "(3,)", 6))).empty());
    CHECK(problem("cpu') torch.bfloat16 (3,) (1,)", values(archive("p", "<i2", "(3,)", 6))) ==
          "dtype is int16, expected bfloat16");
    // Formats that have the type mean it.
    const Decoded half = frozen({{"uint16", "uint16"}}, line("uint16", "cpu') torch.bfloat16 (5,) (1,)"));
    const SuppliedValues exact = values(sample("many.safetensors"));
    CHECK(bind_constants(*half.fx_graph(), &exact).parameters[0].problem ==
          "dtype is uint16, expected bfloat16");
  }

  TEST_CASE("both names of a parameter are taken, the wrapper's first") {
    const std::string source =
        line("a", "cpu') torch.float32 (1,) (1,)") + line("b", "cpu') torch.float32 (2,) (1,)");
    const Decoded decoded = frozen({{"a", "b"}, {"b", "c"}}, source);
    const SuppliedValues wrapper =
        values(test::make_zip({{"a.npy", array("<f4", "(1,)", 4)}, {"b.npy", array("<f4", "(2,)", 8)}}));
    for (const BoundParameter& parameter : bind_constants(*decoded.fx_graph(), &wrapper).parameters)
      CHECK(parameter.fits());
    const SuppliedValues attributes =
        values(test::make_zip({{"c.npy", array("<f4", "(2,)", 8)}, {"a.npy", array("<f4", "(1,)", 4)}}));
    const ConstantBinding binding = bind_constants(*decoded.fx_graph(), &attributes);
    for (const BoundParameter& parameter : binding.parameters) CHECK(parameter.fits());
    CHECK(binding.superfluous.empty());
  }

  TEST_CASE("what isn't declared is not compared; what is no tensor never fits") {
    const Decoded decoded = frozen({{"nested.note", "x"}, {"float16", "y"}}, "");
    const SuppliedValues supplied = values(sample("many.pt"));
    const ConstantBinding binding = bind_constants(*decoded.fx_graph(), &supplied);
    CHECK(binding.parameters[0].problem == "is a value of type str, expected a tensor");
    CHECK(binding.parameters[1].fits());
  }

  TEST_CASE("stored constants stay, and an AOTAutograd entry's graph has no others") {
    GraphBuilder builder(k2_15);
    builder.set("constants", dict(text("c0"), float_tensor(), text("p"), float_tensor()));
    builder.set("frozen_param_names", dict(text("p"), text("p")));
    const Decoded decoded = decode(builder.pickle());
    const ConstantsReport report = report_constants(*decoded.fx_graph(), LoadedBy::kFxGraphCache, nullptr);
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].state == ConstantState::kStored);
    CHECK(report.rows[0].size == std::vector<std::int64_t>{2, 3});
    CHECK(report.rows[1].state == ConstantState::kMissing);
    const ConstantsReport aot = report_constants(*decoded.fx_graph(), LoadedBy::kAotAutograd, nullptr);
    REQUIRE(aot.rows.size() == 2);
    CHECK(aot.rows[1].state == ConstantState::kStored);
    CHECK(aot.snippet.empty());
  }
}
