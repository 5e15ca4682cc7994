#include "verify/file_pass.h"

#include <iterator>

#include "store/paths.h"
#include "verify/content_mark.h"

namespace cachetool::verify {
namespace {

// How many directories may be between reading and collecting.
constexpr std::size_t kWindow = 256;

/// Of what a bundle may hold a copy of; 0 of everything else.
std::uint64_t mark_of(FileInput& input) {
  const store::ArtifactKind kind = input.kind();
  if (kind < store::ArtifactKind::kTritonMetadata || kind > store::ArtifactKind::kTritonBinary) return 0;
  if (input.depth() == Depth::kQuick) return 0;
  const auto bytes = input.whole();
  if (!bytes) return 0;
  if (!input.name().ends_with(".json")) return content_mark(*bytes);
  return bundled_json_mark(*bytes, store::name_of(input.inventory().directory_of(input.id()).path));
}

}  // namespace

FilePass::FilePass(FileSystem& fs, const Inventory& inventory, const Options& options)
    : fs_(fs),
      inventory_(inventory),
      options_(options),
      facts_(inventory.files().size()),
      read_(inventory.files().size(), 0),
      contents_(inventory.files().size(), 0),
      results_(inventory.directories().size()) {}

Status FilePass::run(ThreadPool& pool, Result& result) {
  wanted_.assign(inventory_.files().size(), 0);
  for (FileId id = 0; id < wanted_.size(); ++id) wanted_[id] = inventory_.file(id).in_scope;
  return pass(pool, result);
}

Status FilePass::read(ThreadPool& pool, std::span<const FileId> files) {
  wanted_.assign(inventory_.files().size(), 0);
  for (const FileId id : files) wanted_[id] = 1;
  Result unused;
  return pass(pool, unused);
}

Status FilePass::pass(ThreadPool& pool, Result& result) {
  bool stopped = false;
  ordered_parallel(
      pool, inventory_.directories().size(), kWindow, [&](std::size_t i) { read_directory(i); },
      [&](std::size_t i) {
        DirectoryResult& from = results_[i];
        merge_coverage(result.coverage, from.coverage);
        std::move(from.findings.begin(), from.findings.end(), std::back_inserter(result.findings));
        std::move(from.skipped.begin(), from.skipped.end(), std::back_inserter(result.skipped));
        from = {};
        const std::uint64_t done = inventory_.directories()[i].last;
        if (options_.progress && !options_.progress(done, inventory_.files().size())) stopped = true;
        return !stopped;
      });
  if (stopped) return fail(ErrorCode::kInterrupted, "interrupted");
  return {};
}

void FilePass::read_directory(std::size_t index) {
  const Inventory::Directory& directory = inventory_.directories()[index];
  DirectoryResult& result = results_[index];
  DirHandle handle;
  std::string buffer;
  for (FileId id = directory.first; id < directory.last; ++id) {
    const FileCheck check = wanted_[id] != 0 ? file_check_for(inventory_.file(id).kind) : nullptr;
    if (check == nullptr) continue;
    if (!handle) {
      auto opened =
          store::open_below(fs_, inventory_.cache().roots[directory.root].directory, directory.path);
      if (!opened) {
        result.skipped.push_back(
            {directory.root, directory.path, FileType::kDirectory, std::move(opened.error())});
        return;
      }
      handle = std::move(*opened);
    }
    read_file(id, *handle, check, buffer, result);
  }
}

void FilePass::read_file(FileId id, const Directory& directory, FileCheck check, std::string& buffer,
                         DirectoryResult& result) {
  const std::uint32_t root = inventory_.root_of(id);
  FileReport report(root, inventory_.path(id));
  auto input = FileInput::open(fs_, inventory_, id, directory, options_, buffer);
  auto facts = input ? check(*input, report) : Expected<Facts>(tl::unexpected(std::move(input.error())));
  if (!facts) {
    result.skipped.push_back({root, report.path(), FileType::kRegular, std::move(facts.error())});
    return;
  }
  facts_[id] = std::move(*facts);
  contents_[id] = mark_of(*input);
  read_[id] = 1;
  merge_coverage(result.coverage, report.coverage());
  for (Finding& finding : report.take_findings()) result.findings.push_back(std::move(finding));
}

}  // namespace cachetool::verify
