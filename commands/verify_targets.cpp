#include "commands/verify_targets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "commands/open_cache.h"
#include "store/paths.h"
#include "store/selection.h"

namespace cachetool::commands {
namespace {

/// A path stands for what lies below it.
Expected<VerifyTarget> resolve_path(Context& context, const std::string& path) {
  auto cache = store::resolve_cache(context.files, context.environment, path);
  if (!cache) return tl::unexpected(std::move(cache.error()));
  return VerifyTarget{store::make_directory_source(context.files, std::move(*cache)), {}};
}

/// Whether everything that `target` stands for is looked at with `other` as well.
bool is_covered(const VerifyTarget& target, const VerifyTarget& other) {
  const store::CacheSet& inner = target.source->cache();
  const store::CacheSet& outer = other.source->cache();
  return inner.roots[0].path == outer.roots[0].path && other.entries.empty() &&
         store::is_within(outer.scope, inner.scope);
}

/// Leaves out what would be looked at twice; of equal targets the first stays.
void drop_covered(std::vector<VerifyTarget>& targets) {
  std::vector<VerifyTarget> kept;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    bool covered = false;
    for (std::size_t j = 0; j < targets.size() && !covered; ++j) {
      const bool both = is_covered(targets[i], targets[j]) && is_covered(targets[j], targets[i]);
      covered = i != j && is_covered(targets[i], targets[j]) && (!both || j < i);
    }
    if (!covered) kept.push_back(targets[i]);
  }
  targets = std::move(kept);
}

}  // namespace

ExitCode resolve_targets(Context& context, const CommonOptions& options,
                         const std::vector<std::string>& arguments, std::vector<VerifyTarget>& targets) {
  const ErrorForm form = error_form(options);
  ExitCode code = ExitCode::kDone;
  std::vector<std::string> keys;
  for (const std::string& argument : arguments) {
    if (!store::names_path(context.files, context.environment, argument)) {
      keys.push_back(argument);
      continue;
    }
    auto target = resolve_path(context, argument);
    if (target) {
      targets.push_back(std::move(*target));
    } else {
      code = merge(code, report_error(context, target.error(), form));
    }
  }
  if (keys.empty() && !arguments.empty()) return drop_covered(targets), code;

  auto cache = open_cache(context, options);
  if (!cache) return merge(code, report_error(context, cache.error(), form));
  VerifyTarget whole{std::move(*cache), {}};
  for (const std::string& key : keys) {
    auto selection = store::select_key(whole.source, key);
    if (!selection) {
      code = merge(code, report_error(context, selection.error(), form));
      continue;
    }
    std::move(selection->entries.begin(), selection->entries.end(), std::back_inserter(whole.entries));
  }
  if (keys.empty() || !whole.entries.empty()) targets.push_back(std::move(whole));
  drop_covered(targets);
  return code;
}

}  // namespace cachetool::commands
