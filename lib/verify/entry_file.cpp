#include "verify/entry_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "store/paths.h"
#include "verify/entry_bytes.h"
#include "verify/entry_checks.h"
#include "verify/pickle_ends.h"

namespace cachetool::verify {
namespace {

/// `--quick`: whether the name could be a content's hash, or is what torch up to 2.7 calls such files.
void check_name_shape(const FileInput& input, FileReport& report) {
  const bool graph = input.kind() == store::ArtifactKind::kFxGraphEntry;
  const auto name = torch::HashName::parse(input.name());
  if ((name && name->prefix == '\0') || (!graph && input.name() == "entry")) return;
  report.found(
      graph ? checks::kFxGraphName : checks::kAotAutogradName,
      {.message = fmt::format("`{}` is no name that torch gives an entry", escape_for_terminal(input.name())),
       .repair = {report.path()}});
}

}  // namespace

Expected<Facts> check_entry_file(FileInput& input, FileReport& report) {
  // Unfinished writes: what is left of them is found by the checks of leftovers.
  if (input.name().starts_with('.')) return Facts{};
  const std::string_view directory = store::name_of(input.inventory().directory_of(input.id()).path);
  report.set_key(store::join_path(directory, input.name()));
  if (input.depth() == Depth::kQuick) {
    auto whole = check_pickle_ends(input, report);
    if (!whole) return tl::unexpected(std::move(whole.error()));
    if (*whole && torch::HashName::parse(directory)) check_name_shape(input, report);
    return Facts{};
  }
  auto bytes = input.whole();
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  EntryPlace place;
  place.kind = input.kind() == store::ArtifactKind::kAotAutogradEntry ? torch::EntryKind::kAotAutograd
                                                                      : torch::EntryKind::kFxGraph;
  // A file that stands alone, outside a cache, has neither a key nor a name of torch's.
  place.key = torch::HashName::parse(directory);
  if (place.key) place.leaf = input.name();
  auto facts = check_entry_bytes(*bytes, place, input.options().limits, report,
                                 {input.depth(), input.options().machine});
  if (!facts) return tl::unexpected(std::move(facts.error()));
  if (*facts == nullptr) return Facts{};
  return Facts(std::move(*facts));
}

}  // namespace cachetool::verify
