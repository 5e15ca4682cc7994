// Time to decode the entries of a cache that are already in memory, per pass over all of them. The counters
// say what it is per entry and per second. Usage: decode_bench CACHE_DIR [--benchmark_…]

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/interner.h"
#include "pickle/document.h"
#include "torch/decode.h"

namespace {

using cachetool::Budget;
using cachetool::torch::HashName;

struct Stored {
  std::string bytes;
  HashName key;
  HashName leaf;
};

std::vector<Stored> load(const std::filesystem::path& cache) {
  std::vector<Stored> entries;
  for (const char* folder : {"fxgraph", "aotautograd"}) {
    if (!std::filesystem::exists(cache / folder)) continue;
    for (const auto& item : std::filesystem::recursive_directory_iterator(cache / folder)) {
      if (!item.is_regular_file()) continue;
      std::ifstream file(item.path(), std::ios::binary);
      Stored stored;
      stored.bytes.assign(std::istreambuf_iterator<char>(file), {});
      stored.key = HashName::parse(item.path().parent_path().filename().string()).value_or(HashName{});
      stored.leaf = HashName::parse(item.path().filename().string()).value_or(HashName{});
      entries.push_back(std::move(stored));
    }
  }
  return entries;
}

template <class Work>
void measure(benchmark::State& state, const std::vector<Stored>& entries, Work work) {
  std::size_t bytes = 0;
  for (const Stored& entry : entries) bytes += entry.bytes.size();
  for (auto step : state) {
    (void)step;
    for (const Stored& entry : entries) {
      if (!work(entry)) state.SkipWithError("an entry could not be decoded");
    }
  }
  const auto count = static_cast<double>(entries.size());
  using benchmark::Counter;
  state.counters["seconds_per_entry"] = Counter(count, Counter::kIsIterationInvariantRate | Counter::kInvert);
  state.counters["bytes_per_entry"] = Counter(static_cast<double>(bytes) / count);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

bool parse_only(const Stored& entry) {
  Budget budget = Budget::for_input(entry.bytes.size());
  auto document = cachetool::pickle::parse(entry.bytes, budget);
  benchmark::DoNotOptimize(document);
  return document.has_value();
}

bool decode(const Stored& entry) {
  Budget budget = Budget::for_input(entry.bytes.size());
  auto decoded = cachetool::torch::decode_entry(entry.bytes, budget);
  benchmark::DoNotOptimize(decoded);
  return decoded.has_value();
}

bool decode_and_summarize(const Stored& entry, cachetool::Interner& interner) {
  Budget budget = Budget::for_input(entry.bytes.size());
  auto decoded = cachetool::torch::decode_entry(entry.bytes, budget);
  if (!decoded) return false;
  auto summary = cachetool::torch::summarize(*decoded, entry.key, entry.leaf, interner);
  benchmark::DoNotOptimize(summary);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: decode_bench CACHE_DIR [--benchmark_...]\n");
    return 2;
  }
  const std::vector<Stored> entries = load(argv[1]);
  if (entries.empty()) {
    std::fprintf(stderr, "decode_bench: no entries in %s\n", argv[1]);
    return 3;
  }
  cachetool::Interner interner;
  benchmark::RegisterBenchmark("value",
                               [&](benchmark::State& state) { measure(state, entries, parse_only); });
  benchmark::RegisterBenchmark("value+records",
                               [&](benchmark::State& state) { measure(state, entries, decode); });
  benchmark::RegisterBenchmark("value+records+summary", [&](benchmark::State& state) {
    measure(state, entries, [&](const Stored& entry) { return decode_and_summarize(entry, interner); });
  });
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
