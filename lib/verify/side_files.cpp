#include "verify/side_files.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "container/python_json.h"
#include "store/paths.h"
#include "verify/binary_files.h"
#include "verify/damage.h"
#include "verify/json_document.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

using container::Node;
using container::NodeKind;

std::string hex_of(std::string_view text) {
  return to_hex(sha256(text));
}

/// Whether the file lies in `cache/` itself: directories in there are other caches of 2.15
/// (torch/_inductor/cache.py), pickled and not named by their content.
bool is_local_cache(const FileInput& input) {
  const Inventory& inventory = input.inventory();
  const Inventory::Directory& directory = inventory.directory_of(input.id());
  const store::RootRole role = inventory.cache().roots[directory.root].role;
  if (directory.path.empty())
    return role == store::RootRole::kBenchmarkCache || role == store::RootRole::kSingleFile;
  return store::name_of(directory.path) == "cache";
}

/// torch/_inductor/codecache.py: CacheBase.get_system, get_local_cache_path (2.6 to 2.14): the file is named
/// by the system that measured.
void judge_system(const FileInput& input, FileReport& report, const Node& system) {
  const auto own = system.find("hash");
  const std::string computed = hex_of(container::python_json(system, "hash"));
  std::string message;
  if (own && own->text() != computed) {
    message = "the system in it isn't the one of its own hash";
  } else if (input.name() != computed) {
    message = fmt::format("the system in it stands for {}", computed);
  }
  if (message.empty()) return report.fine(checks::kBenchmarkName);
  report.found(checks::kBenchmarkName, {.message = std::move(message), .repair = loss_of(input).repair});
}

}  // namespace

Expected<Facts> check_benchmark_cache(FileInput& input, FileReport& report) {
  if (!is_local_cache(input)) return Facts{};
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  const auto times = root.find("cache");
  if (!times || !times->is(NodeKind::kMap)) {
    report_shape(input, report, "no object \"cache\"");
    return Facts{};
  }
  report.fine(checks::kFileShape);
  const auto system = root.find("system");
  if (system && system->is(NodeKind::kMap)) {
    judge_system(input, report, *system);
  } else {
    report.not_checkable(checks::kBenchmarkName, "the file doesn't say which system measured");
  }
  return Facts{};
}

Expected<Facts> check_memoizer(FileInput& input, FileReport& report) {
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  if ((*tree)->root().is(NodeKind::kMap)) {
    report.fine(checks::kFileShape);
  } else {
    report_shape(input, report, "not an object");
  }
  return Facts{};
}

Expected<Facts> check_build_error(FileInput& input, FileReport& report) {
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  if (!root.is(NodeKind::kList) || root.size() != 2) {
    report_shape(input, report, "not a pair of command and output");
    return Facts{};
  }
  report.found(checks::kBuildFailed,
               {.message = "torch takes this build as failed and doesn't try it again"});
  return Facts{};
}

Expected<Facts> check_eager_aoti(FileInput& input, FileReport& report) {
  if (input.name().ends_with(".so")) return check_shared_object(input, report);
  if (!input.name().ends_with(".json")) return Facts{};
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  if ((*tree)->root().is(NodeKind::kList)) {
    report.fine(checks::kFileShape);
  } else {
    report_shape(input, report, "not a list of kernels");
  }
  return Facts{};
}

}  // namespace cachetool::verify
