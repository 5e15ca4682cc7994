// Real entries: whole, cut at every length, with every bit flipped.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "pickle/dump.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

std::vector<std::pair<std::string, std::string>> entries() {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& item : std::filesystem::directory_iterator(CACHETOOL_TEST_DATA "/pickles")) {
    std::ifstream in(item.path(), std::ios::binary);
    result.emplace_back(item.path().filename().string(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return result;
}

/// What `pickle.loads` asks for first: the class of the root.
std::string class_of(const Document& document) {
  const Value& root = document.root();
  if (!root.is(Tag::kObject) || !root.object().callable.is(Tag::kGlobal)) return "";
  return std::string(root.object().callable.global().name);
}

}  // namespace

TEST_SUITE("pickle/entries") {
  TEST_CASE("every class decodes without deviations") {
    std::vector<std::string> classes;
    for (const auto& [name, bytes] : entries()) {
      CAPTURE(name);
      Budget budget = Budget::for_input(bytes.size());
      const auto document = parse(bytes, budget);
      REQUIRE(document);
      CHECK(document->deviations().empty());
      CHECK(document->trailing_bytes() == 0);
      CHECK(document->protocol() == 4);
      CHECK(document->dropped_calls().empty());
      CHECK(document->peak_memory() < bytes.size() * 3 + 16'384);
      classes.push_back(class_of(*document));
      StringSink sink;
      CHECK(dump(*document, sink));
      CHECK(sink.text().find("_") != std::string::npos);
    }
    REQUIRE(classes.size() == 11);
    for (const char* name :
         {"CompiledFxGraph", "AOTAutogradCacheEntry", "BundledAOTAutogradCacheEntry", "defaultdict"}) {
      CAPTURE(name);
      CHECK(std::count(classes.begin(), classes.end(), name) > 0);
    }
  }

  TEST_CASE("every truncation is an error with an offset") {
    for (const auto& [name, bytes] : entries()) {
      CAPTURE(name);
      std::size_t wrong = 0;
      // Beyond 16 KiB the cuts are further apart: each takes time in proportion to what stands before it.
      for (std::size_t size = 0; size < bytes.size(); size += size < 16'384 ? 1 : 61) {
        Budget budget = Budget::for_input(size);
        const auto document = parse(std::string_view(bytes).substr(0, size), budget);
        const bool clean = !document && document.error().code == ErrorCode::kTruncated &&
                           document.error().offset && *document.error().offset <= size &&
                           budget.peak() <= budget.limit();
        wrong += clean ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }

  TEST_CASE("every flipped bit gives a value or an error with an offset") {
    for (const auto& [name, bytes] : entries()) {
      CAPTURE(name);
      std::string flipped = bytes;
      std::size_t wrong = 0;
      std::size_t values = 0;
      const std::size_t step = bytes.size() < 5'000 ? 1 : 101;
      for (std::size_t bit = 0; bit < bytes.size() * 8; bit += step) {
        const char mask = static_cast<char>(1 << (bit % 8));
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
        Budget budget = Budget::for_input(flipped.size());
        const auto document = parse(flipped, budget);
        const bool clean = document ? document->end() <= flipped.size() : document.error().offset.has_value();
        wrong += clean && budget.peak() <= budget.limit() ? 0 : 1;
        values += document ? 1 : 0;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ mask);
      }
      CHECK(wrong == 0);
      CHECK(values > 0);
    }
  }
}
