#include "change/journal.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>

#include "base/hash.h"
#include "base/memory_file_system.h"
#include "change/parents.h"
#include "change/recover.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

constexpr std::size_t kHeaderBytes = 20;

Journal sample() {
  return {"20261201T053740Z",
          1'796'103'460'000'000'000,
          {{"one", "fxgraph.name", Action::kQuarantine, {"fxgraph/ab/fkey/leaf"}},
           {"two", "old", Action::kRemove, {"ab/c.cpp", "ab/c.so", std::string("ab/\xff raw")}}}};
}

/// A journal with this payload whose length and checksum are right.
std::string with_header(const std::string& payload) {
  std::string bytes("CTjrnl\0\0\1\0\0\0", 12);
  const std::uint64_t length = payload.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  const Sha256Digest digest = sha256(bytes + payload);
  bytes.append(digest.begin(), digest.end());
  return bytes + payload;
}

std::string payload_of(const std::string& journal) {
  return journal.substr(kHeaderBytes + 32);
}

ErrorCode code_of(const std::string& bytes) {
  const auto journal = decode_journal(bytes);
  REQUIRE_FALSE(journal.has_value());
  return journal.error().code;
}

}  // namespace

TEST_SUITE("change/journal") {
  TEST_CASE("comes back as it was written") {
    const Journal written = sample();
    const auto read = decode_journal(encode_journal(written));
    REQUIRE(read.has_value());
    CHECK(read->run == written.run);
    CHECK(read->created_ns == written.created_ns);
    REQUIRE(read->units.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(read->units[i].label == written.units[i].label);
      CHECK(read->units[i].reason == written.units[i].reason);
      CHECK(read->units[i].action == written.units[i].action);
      CHECK(read->units[i].paths == written.units[i].paths);
    }
    CHECK(with_header(payload_of(encode_journal(written))) == encode_journal(written));
  }

  TEST_CASE("cut at every length") {
    const std::string bytes = encode_journal(sample());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(length);
      CHECK(code_of(bytes.substr(0, length)) == ErrorCode::kTruncated);
    }
    CHECK(code_of(bytes + '\0') == ErrorCode::kMalformed);
  }

  TEST_CASE("every bit flipped") {
    const std::string bytes = encode_journal(sample());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        CAPTURE(i);
        std::string changed = bytes;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ (1U << bit));
        CHECK_FALSE(decode_journal(changed).has_value());
      }
    }
    std::string later = bytes;
    later[8] = 2;
    CHECK(code_of(later) == ErrorCode::kUnsupported);
  }

  TEST_CASE("a payload cut or flipped anywhere under a right checksum") {
    const std::string payload = payload_of(encode_journal(sample()));
    for (std::size_t length = 0; length < payload.size(); ++length) {
      CAPTURE(length);
      CHECK(code_of(with_header(payload.substr(0, length))) == ErrorCode::kMalformed);
    }
    CHECK(code_of(with_header(payload + "x")) == ErrorCode::kMalformed);
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < payload.size(); ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        std::string changed = payload;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ (1U << bit));
        const auto journal = decode_journal(with_header(changed));
        if (!journal) continue;
        ++accepted;
        CHECK(is_run_name(journal->run));
        for (const JournalUnit& unit : journal->units) {
          for (const std::string& path : unit.paths) CHECK(parse_path(path).has_value());
        }
      }
    }
    CHECK(accepted > 0);
  }

  TEST_CASE("lengths that go past the end take no memory") {
    const std::string payload = payload_of(encode_journal(sample()));
    const auto with_length = [&](std::size_t position, std::uint64_t length) {
      std::string changed = payload;
      std::memcpy(changed.data() + position, &length, sizeof(length));
      return with_header(changed);
    };
    const std::size_t units = sizeof(std::uint64_t) + sample().run.size() + sizeof(std::int64_t);
    const std::size_t paths = units + 8 + (8 + 3) + (8 + 12) + 1;
    for (const std::uint64_t length :
         {std::uint64_t{1} << 20, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
      CHECK(code_of(with_length(0, length)) == ErrorCode::kMalformed);      // the run's name
      CHECK(code_of(with_length(units, length)) == ErrorCode::kMalformed);  // the number of units
      CHECK(code_of(with_length(units + 8, length)) == ErrorCode::kMalformed);
      CHECK(code_of(with_length(paths, length)) == ErrorCode::kMalformed);
    }
  }

  TEST_CASE("paths that lead elsewhere are refused") {
    for (const char* path : {"", "/", "/etc/passwd", "..", "../x", "a/..", "a/../b", "a//b", "a/", ".", "./a",
                             ".cachetool", ".cachetool/trash/x"}) {
      CAPTURE(path);
      Journal journal = sample();
      journal.units[1].paths[0] = path;
      CHECK(code_of(encode_journal(journal)) == ErrorCode::kMalformed);
    }
    Journal journal = sample();
    journal.units[1].paths[0] = std::string("a\0b", 3);
    CHECK(code_of(encode_journal(journal)) == ErrorCode::kMalformed);
    journal.units[1].paths[0] = std::string(5000, 'a');
    CHECK(code_of(encode_journal(journal)) == ErrorCode::kMalformed);
  }

  TEST_CASE("actions and names of runs are checked") {
    Journal journal = sample();
    journal.units[0].action = static_cast<Action>(7);
    CHECK(code_of(encode_journal(journal)) == ErrorCode::kMalformed);
    for (const char* run : {"", "..", "../20261201T053740Z", "20261201T053740Z/..", "20261201T053740Z-",
                            "20261201T053740Z-x", "20261201T053740Z-1234567890", "2026-12-01T05:37:40Z"}) {
      CAPTURE(run);
      CHECK_FALSE(is_run_name(run));
      journal = sample();
      journal.run = run;
      CHECK(code_of(encode_journal(journal)) == ErrorCode::kMalformed);
    }
    CHECK(is_run_name("20261201T053740Z-2"));
  }
}

TEST_SUITE("change/hostile journals") {
  /// A cache whose own state holds a journal and whatever `staged` says.
  struct Prepared {
    MemoryFileSystem fs;
    Prepared(const std::string& file, const std::string& bytes,
             const std::vector<std::pair<std::string, std::string>>& staged) {
      fill_cache(fs);
      fs.add_dir(".cachetool");
      fs.change_stat(".cachetool", [](FileStat& stat) { stat.mode = 0700; });
      fs.add_file(".cachetool/journal/" + file, bytes);
      for (const auto& [path, content] : staged) fs.add_file(".cachetool/trash/" + path, content);
    }
    Recovery recover() { return *change::recover(fs, *fs.open_root("/"), 0); }
  };
  const std::string run = "20261201T053740Z";

  TEST_CASE("a damaged one changes nothing and is reported") {
    const std::string bytes = encode_journal(sample());
    for (const std::string& damaged : {std::string(), bytes.substr(0, bytes.size() / 2), bytes + "x"}) {
      Prepared cache(run, damaged, {{run + "/0.0", "graph"}});
      const Tree before = tree_of(cache.fs);
      const Recovery recovery = cache.recover();
      REQUIRE(recovery.problems.size() == 1);
      CHECK(recovery.problems[0].path == ".cachetool/journal/" + run);
      CHECK(recovery.problems[0].hint == "what the run had moved is in .cachetool/trash/" + run);
      Tree after = tree_of(cache.fs);
      after.erase(".cachetool/lock");
      after.erase(".cachetool/quarantine");
      CHECK(after == before);
    }
  }

  TEST_CASE("it takes nothing from the cache, whatever it names") {
    Journal journal = sample();
    journal.units = {
        {"all", "", Action::kRemove, {"fxgraph", "ab/" + kKernel + ".so", "locks", "triton/0/DIR"}}};
    Prepared cache(run, encode_journal(journal), {});
    const Tree before = cache_of(tree_of(cache.fs));
    CHECK(cache.recover().problems.empty());
    CHECK(cache_of(tree_of(cache.fs)) == before);
  }

  TEST_CASE("it replaces nothing, and follows no link") {
    Journal journal = sample();
    journal.units = {{"all", "", Action::kRemove, {"fxgraph/ab/fkey/leaf", "link/file", "ab/new"}}};
    Prepared cache(run, encode_journal(journal),
                   {{run + "/0.0", "planted"}, {run + "/0.1", "planted"}, {run + "/0.2", "planted"}});
    cache.fs.add_dir("outside");
    cache.fs.add_symlink("link", "/outside");
    const Recovery recovery = cache.recover();
    CHECK(recovery.problems.empty());
    REQUIRE(recovery.runs.size() == 1);
    CHECK(recovery.runs[0].kept == std::vector<std::string>{"link/file", "fxgraph/ab/fkey/leaf"});
    CHECK(cache.fs.contents("fxgraph/ab/fkey/leaf") == "graph one");
    CHECK_FALSE(cache.fs.exists("outside/file"));
  }

  TEST_CASE("it is the journal of another run") {
    Prepared cache("20261201T053741Z", encode_journal(sample()), {{run + "/0.0", "graph"}});
    const Recovery recovery = cache.recover();
    REQUIRE(recovery.problems.size() == 2);
    CHECK(recovery.problems[0].message == "the journal is of another run");
    CHECK(recovery.problems[1].message == "belongs to no journal, so where it was is not known");
    CHECK(cache.fs.contents(".cachetool/trash/" + run + "/0.0") == "graph");
  }

  TEST_CASE("the stage holds what the journal doesn't name") {
    for (const char* odd : {"2.0", "1.3", "x", "0", "0.", ".0", "00.0", "0.0.gone", "-1.0", "0.0.go.go",
                            "99999999999999999999.0"}) {
      CAPTURE(odd);
      Prepared cache(run, encode_journal(sample()), {{run + "/" + odd, "odd"}});
      const Recovery recovery = cache.recover();
      REQUIRE(recovery.problems.size() == 2);
      CHECK(recovery.problems[0].path == ".cachetool/trash/" + run + "/" + odd);
      CHECK(recovery.problems[1].code == ErrorCode::kExists);
      CHECK(cache.fs.contents(".cachetool/trash/" + run + "/" + odd) == "odd");
      CHECK(cache.fs.exists(".cachetool/journal/" + run));
    }
  }

  TEST_CASE("the stage, the quarantine or the journal is a link") {
    Prepared cache(run, encode_journal(sample()), {});
    cache.fs.add_file("outside/0.0.go", "precious");
    SUBCASE("the stage") {
      cache.fs.add_symlink(".cachetool/trash/" + run, "/outside");
    }
    SUBCASE("the quarantine") {
      cache.fs.add_file(".cachetool/trash/" + run + "/0.0.go", "graph");
      cache.fs.add_symlink(".cachetool/quarantine/" + run, "/outside");
    }
    SUBCASE("the journal") {
      cache.fs.add_file("outside/journal", encode_journal(sample()));
      cache.fs.add_symlink(".cachetool/journal/" + run, "/outside/journal");
      cache.fs.add_file(".cachetool/trash/" + run + "/0.0", "graph");
    }
    const Tree before = cache_of(tree_of(cache.fs));
    CHECK_FALSE(cache.recover().problems.empty());
    CHECK(cache_of(tree_of(cache.fs)) == before);
  }

  TEST_CASE("files of other names among the journals are left alone") {
    Prepared cache("notes.txt", "mine", {});
    CHECK(cache.recover().problems.empty());
    CHECK(cache.fs.contents(".cachetool/journal/notes.txt") == "mine");
  }
}
