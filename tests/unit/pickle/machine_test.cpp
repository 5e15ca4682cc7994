// Dispatch, memo, marks, frames and what is recorded as a deviation.

#include "pickle/document.h"

#include <doctest/doctest.h>

#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;
using Kind = Deviation::Kind;

namespace {

/// The only deviation of a pickle that decodes.
void check_deviation(const std::string& bytes, Kind kind, std::uint64_t offset) {
  const auto document = decode(bytes);
  REQUIRE(document);
  REQUIRE(document->deviations().size() == 1);
  CHECK(deviation_name(document->deviations()[0].kind) == deviation_name(kind));
  CHECK(document->deviations()[0].offset == offset);
  CHECK_FALSE(document->deviations()[0].detail.empty());
}

void check_error(const std::string& bytes, ErrorCode code, std::uint64_t offset, std::string_view part) {
  CAPTURE(part);
  const auto document = decode(bytes);
  REQUIRE_FALSE(document);
  CHECK(code_name(document.error().code) == code_name(code));
  CHECK(document.error().offset == offset);
  CAPTURE(document.error().message);
  CHECK(document.error().message.find(part) != std::string::npos);
}

}  // namespace

TEST_SUITE("pickle/machine") {
  TEST_CASE("a dict with shared and nested values") {
    const auto document =
        decode(raw("\x80\x04\x95\x16\0\0\0\0\0\0\0}\x94(\x8c\x01"
                   "a\x94K\x01\x8c\x01"
                   "b\x94]\x94(h\x01Neu."));
    REQUIRE(document);
    CHECK(document->deviations().empty());
    CHECK(document->protocol() == 4);
    CHECK(document->trailing_bytes() == 0);
    const DictNode& dict = document->root().dict();
    REQUIRE(dict.size == 2);
    CHECK(find(dict, "a")->as_int() == 1);
    CHECK(find(dict, "c") == nullptr);
    const auto items = items_of(*find(dict, "b"));
    REQUIRE(items.size() == 2);
    CHECK(identical(items[0], dict.pairs()[0].key));
    CHECK(items[1].is_none());
  }

  TEST_CASE("values stay where they are when the document moves, short bytes too") {
    auto first = decode(raw("\x80\x04\x8c\x02hi."));
    REQUIRE(first);
    const char* before = first->root().bytes().data();
    Document second = std::move(*first);
    Document third;
    third = std::move(second);
    CHECK(third.root().bytes().data() == before);
    CHECK(third.root().bytes() == "hi");
  }

  TEST_CASE("memo: every way to put and get") {
    for (const std::string& bytes : {raw("]q\x05h\x05\x86."), raw("]r\x05\0\0\0j\x05\0\0\0\x86."),
                                     raw("]p5\ng5\n\x86."), raw("\x80\x04]\x94h\0\x86.")}) {
      const auto document = decode(bytes);
      REQUIRE(document);
      const auto items = items_of(document->root());
      REQUIRE(items.size() == 2);
      CHECK(identical(items[0], items[1]));
    }
  }

  TEST_CASE("memo: MEMOIZE numbers by what the memo holds, a PUT may overwrite") {
    // PUT 3 leaves three gaps; the next MEMOIZE is number 1.
    const auto document = decode(raw("\x80\x04Kaq\x03\x30Kb\x94\x30h\x03h\x01\x86."));
    REQUIRE(document);
    CHECK(items_of(document->root())[0].as_int() == 'a');
    CHECK(items_of(document->root())[1].as_int() == 'b');
    const auto overwritten = decode(raw("KaKbq\0\x30q\0\x30h\0."));
    REQUIRE(overwritten);
    CHECK(overwritten->root().as_int() == 'a');
  }

  TEST_CASE("memo: far indices take no memory and are found again") {
    std::string bytes = raw("\x80\x02]");
    for (std::uint64_t i = 0; i < 500; ++i)
      bytes += "K" + little(i % 256, 1) + "r" + little(2'000'000'000 + i * 1'000'003, 4) + "0";
    bytes += "j" + little(2'000'000'000ULL + 77 * 1'000'003, 4) + "j" +
             little(2'000'000'000ULL + 300 * 1'000'003, 4) + "\x86.";
    const auto document = decode(bytes);
    REQUIRE(document);
    CHECK(items_of(document->root())[0].as_int() == 77);
    CHECK(items_of(document->root())[1].as_int() == 300 % 256);
    CHECK(has_deviation(*document, Kind::kSparsePut));
    CHECK(document->deviations().size() ==
          Document::kMaxDeviationsPerKind + 1);  // and the list that is left over
    CHECK(document->peak_memory() < 200'000);
  }

  TEST_CASE("memo: errors") {
    check_error(raw("h\x07."), ErrorCode::kMalformed, 0, "BINGET: the memo has no value 7");
    check_error(raw("Ng-1\n."), ErrorCode::kMalformed, 1, "GET");
    check_error(raw("Np-1\n."), ErrorCode::kMalformed, 1, "PUT: the index is negative");
    check_error(raw("q\0."), ErrorCode::kMalformed, 0, "BINPUT: the stack is empty");
    check_error(raw("N(q\0."), ErrorCode::kMalformed, 2, "a MARK is in the way");
    check_error(raw("Np99999999999999999999\n."), ErrorCode::kMalformed, 1, "64 bits");
  }

  TEST_CASE("DUP, POP and POP_MARK") {
    const auto pair = decode(raw("]2\x86."));
    REQUIRE(pair);
    CHECK(identical(items_of(pair->root())[0], items_of(pair->root())[1]));
    check_error(raw("K\1K\2"
                    "0(NN10."),
                ErrorCode::kMalformed, 10, "STOP: the stack is empty");
    const auto mark = decode(raw("K\1(0."));
    REQUIRE(mark);
    CHECK(mark->root().as_int() == 1);
    CHECK(mark->deviations().empty());
    check_error(raw("2."), ErrorCode::kMalformed, 0, "DUP: the stack is empty");
    check_error(raw("0."), ErrorCode::kMalformed, 0, "POP: the stack is empty");
    check_error(raw("1."), ErrorCode::kMalformed, 0, "POP_MARK: there is no MARK");
    check_error(raw("N(2."), ErrorCode::kMalformed, 2, "a MARK is in the way");
  }

  TEST_CASE("what is not a pickle") {
    check_error("", ErrorCode::kTruncated, 0, "before STOP");
    check_error(raw("N"), ErrorCode::kTruncated, 1, "before STOP");
    check_error(raw("."), ErrorCode::kMalformed, 0, "STOP");
    check_error(raw("N\xff."), ErrorCode::kMalformed, 1, "byte 0xff is not an opcode");
    check_error(raw("\0"), ErrorCode::kMalformed, 0, "byte 0x00");
    check_error(raw("\x80\x06N."), ErrorCode::kUnsupported, 0, "protocol 6");
    check_error(raw("\x80\x05\x97."), ErrorCode::kMalformed, 2, "NEXT_BUFFER");
  }

  TEST_CASE("extension codes mean nothing here") {
    check_error(raw("\x80\x02\x82\x05."), ErrorCode::kMalformed, 2,
                "EXT1: extension code 5 is not registered");
    check_error(raw("\x80\x02\x83\0\0."), ErrorCode::kMalformed, 2, "not positive");
    check_error(raw("\x80\x02\x84\xff\xff\xff\xff."), ErrorCode::kMalformed, 2, "not positive");
    check_error(raw("\x80\x02\x84\x01"), ErrorCode::kTruncated, 2, "EXT4");
  }

  TEST_CASE("deviation: PROTO again, or missing") {
    check_deviation(raw("\x80\x02\x80\x04\x8fN\x86."), Kind::kSecondProto, 2);
    check_deviation(raw("\x8f."), Kind::kMissingProto, 0);
    check_deviation(raw("\x80\x02N\x8c\x01"
                        "a\x86."),
                    Kind::kMissingProto, 3);
    const auto old = decode(raw("(lp0\nI1\na."));
    REQUIRE(old);
    CHECK(old->deviations().empty());
    CHECK(old->protocol() == 0);
  }

  TEST_CASE("deviation: frames") {
    const std::string proto = raw("\x80\x04");
    check_deviation(proto + raw("\x95\x0b\0\0\0\0\0\0\0"
                                "N\x95\x01\0\0\0\0\0\0\0"
                                "0N."),
                    Kind::kNestedFrame, 12);
    check_deviation(proto + raw("\x95\x01\0\0\0\0\0\0\0K\x07."), Kind::kArgumentAcrossFrame, 11);
    const auto beyond = decode(proto + raw("\x95\x0a\0\0\0\0\0\0\0\x95\x05\0\0\0\0\0\0\0N0N0N."));
    REQUIRE(beyond);
    CHECK(has_deviation(*beyond, Kind::kNestedFrame));
    CHECK(has_deviation(*beyond, Kind::kFrameBeyondEnd));
    check_error(proto + raw("\x95\x05\0\0\0\0\0\0\0N."), ErrorCode::kTruncated, 2,
                "FRAME: a frame of 5 bytes");
    check_error(proto + raw("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), ErrorCode::kTruncated, 2, "FRAME");
    const auto two = decode(proto + raw("\x95\x01\0\0\0\0\0\0\0N\x95\x02\0\0\0\0\0\0\0\x85."));
    REQUIRE(two);
    CHECK(two->deviations().empty());
  }

  TEST_CASE("deviation: leftovers and trailing bytes") {
    check_deviation(raw("NN."), Kind::kStackLeftovers, 2);
    check_deviation(raw("N.rest"), Kind::kTrailingBytes, 2);
    const auto document = decode(raw("N.rest"));
    CHECK(document->end() == 2);
    CHECK(document->trailing_bytes() == 4);
  }

  TEST_CASE("deviation: calls that aren't part of the result") {
    const std::string call = raw("cos\nsystem\n(U\x02lstR");
    for (const std::string& bytes : {call + "0N.", "(" + call + "1N.", "](" + call + "e0N.", call + "N.",
                                     "}(K\1" + call + "K\1Nu.", "}K\1" + call + "sK\1Ns."}) {
      const auto document = decode(bytes);
      REQUIRE(document);
      CHECK(has_deviation(*document, Kind::kDroppedCall));
      REQUIRE(document->dropped_calls().size() == 1);
      CHECK(is_global(document->dropped_calls()[0].object().callable, "os", "system"));
    }
    // A pickler pops the items of a tuple that holds itself; everything is still there.
    const auto recursive =
        decode(raw("\x80\x02"
                   "cm\nC\n)Rq\0}U\x01tcm\nC\n)Rq\x01sbh\x01"
                   "0."));
    REQUIRE(recursive);
    CHECK(recursive->dropped_calls().empty());
    CHECK(recursive->deviations().empty());
  }

  TEST_CASE("deviation: changing what the pickle didn't make") {
    const std::string global = raw("cm\nC\n");
    for (const std::string& change : {raw("N}U\1aNs\x86"
                                          "b"),
                                      raw("Na"), raw("(Ne"), raw("NNs"), raw("\x80\x04(N\x90")}) {
      const auto document = decode(global + change + ".");
      REQUIRE(document);
      CHECK(document->root().is(Tag::kGlobal));
      CHECK(has_deviation(*document, Kind::kForeignTarget));
      REQUIRE(document->calls().size() == 1);
      CHECK(document->calls()[0].object().construction == Construction::kMutation);
      CHECK(is_global(document->calls()[0].object().callable, "m", "C"));
      CHECK(document->dropped_calls().empty());
    }
    check_deviation(raw("NNb."), Kind::kForeignTarget, 2);
    check_error(raw("N}b."), ErrorCode::kMalformed, 2, "BUILD: a NoneType takes no state");
    check_error(raw("]N}U\1aNs\x86"
                    "b."),
                ErrorCode::kMalformed, 9, "takes no state");
    check_error(raw("]NN\x86"
                    "b."),
                ErrorCode::kMalformed, 4, "slots is not a dict");
  }

  TEST_CASE("a document of each deviation keeps a bounded number of them") {
    const auto document = decode(repeat(raw("\x80\x04"), 100'000) + "N.");
    REQUIRE(document);
    CHECK(document->deviations().size() == Document::kMaxDeviationsPerKind);
  }
}
