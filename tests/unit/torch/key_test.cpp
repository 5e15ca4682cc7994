#include "torch/key.h"

#include <doctest/doctest.h>

using namespace cachetool::torch;

TEST_SUITE_BEGIN("torch/key");

TEST_CASE("code hashes are those of torch") {
  CHECK(code_hash("").str() == "c4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk");
  CHECK(code_hash("abc").str() == "cxj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacww");
  CHECK(code_hash("abc", "x").str() == "cpb5c6zdn3hgoewtxwmr6jfifee4rdednewkg53dbxftd52by4lz");
}

TEST_CASE("names read back as they were written") {
  for (const char* text : {"c4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk",
                           "4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk"}) {
    const auto name = HashName::parse(text);
    REQUIRE(name);
    CHECK(name->str() == text);
  }
  CHECK(*HashName::parse("c4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk") == code_hash(""));
}

TEST_CASE("other names are refused") {
  CHECK_FALSE(HashName::parse(""));
  CHECK_FALSE(HashName::parse("entry"));
  CHECK_FALSE(HashName::parse("x4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk"));
  CHECK_FALSE(HashName::parse("4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxb"));
  CHECK_FALSE(HashName::parse("4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBK"));
  CHECK_FALSE(HashName::parse("1oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk"));
}

TEST_CASE("strip trims what Python calls white space and nothing else") {
  CHECK(python_strip(" \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f text \n") == "text");
  CHECK(python_strip("\xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80"
                     "\xaf\xe2\x81\x9f\xe3\x80\x80x\xe3\x80\x80") == "x");
  CHECK(python_strip("\xe2\x80\x8bx\xef\xbb\xbf") ==
        "\xe2\x80\x8bx\xef\xbb\xbf");  // zero width: no white space
  CHECK(python_strip(" \n") == "");
  CHECK(python_strip("\x85x\xa0") == "\x85x\xa0");  // lone bytes are no characters
}

TEST_CASE("a name that was never set has no text") {
  CHECK(HashName{}.str().empty());
}

TEST_SUITE_END();
