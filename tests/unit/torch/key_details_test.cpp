#include "torch/key_details.h"

#include <doctest/doctest.h>

#include <string>

using namespace cachetool::torch;

TEST_SUITE_BEGIN("torch/key_details");

namespace {
const std::string kHash(51, 'a');
}

TEST_CASE("a line splits into hash, path and text") {
  const std::string line = "[" + kHash + "] inductor_config[triton.cudagraphs]: False";
  const auto component = parse_key_line(line);
  REQUIRE(component);
  CHECK(component->hash == kHash);
  CHECK(component->path == "inductor_config[triton.cudagraphs]");
  CHECK(component->text == "False");
}

TEST_CASE("colons inside of a path's brackets and in the text belong to them") {
  const std::string line = "[" + kHash + "] fx_kwargs[a: b]: x: y";
  CHECK(parse_key_line(line)->path == "fx_kwargs[a: b]");
  CHECK(parse_key_line(line)->text == "x: y");
  CHECK(parse_key_line("[" + kHash + "] gm: ")->text.empty());
}

TEST_CASE("lines of another form are none") {
  CHECK_FALSE(parse_key_line(""));
  CHECK_FALSE(parse_key_line("[short] gm: x"));
  CHECK_FALSE(parse_key_line("[" + kHash + "]gm: x"));
  CHECK_FALSE(parse_key_line("[" + kHash + "] no colon"));
}

TEST_CASE("components are found by path") {
  const std::string lines[] = {"[" + kHash + "] example_inputs[0]: t0",
                               "[" + kHash + "] example_inputs[1]: t1",
                               "[" + kHash + "] torch_version: <bytes>",
                               "[" + kHash + "] system_info[device]: gpu",
                               "[" + kHash + "] inductor_config[size_asserts]: True",
                               "odd"};
  std::vector<cachetool::pickle::Value> values;
  for (const std::string& line : lines)
    values.push_back(cachetool::pickle::Value::text(cachetool::pickle::Tag::kString, line));
  const KeyDetails details{Texts(values)};
  CHECK(details.size() == 6);
  CHECK(details.torch_identity() == kHash);
  CHECK(details.device() == "gpu");
  CHECK(details.config("size_asserts") == "True");
  CHECK_FALSE(details.config("size"));
  CHECK(details.example_inputs().size() == 2);
  CHECK(details.find("example_inputs[1]")->text == "t1");
  CHECK_FALSE(details.find("example_inputs"));
  CHECK(details[5].text == "odd");
  CHECK(details.components().size() == 6);
}

TEST_SUITE_END();
