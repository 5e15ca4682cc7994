#include "verify/best_config_file.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "container/tree.h"
#include "store/classify.h"
#include "torch/known_builds.h"
#include "torch/release.h"
#include "verify/json_document.h"
#include "verify/source_checks.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

using container::Node;
using container::NodeKind;

constexpr std::string_view kSuffix = ".best_config";

bool is_count(const Node& value) {
  return value.is(NodeKind::kInteger) && value.as_integer() >= 0;
}

/// Whether torch takes the result for one of other configurations and tunes again.
/// torch/_inductor/runtime/autotune_cache.py: _load_cached_autotuning (2.5 to 2.15) compares this member
/// before it reads any other.
bool is_miss(const Node& root) {
  const auto configurations = root.find("configs_hash");
  return !configurations || !configurations->is(NodeKind::kString);
}

/// What torch can't use; empty when it can. The same function compares the members with those of a
/// configuration.
std::string shape_problem(const Node& root) {
  if (!root.is(NodeKind::kMap)) return "the document is no object";
  if (is_miss(root))
    return "no text \"configs_hash\", so torch takes it for the result of other configurations";
  for (const std::string_view name : {"num_warps", "num_stages"}) {
    const auto value = root.find(name);
    if (!value || !is_count(*value)) return fmt::format("no number \"{}\"", name);
  }
  for (auto key = root.first(); key;) {
    const auto value = key->next();
    if (!value) break;
    const bool upper = !key->text().empty() && key->text()[0] >= 'A' && key->text()[0] <= 'Z';
    if (upper && (value->is(NodeKind::kFloat) || value->is(NodeKind::kNull) || value->is(NodeKind::kList)))
      return fmt::format("\"{}\" is no size", escape_for_terminal(key->text().substr(0, 64)));
    key = value->next();
  }
  return {};
}

}  // namespace

ReleaseRange best_config_releases(const FileInput& input) {
  if (!input.name().ends_with(kSuffix)) return {};
  const std::string_view wanted(input.name().data(), input.name().size() - kSuffix.size());
  const Inventory::Directory& directory = input.inventory().directory_of(input.id());
  for (FileId id = directory.first; id < directory.last; ++id) {
    const Inventory::File& module = input.inventory().file(id);
    if (module.kind != store::ArtifactKind::kPythonModule) continue;
    if (module.name == std::string(wanted) + ".py")
      return {torch::ReleaseFamily::k2_4, torch::ReleaseFamily::k2_5};
    const std::string plain = to_hex(sha256(module.name + ":"));
    if (plain == wanted) return {torch::ReleaseFamily::k2_6, torch::ReleaseFamily::k2_7};
    for (const torch::KnownBuild& build : torch::known_builds()) {
      const torch::ReleaseFamily family = torch::family_of_version(build.version);
      if (family < torch::ReleaseFamily::k2_8) continue;
      if (to_hex(sha256(plain + from_hex(build.torch_key))) == wanted) return {family, family};
    }
  }
  return {};
}

Expected<Facts> check_best_config(FileInput& input, FileReport& report) {
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  if (std::string problem = shape_problem(root); !problem.empty()) {
    // Every release raises where the document is no object or lacks a member that it takes out of a match.
    const bool harmless = root.is(NodeKind::kMap) && is_miss(root);
    report.found(checks::kFileShape, {.message = std::move(problem), .repair = loss_of(input).repair},
                 harmless ? Severity::kWarning : Severity::kError);
  } else {
    report.fine(checks::kFileShape);
  }
  BestConfigFacts facts;
  if (const auto directory = root.find("triton_cache_hash"); directory && directory->is(NodeKind::kString))
    facts.triton_directory = std::string(directory->text().substr(0, 256));
  return Facts(std::move(facts));
}

}  // namespace cachetool::verify
