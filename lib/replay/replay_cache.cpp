#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "replay/replay.h"
#include "store/lookup.h"
#include "store/paths.h"

namespace cachetool::replay {
namespace {

using store::KeyRef;
using store::Source;

// Keys between work and delivery: a decision is a few kilobytes, and enough of them keep every worker busy.
constexpr std::size_t kWindow = 64;

bool is_gone(const Error& error) {
  return error.code == ErrorCode::kVanished || error.code == ErrorCode::kNoSuchKey ||
         error.code == ErrorCode::kNotFound;
}

// What one key gives.
struct KeyReplay {
  std::vector<std::vector<GraphReplay>> entries;
  std::vector<Error> errors;
  std::vector<store::Skipped> skipped;
};

class CacheReplay {
 public:
  CacheReplay(Source& source, ThreadPool& pool, const ReplayOptions& options, ReplaySink& sink,
              std::vector<store::Skipped>& skipped, const store::ProgressCallback& progress)
      : source_(source),
        pool_(pool),
        options_(options),
        sink_(sink),
        skipped_(skipped),
        progress_(progress) {}

  Status run() {
    std::vector<KeyRef> fx_keys;
    for (const KeyRef& key : source_.keys(skipped_)) {
      if (key.kind == torch::EntryKind::kFxGraph) fx_keys.push_back(key);
    }
    // Also those outside the scope may pair graphs in it.
    std::vector<store::Skipped> elsewhere;
    std::vector<KeyRef> aot_keys;
    for (const KeyRef& key : source_.whole().keys(elsewhere)) {
      if (key.kind == torch::EntryKind::kAotAutograd) aot_keys.push_back(key);
    }
    total_ = aot_keys.size() + fx_keys.size();
    const std::unordered_set<std::string> none;
    if (!pass(source_.whole(), aot_keys, none,
              [this](std::vector<GraphReplay>& pair) { deliver_pair(pair); }))
      return fail(ErrorCode::kInterrupted, "stopped");
    if (!pass(source_, fx_keys, paired_, [this](std::vector<GraphReplay>& graphs) { deliver_alone(graphs); }))
      return fail(ErrorCode::kInterrupted, "stopped");
    return {};
  }

 private:
  // `left_out` holds paths of entries and stands still meanwhile.
  template <class Deliver>
  bool pass(Source& source, const std::vector<KeyRef>& keys, const std::unordered_set<std::string>& left_out,
            Deliver deliver) {
    const std::size_t window = std::min(kWindow, std::max<std::size_t>(keys.size(), 1));
    std::vector<KeyReplay> slots(window);
    bool stopped = false;
    ordered_parallel(
        pool_, keys.size(), window,
        [&](std::size_t i) { slots[i % window] = look_into(source, keys[i], left_out); },
        [&](std::size_t i) {
          KeyReplay key = std::exchange(slots[i % window], {});
          for (std::vector<GraphReplay>& graphs : key.entries) deliver(graphs);
          for (const Error& error : key.errors) sink_.failed(error);
          std::move(key.skipped.begin(), key.skipped.end(), std::back_inserter(skipped_));
          ++done_;
          stopped = progress_ && !progress_(done_, total_);
          return !stopped;
        });
    return !stopped;
  }

  // On a worker.
  KeyReplay look_into(Source& source, const KeyRef& key,
                      const std::unordered_set<std::string>& left_out) const {
    KeyReplay result;
    auto listing = source.open_key(key);
    if (!listing) {
      const Error& error = listing.error();
      if (!is_gone(error) && in_scope(error.path)) {
        const std::uint32_t root = source.cache().stores[key.store].root;
        result.skipped.push_back({root, error.path, FileType::kDirectory, error});
      }
      return result;
    }
    for (store::Skipped& place : listing->skipped) {
      if (in_scope(place.path)) result.skipped.push_back(std::move(place));
    }
    for (const store::EntryRef& entry : listing->entries) {
      const std::string path = store::entry_path(source.cache(), entry);
      if (left_out.contains(path)) continue;
      const auto opened = store::open_entry(source, entry, options_.limits);
      auto graphs = opened ? replay_opened(source, *opened, options_) : tl::unexpected(opened.error());
      if (graphs) {
        result.entries.push_back(std::move(*graphs));
      } else if (!is_gone(graphs.error()) && in_scope(path)) {
        result.errors.push_back(std::move(graphs.error()));
      }
    }
    return result;
  }

  void deliver_pair(std::vector<GraphReplay>& pair) {
    const bool complete = std::none_of(pair.begin(), pair.end(),
                                       [](const GraphReplay& graph) { return graph.entry.path.empty(); });
    for (GraphReplay& graph : pair) {
      const bool bundled = graph.aot && graph.entry.path == graph.aot->path;
      const bool own_scope = in_scope(graph.entry.path);
      if (!own_scope && !(graph.aot && in_scope(graph.aot->path))) continue;
      if (!bundled) {
        const bool missing = graph.entry.path.empty();
        if (complete) paired_.insert(graph.entry.path);
        // After the miss on the pair torch finds the graph alone: that is what counts.
        graph.counted = (complete || missing || !own_scope) &&
                        counted_.insert(missing ? graph.entry.key : graph.entry.path).second;
      }
      sink_.graph(graph);
    }
  }

  void deliver_alone(std::vector<GraphReplay>& graphs) {
    for (const GraphReplay& graph : graphs) sink_.graph(graph);
  }

  bool in_scope(std::string_view path) const {
    const store::CacheSet& set = source_.cache();
    if (path.empty()) return false;
    if (!set.scope_is_file) return store::is_within(set.scope, path);
    // Of a file that packs entries all are meant.
    return path.starts_with(set.scope) && (path.size() == set.scope.size() || path[set.scope.size()] == '!');
  }

  Source& source_;
  ThreadPool& pool_;
  const ReplayOptions& options_;
  ReplaySink& sink_;
  std::vector<store::Skipped>& skipped_;
  const store::ProgressCallback& progress_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::unordered_set<std::string> paired_;   // FX entries that were decided through a pair
  std::unordered_set<std::string> counted_;  // FX entries, or keys of missing ones, that an item stands for
};

}  // namespace

Status replay_cache(Source& source, ThreadPool& pool, const ReplayOptions& options, ReplaySink& sink,
                    std::vector<store::Skipped>& skipped, const store::ProgressCallback& progress) {
  return CacheReplay(source, pool, options, sink, skipped, progress).run();
}

}  // namespace cachetool::replay
