#include "commands/verify_targets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "commands/open_cache.h"
#include "store/selection.h"

namespace cachetool::commands {
namespace {

/// A path stands for what lies below it.
Expected<VerifyTarget> resolve_path(Context& context, const std::string& path) {
  auto cache = store::resolve_cache(context.files, context.environment, path);
  if (!cache) return tl::unexpected(std::move(cache.error()));
  return VerifyTarget{store::make_directory_source(context.files, std::move(*cache)), {}};
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
  if (keys.empty() && !arguments.empty()) return code;

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
  return code;
}

}  // namespace cachetool::commands
