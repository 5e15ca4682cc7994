#include "verify/scan/scan_tree.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "store/buffer_pool.h"
#include "store/paths.h"
#include "store/walk.h"
#include "verify/scan/content.h"

namespace cachetool::verify {
namespace {

using store::Artifact;
using store::ArtifactKind;
using store::Skipped;

/// Files whose directories are open at the same time.
constexpr std::size_t kBatch = 256;
/// What is read before it is decided whether the rest is needed.
constexpr std::size_t kHead = std::size_t{64} << 10;

/// A file that the walk has handed out.
struct Found {
  ArtifactKind kind;
  std::uint32_t root;
  std::string path;
  DirHandle directory;
  Name name;
};

/// What became of it.
struct Outcome {
  FileScan scan;
  std::optional<FileStat> stat;
  std::optional<Error> error;  ///< couldn't be read
};

/// Fills `buffer` from `from` on; it may end up shorter when the file has become so.
Status read_rest(FileSystem& fs, const File& file, std::size_t from, std::string& buffer) {
  std::size_t filled = from;
  while (filled < buffer.size()) {
    const auto count = fs.read_at(file, filled, std::span(buffer).subspan(filled));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  buffer.resize(filled);
  return {};
}

/// What cachetool itself has moved out of torch's way (lib/change): nothing loads it, and it is there because
/// it was bad.
bool is_moved_aside(std::string_view path) {
  return store::is_within(".cachetool/quarantine", path) || store::is_within(".cachetool/trash", path);
}

class TreeScanner final : public store::ArtifactSink {
 public:
  TreeScanner(FileSystem& fs, const ScanTarget& target, ThreadPool& pool, const TreeScanOptions& options,
              const std::function<bool(const ScannedFile&)>& sink)
      : fs_(fs), target_(target), pool_(pool), options_(options), sink_(sink), survey_(fs, options.loader) {}

  Expected<TreeScan> run() {
    const auto& roots = target_.set.roots;
    for (std::uint32_t i = 0; options_.owners && i < roots.size(); ++i) {
      if (!roots[i].companion) survey_.root(i, roots[i]);
    }
    store::WalkOptions walk;
    walk.with_stat = false;
    walk.own_state = true;
    if (auto done = store::walk_cache(fs_, target_.set, walk, *this); !done)
      return tl::unexpected(std::move(done.error()));
    if (!stopped_) flush();
    if (interrupted_) return fail(ErrorCode::kInterrupted, "stopped");
    if (options_.owners) result_.owners = survey_.finish();
    return std::move(result_);
  }

  bool artifact(const Artifact& artifact) override {
    if (target_.is_cache && is_moved_aside(artifact.path)) {
      ++result_.coverage.moved_aside;
      return true;
    }
    batch_.push_back(
        {artifact.kind, artifact.root, std::string(artifact.path), *artifact.directory, *artifact.name});
    if (batch_.size() == kBatch) flush();
    return !stopped_;
  }

  void skipped(const Skipped& skipped) override {
    if (options_.owners) survey_.odd(skipped.root, skipped.path, skipped.type);
    leave_out(skipped);
  }

 private:
  void leave_out(Skipped skipped) {
    const ErrorCode code = skipped.error.code;
    if (code != ErrorCode::kVanished && code != ErrorCode::kNotFound) ++result_.coverage.not_scanned;
    result_.skipped.push_back(std::move(skipped));
  }

  void flush() {
    std::vector<Outcome> outcomes(batch_.size());
    ordered_parallel(
        pool_, batch_.size(), std::min(batch_.size(), kBatch),
        [&](std::size_t i) {
          std::string buffer = buffers_.take();
          outcomes[i] = scan_file(batch_[i], buffer);
          buffers_.put(std::move(buffer));
        },
        [&](std::size_t i) { return deliver(batch_[i], std::move(outcomes[i])); });
    batch_.clear();
  }

  Outcome scan_file(const Found& found, std::string& buffer) {
    Outcome outcome;
    auto file = fs_.open_file(*found.directory, found.name);
    if (!file) {
      outcome.error = std::move(file.error());
      return outcome;
    }
    const auto stat = fs_.stat(**file);
    if (!stat) {
      outcome.error = stat.error();
      return outcome;
    }
    outcome.stat = *stat;
    const ScanHints hints = hints_for(found.kind, found.path);
    buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(stat->size, kHead)));
    if (auto read = read_rest(fs_, **file, 0, buffer); !read) {
      outcome.error = std::move(read.error());
      return outcome;
    }
    const bool whole = buffer.size() >= stat->size;
    if (!whole && hints.expect == Expect::kAnything && told_by_head(detect_content(buffer), buffer)) {
      outcome.scan = scan_head(buffer, stat->size, hints);
    } else if (stat->size > options_.limits.max_file_bytes) {
      outcome.scan = too_large(*stat);
    } else {
      read_and_scan(**file, *stat, hints, buffer, outcome);
    }
    return outcome;
  }

  void read_and_scan(const File& file, const FileStat& stat, const ScanHints& hints, std::string& buffer,
                     Outcome& outcome) {
    LargePass pass(&large_);
    if (stat.size >= LargeGate::kBytes) pass.take();
    const std::size_t head = buffer.size();
    buffer.resize(static_cast<std::size_t>(std::max<std::uint64_t>(head, stat.size)));
    if (auto read = read_rest(fs_, file, head, buffer); !read) {
      outcome.error = std::move(read.error());
      return;
    }
    outcome.scan = scan_bytes(buffer, hints, options_.limits, pass);
    if (buffer.capacity() > LargeGate::kBytes) std::string().swap(buffer);
  }

  FileScan too_large(const FileStat& stat) const {
    FileScan scan;
    scan.content = content_name(Content::kUnknown);
    scan.verdict = ScanVerdict::kUnscanned;
    scan.bytes = stat.size;
    scan.unscanned.push_back({{}, 0, stat.size, "is larger than the limit for one file"});
    return scan;
  }

  bool deliver(const Found& found, Outcome outcome) {
    if (outcome.error) {
      Error error = std::move(*outcome.error);
      if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kVanished;
      error.path = found.path;
      leave_out({found.root, found.path, FileType::kRegular, std::move(error)});
      return true;
    }
    if (options_.owners && found.kind != ArtifactKind::kLock)
      survey_.file(found.root, found.path, *outcome.stat, *found.directory);
    result_.coverage.add(outcome.scan);
    const ScannedFile file{found.root, found.path, found.kind, std::move(outcome.scan)};
    if (!sink_(file)) stopped_ = true;
    if (options_.progress && !options_.progress(result_.coverage.files)) stopped_ = interrupted_ = true;
    return !stopped_;
  }

  FileSystem& fs_;
  const ScanTarget& target_;
  ThreadPool& pool_;
  const TreeScanOptions& options_;
  const std::function<bool(const ScannedFile&)>& sink_;
  OwnerSurvey survey_;
  TreeScan result_;
  std::vector<Found> batch_;
  store::BufferPool buffers_;
  LargeGate large_;
  bool stopped_ = false;
  bool interrupted_ = false;
};

}  // namespace

std::uint64_t ScanCoverage::files_of(ScanVerdict verdict) const {
  const auto found = verdicts.find(verdict);
  return found == verdicts.end() ? 0 : found->second;
}

void ScanCoverage::add(const FileScan& scan) {
  ++files;
  bytes += scan.bytes;
  expanded_bytes += scan.expanded_bytes;
  pickles += scan.pickles;
  expressions += scan.expressions;
  unscanned_parts += scan.unscanned.size();
  for (const Unscanned& part : scan.unscanned) unscanned_bytes += part.bytes;
  ++verdicts[scan.verdict];
  if (scan.carries_code()) ++carrying_code;
  for (const CodeItem& item : scan.code) {
    CodeItem& sum = code.try_emplace(item.what, CodeItem{item.what, 0, 0}).first->second;
    sum.count += item.count;
    sum.bytes += item.bytes;
  }
}

void ScanCoverage::add(const ScanCoverage& other) {
  files += other.files;
  bytes += other.bytes;
  expanded_bytes += other.expanded_bytes;
  pickles += other.pickles;
  expressions += other.expressions;
  unscanned_parts += other.unscanned_parts;
  unscanned_bytes += other.unscanned_bytes;
  for (const auto& [verdict, count] : other.verdicts) verdicts[verdict] += count;
  carrying_code += other.carrying_code;
  for (const auto& [what, item] : other.code) {
    CodeItem& sum = code.try_emplace(what, CodeItem{what, 0, 0}).first->second;
    sum.count += item.count;
    sum.bytes += item.bytes;
  }
  not_scanned += other.not_scanned;
  moved_aside += other.moved_aside;
}

Expected<TreeScan> scan_tree(FileSystem& fs, const ScanTarget& target, ThreadPool& pool,
                             const TreeScanOptions& options,
                             const std::function<bool(const ScannedFile&)>& sink) {
  return TreeScanner(fs, target, pool, options, sink).run();
}

}  // namespace cachetool::verify
