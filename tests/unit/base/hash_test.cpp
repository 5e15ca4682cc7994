#include "base/hash.h"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <array>
#include <string>
#include <vector>

using namespace cachetool;

namespace {

std::string base32(std::string_view text) {
  return to_base32({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

TEST_SUITE("base/hash") {
  TEST_CASE("SHA-256 of known messages") {
    CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(to_hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  TEST_CASE("a stream gives what one piece gives, also after a move") {
    const std::string message(100'000, 'm');
    Sha256Stream stream;
    stream.update(std::string_view(message).substr(0, 1));
    stream.update("");
    Sha256Stream moved = std::move(stream);
    moved.update(std::string_view(message).substr(1, 70'000));
    moved.update(std::string_view(message).substr(70'001));
    CHECK(moved.finish() == sha256(message));
    CHECK(Sha256Stream().finish() == sha256(""));
  }

  TEST_CASE("base32 as RFC 4648 has it, in lower case and without padding") {
    CHECK(base32("") == "");
    CHECK(base32("f") == "my");
    CHECK(base32("fo") == "mzxq");
    CHECK(base32("foo") == "mzxw6");
    CHECK(base32("foob") == "mzxw6yq");
    CHECK(base32("fooba") == "mzxw6ytb");
    CHECK(base32("foobar") == "mzxw6ytboi");
    CHECK(to_base32(sha256("abc")) == "xj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacwwq");
  }

  TEST_CASE("base32 reads back") {
    CHECK(rc::check("from_base32(to_base32(b)) == b", [](const std::vector<std::uint8_t>& bytes) {
      const std::string text = to_base32(bytes);
      std::vector<std::uint8_t> back(text.size() * 5 / 8);
      RC_ASSERT(from_base32(text, back));
      RC_ASSERT(back == bytes);
    }));
  }

  TEST_CASE("what base32 refuses") {
    std::array<std::uint8_t, 1> one{};
    std::array<std::uint8_t, 2> two{};
    CHECK(from_base32("my", one));
    CHECK(one[0] == 'f');
    CHECK_FALSE(from_base32("my", two));
    CHECK_FALSE(from_base32("mz", one));  // spare bits set
    CHECK_FALSE(from_base32("MY", one));
    for (const char* text : {"m1", "m8", "m=", "m ", "m\xff"}) CHECK_FALSE(from_base32(text, one));
  }

  TEST_CASE("hexadecimal") {
    constexpr std::array<std::uint8_t, 4> kBytes = {0x00, 0x0f, 0xa5, 0xff};
    CHECK(to_hex(kBytes) == "000fa5ff");
    CHECK(to_hex({}) == "");
    CHECK(from_hex("000fa5ff") == std::string("\x00\x0f\xa5\xff", 4));
    CHECK(from_hex("").empty());
    CHECK(from_hex("0f1").size() == 1);
    CHECK(from_hex("0f1g2h") == "\x0f");
    CHECK(from_hex("0F") == "\x0f");
  }
}
