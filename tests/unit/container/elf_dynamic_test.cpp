#include "container/elf_dynamic.h"

#include <doctest/doctest.h>

#include <string>

#include "elf_maker.h"

using namespace cachetool;
using namespace cachetool::container;
using namespace elf_tests;

namespace {

SharedObject example() {
  SharedObject object;
  object.soname = "libx.so";
  object.needed = {"libstdc++.so.6", "libc.so.6"};
  object.run_path = "$ORIGIN/lib";
  object.imports = {{"printf", "libc.so.6", "GLIBC_2.2.5"},
                    {"dlopen", "libc.so.6", "GLIBC_2.34"},
                    {"__cxa_throw", "libstdc++.so.6", "CXXABI_1.3"},
                    {"aoti_torch_check"},
                    {"__gmon_start__", {}, {}, true}};
  object.exports = {{"kernel"}, {"old", "X_1"}, {"new", "X_2"}};
  object.versions = {"X_1", "X_2"};
  return object;
}

}  // namespace

TEST_SUITE("container/elf_dynamic") {
  TEST_CASE("what a shared object imports, exports, needs and defines") {
    const std::string bytes = make_shared_object(example());
    const auto dynamic = read_elf_dynamic(bytes);
    REQUIRE(dynamic);
    CHECK(dynamic->soname == "libx.so");
    CHECK(dynamic->needed == std::vector<std::string_view>{"libstdc++.so.6", "libc.so.6"});
    CHECK(dynamic->run_path == std::vector<std::string_view>{"$ORIGIN/lib"});
    CHECK(dynamic->versions == std::vector<std::string_view>{"X_1", "X_2"});
    REQUIRE(dynamic->version_needs.size() == 3);
    CHECK(dynamic->version_needs[1].library == "libc.so.6");
    CHECK(dynamic->version_needs[1].version == "GLIBC_2.34");
    CHECK_FALSE(dynamic->version_needs[1].weak);
    REQUIRE(dynamic->imports.size() == 5);
    CHECK(dynamic->imports[1].name == "dlopen");
    CHECK(dynamic->imports[1].library == "libc.so.6");
    CHECK(dynamic->imports[1].version == "GLIBC_2.34");
    CHECK(dynamic->imports[2].version == "CXXABI_1.3");
    CHECK(dynamic->imports[3].version.empty());
    CHECK_FALSE(dynamic->imports[3].weak);
    CHECK(dynamic->imports[4].weak);
    REQUIRE(dynamic->exports.size() == 3);
    CHECK(dynamic->exports[0].version.empty());
    CHECK(dynamic->exports[1].version == "X_1");
    CHECK(dynamic->exports[2].version == "X_2");
    CHECK_FALSE(dynamic->chooses_at_load);
  }

  TEST_CASE("a function that the loader chooses is noticed") {
    SharedObject object = example();
    object.exports.push_back({"memcpy", {}, true});
    const auto dynamic = read_elf_dynamic(make_shared_object(object));
    REQUIRE(dynamic);
    CHECK(dynamic->chooses_at_load);
  }

  TEST_CASE("a version that only weak symbols want is weak") {
    SharedObject object;
    object.imports = {{"clock_gettime64", "libc.so.6", "GLIBC_2.99", true}};
    const std::string bytes = make_shared_object(object);
    const auto dynamic = read_elf_dynamic(bytes);
    REQUIRE(dynamic);
    REQUIRE(dynamic->version_needs.size() == 1);
    CHECK(dynamic->version_needs[0].weak);
  }

  TEST_CASE("a file without dynamic sections says nothing") {
    const auto dynamic = read_elf_dynamic(make_elf({}));
    REQUIRE(dynamic);
    CHECK(dynamic->imports.empty());
    CHECK(dynamic->exports.empty());
    CHECK(dynamic->needed.empty());
  }

  TEST_CASE("damaged tables are errors, and every cut and flip ends") {
    const std::string whole = make_shared_object(example());
    for (std::size_t size = 0; size < whole.size(); ++size)
      static_cast<void>(read_elf_dynamic(std::string_view(whole).substr(0, size)));
    std::size_t refused = 0;
    for (std::size_t at = 64; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
      if (!read_elf_dynamic(flipped)) ++refused;
    }
    CHECK(refused > 50);
  }

  TEST_CASE("versions chained in a circle are refused") {
    DynamicTables tables;
    const std::string names("\0libc.so.6\0V\0", 13);
    tables.names = names;
    std::string needs;
    append(needs, 1, 2);
    append(needs, 0xffff, 2);
    append(needs, 1, 4);
    append(needs, 16, 4);
    append(needs, 0, 4);
    append(needs, 0, 4);
    append(needs, 0, 2);
    append(needs, 2, 2);
    append(needs, 11, 4);
    append(needs, 0, 4);  // the next one is this one again
    tables.version_needs = needs;
    const auto dynamic = read_dynamic(tables);
    REQUIRE_FALSE(dynamic);
    CHECK(dynamic.error().code == ErrorCode::kMalformed);
  }

  TEST_CASE("too many symbols are refused") {
    ElfLimits limits;
    limits.max_symbols = 4;
    const auto dynamic = read_elf_dynamic(make_shared_object(example()), limits);
    REQUIRE_FALSE(dynamic);
    CHECK(dynamic.error().code == ErrorCode::kLimitWork);
  }

  TEST_CASE("names that overlap may not cost more than the table's size allows") {
    std::string names(4096, 'x');
    names += '\0';
    ElfStrings strings(names);
    std::size_t served = 0;
    while (served < 100 && strings.at(0)) ++served;
    CHECK(served == 16);
    CHECK_FALSE(ElfStrings("abc").at(0));
    CHECK_FALSE(ElfStrings("abc").at(3));
  }
}
