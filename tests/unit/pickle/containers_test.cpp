// Lists, tuples, dicts, sets, recorded calls and Python's equality of keys.

#include <doctest/doctest.h>

#include "pickle/numbers.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

Document value_of(const std::string& bytes) {
  auto document = decode(bytes);
  CAPTURE(bytes);
  if (!document) FAIL(describe(document.error()));
  return std::move(*document);
}

void check_malformed(const std::string& bytes, std::uint64_t offset, std::string_view part) {
  const auto document = decode(bytes);
  REQUIRE_FALSE(document);
  CHECK(document.error().code == ErrorCode::kMalformed);
  CHECK(document.error().offset == offset);
  CAPTURE(document.error().message);
  CHECK(document.error().message.find(part) != std::string::npos);
}

const std::string kProto = raw("\x80\4");

/// {a: 1, b: 2} has this many entries.
std::uint32_t entries_with(const std::string& a, const std::string& b) {
  const Document document = value_of(kProto + "}(" + a + "K\1" + b + "K\2u.");
  const DictNode& dict = document.root().dict();
  if (dict.size == 1) CHECK(dict.data[0].value.as_int() == 2);
  return dict.size;
}

}  // namespace

TEST_SUITE("pickle/containers") {
  TEST_CASE("lists and tuples") {
    CHECK(value_of("(K\1K\2l.").root().list().size == 2);
    CHECK(value_of("](K\1K\2eK\3a.").root().list().size == 3);
    CHECK(value_of("]K\1a.").root().list().items()[0].as_int() == 1);
    CHECK(value_of("(t.").root().tuple().size == 0);
    CHECK(value_of(raw("\x80\2K\1\x85.")).root().tuple().size == 1);
    CHECK(value_of(raw("\x80\2NNK\1\x87.")).root().tuple().items()[2].as_int() == 1);
    CHECK(value_of("](e.").root().list().size == 0);
    const Document empty = value_of(raw("\x80\2))\x86."));
    CHECK(identical(empty.root().tuple().items()[0], empty.root().tuple().items()[1]));
    CHECK(value_of(raw("](K\1K\2eK\0K\7sJ\xff\xff\xff\xffK\x08s.")).root().list().items()[1].as_int() == 8);
  }

  TEST_CASE("a list inside itself") {
    const Document document = value_of(raw("]q\0h\0a."));
    CHECK(identical(document.root().list().items()[0], document.root()));
  }

  TEST_CASE("errors of lists and tuples") {
    check_malformed("t.", 0, "TUPLE: there is no MARK");
    check_malformed(raw("\x80\2N\x86."), 3, "TUPLE2");
    check_malformed(raw("\x80\2NN(\x86."), 5, "a MARK is in the way");
    check_malformed("N(Ne.", 3, "a NoneType has no append");
    check_malformed("(Ne.", 2, "APPENDS: the stack is empty");
    check_malformed("Na.", 1, "APPEND");
    check_malformed("]K\5Ns.", 4, "outside the list");
    check_malformed("]U\1aNs.", 5, "must be an integer");
  }

  TEST_CASE("dicts keep the first key and the last value, in order") {
    const Document document = value_of(kProto + raw("}(K\2NK\1N\x88K\7u."));
    const DictNode& dict = document.root().dict();
    REQUIRE(dict.size == 2);
    CHECK(dict.data[1].key.is(Tag::kInt));
    CHECK(dict.data[1].value.as_int() == 7);
    CHECK(value_of("(K\1NK\2Nd.").root().dict().size == 2);
    CHECK(value_of("}K\1Ns.").root().dict().size == 1);
    check_malformed("}(Nu.", 3, "odd");
    check_malformed("(Nd.", 2, "odd");
    check_malformed("NNNs.", 3, "a NoneType takes no items");
  }

  TEST_CASE("equal keys") {
    const std::string one = "K\1";
    const std::string one_float = raw("G\x3f\xf0\0\0\0\0\0\0");
    const std::string zero = raw("K\0");
    const std::string minus_zero = raw("G\x80\0\0\0\0\0\0\0");
    const std::string two_64 = raw("\x8a\x09\0\0\0\0\0\0\0\0\1");
    const std::string two_64_float = raw("G\x43\xf0\0\0\0\0\0\0");
    const std::string min_float = raw("G\xc3\xe0\0\0\0\0\0\0");
    const std::string min = raw("\x8a\x08\0\0\0\0\0\0\0\x80");
    CHECK(entries_with(one, one_float) == 1);
    CHECK(entries_with(one, raw("\x88")) == 1);
    CHECK(entries_with(raw("\x89"), minus_zero) == 1);
    CHECK(entries_with(zero, minus_zero) == 1);
    CHECK(entries_with(two_64, two_64_float) == 1);
    CHECK(entries_with(min, min_float) == 1);
    CHECK(entries_with(two_64, one) == 2);
    CHECK(entries_with("U\1a", short_text("a")) == 1);
    CHECK(entries_with("U\1a", "C\1a") == 2);
    CHECK(entries_with("N", zero) == 2);
    CHECK(entries_with(one + "\x85", one_float + "\x85") == 1);
    CHECK(entries_with(one + "\x85", one) == 2);
    CHECK(entries_with(one + zero + "\x86", zero + one + "\x86") == 2);
    CHECK(entries_with("(" + one + zero + "\x91", "(" + minus_zero + raw("\x88\x91")) == 1);
    CHECK(entries_with("(" + one + "(\x91\x85\x91", "(" + one_float + "(\x91\x85\x91") == 1);
    CHECK(entries_with("(" + one + "\x91", "(" + zero + "\x91") == 2);
    CHECK(entries_with("cm\nC\n", "cm\nC\n") == 1);
    CHECK(entries_with("cm\nC\n)R", "cm\nC\n)R") == 2);
    CHECK(entries_with(raw("G\x7f\xf8\0\0\0\0\0\0"), raw("G\x7f\xf8\0\0\0\0\0\0")) == 2);
  }

  TEST_CASE("unhashable keys") {
    check_malformed("}]Ns.", 3, "a list can't be a key");
    check_malformed(raw("\x80\4}]\x85Ns."), 6, "a tuple can't be a key");
    check_malformed(raw("\x80\4}}Ns."), 5, "a dict");
    check_malformed(raw("\x80\4\x8f(\x8f\x90."), 5, "a set");
    check_malformed(raw("\x80\4(])\x86\x91."), 6, "FROZENSET");
    check_malformed(raw("\x80\5}\x96\0\0\0\0\0\0\0\0Ns."), 13, "a bytearray");
  }

  TEST_CASE("sets") {
    const Document document = value_of(kProto + raw("\x8f(K\1K\2\x88\x90."));
    CHECK(document.root().is(Tag::kSet));
    CHECK(document.root().set().size == 2);
    CHECK(value_of(kProto + raw("(K\1K\1\x91.")).root().set().size == 1);
    check_malformed(raw("\x80\4](N\x90."), 5, "a list has no add");
    check_malformed(raw("\x80\4(\x91(N\x90."), 6, "a frozenset has no add");
  }

  TEST_CASE("containers with an index: every key is found, equal ones are one") {
    std::string bytes = kProto + "}(";
    for (unsigned i = 0; i < 3000; ++i) bytes += "M" + little(i * 7 % 3001, 2) + "M" + little(i, 2);
    for (unsigned i = 0; i < 3000; ++i) bytes += short_text("key" + std::to_string(i)) + "M" + little(i, 2);
    for (unsigned i = 0; i < 3000; ++i) bytes += "M" + little(i * 7 % 3001, 2) + "K\5";
    const Document document = value_of(bytes + "u.");
    const DictNode& dict = document.root().dict();
    REQUIRE(dict.size == 6000);
    CHECK(dict.data[0].value.as_int() == 5);
    CHECK(dict.data[2999].key.as_int() == 2999 * 7 % 3001);
    for (unsigned i = 0; i < 3000; i += 17) {
      const Value* value = find(dict, "key" + std::to_string(i));
      REQUIRE(value != nullptr);
      CHECK(value->as_int() == i);
    }
    CHECK(find(dict, "key3000") == nullptr);
  }

  TEST_CASE("calls are recorded") {
    const Document reduce = value_of(raw("cm\nf\n(K\1tR."));
    const ObjectNode& call = reduce.root().object();
    CHECK(call.construction == Construction::kReduce);
    CHECK(is_global(call.callable, "m", "f"));
    CHECK(call.args.tuple().size == 1);
    CHECK(reduce.calls().size() == 1);
    CHECK(reduce.globals().size() == 1);
    CHECK(value_of(raw("\x80\2cm\nC\n)\x81.")).root().object().construction == Construction::kNewObj);
    const Document extended = value_of(raw("\x80\4cm\nC\n)}U\1aNs\x92."));
    CHECK(extended.root().object().kwargs.dict().size == 1);
    const Document inst = value_of(raw("(K\1im\nC\n."));
    CHECK(inst.root().object().construction == Construction::kInst);
    CHECK(inst.root().object().args.tuple().size == 1);
    CHECK(value_of(raw("(cm\nC\nNNo.")).root().object().args.tuple().size == 2);
    CHECK(is_global(value_of(kProto + short_text("a.b") + short_text("C.D") + raw("\x93.")).root(), "a.b",
                    "C.D"));
  }

  TEST_CASE("state, appended values and items of an object") {
    const Document document =
        value_of(raw("cm\nC\n)R}U\1aNsbN}\x86"
                     "b(K\1K\2eK\3a(K\4NK\4K\5u\x80\4(K\6\x90."));
    const ObjectNode& object = document.root().object();
    REQUIRE(object.states.size == 2);
    CHECK(find(object.states.data[0].dict(), "a") != nullptr);
    CHECK(object.states.data[1].is(Tag::kTuple));
    CHECK(object.appended.size == 4);
    REQUIRE(object.items.size == 1);
    CHECK(object.items.data[0].value.as_int() == 5);
  }

  TEST_CASE("a global looked up twice is one node") {
    const Document document = value_of(raw("\x80\2cm\nC\ncm\nC\n\x86."));
    CHECK(identical(document.root().tuple().items()[0], document.root().tuple().items()[1]));
    CHECK(document.globals().size() == 1);
  }

  TEST_CASE("errors of calls") {
    check_malformed("N)R.", 2, "REDUCE: a NoneType can't be called");
    check_malformed("cm\nC\nNR.", 6, "not a tuple");
    check_malformed(raw("\x80\2N)\x81."), 4, "a NoneType is not a class");
    check_malformed(raw("\x80\2cm\nC\n]\x81."), 8, "not a tuple");
    check_malformed(raw("\x80\4cm\nC\n)N\x92."), 9, "not a dict");
    check_malformed(raw("\x80\4cm\nC\n)}K\1Ns\x92."), 13, "a keyword is not a string");
    check_malformed("(o.", 1, "OBJ");
    check_malformed("(No.", 2, "can't be called");
    check_malformed("c\nC\n.", 0, "module's name is empty");
    check_malformed("cm\n\n.", 0, "name is empty");
    check_malformed(raw("cm\n\xff\n."), 0, "UTF-8");
    check_malformed(raw("(i\xc3\xa9\nC\n."), 1, "ASCII");
    check_malformed(raw("\x80\4NU\1a\x93."), 6, "must be strings");
    check_malformed("NNNb0b.", 5, "BUILD");
  }

  TEST_CASE("persistent ids") {
    CHECK(value_of("Pabc\n.").root().persistent().id.bytes() == "abc");
    CHECK(value_of("K\7Q.").root().persistent().id.as_int() == 7);
    check_malformed("Q.", 0, "BINPERSID");
    check_malformed(raw("P\xff\n."), 0, "ASCII");
  }
}
