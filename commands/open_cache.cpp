#include "commands/open_cache.h"

#include "store/environment.h"

namespace cachetool::commands {

Expected<std::unique_ptr<store::Source>> open_cache(Context& context, const CommonOptions& options,
                                                    const std::string& argument) {
  if (!argument.empty() && !options.cache_dir.empty() && argument != options.cache_dir) {
    return fail(ErrorCode::kUsage, "the argument and --cache-dir name two different places", argument);
  }
  const std::string& given = argument.empty() ? options.cache_dir : argument;
  std::optional<std::string_view> path;
  if (!given.empty()) path = given;
  auto cache = store::resolve_cache(context.files, context.environment, path);
  if (!cache) return tl::unexpected(cache.error());
  return store::make_directory_source(context.files, std::move(*cache));
}

ExitCode report_skipped(Context& context, const store::CacheSet& cache,
                        const std::vector<store::Skipped>& skipped, ErrorForm form) {
  ExitCode code = ExitCode::kDone;
  for (const store::Skipped& place : skipped) {
    const ErrorCode reason = place.error.code;
    if (reason == ErrorCode::kVanished || reason == ErrorCode::kNotFound) continue;
    Error error = place.error;
    error.path = store::full_path(cache, place.root, place.path);
    error.message = "skipped: " + error.message;
    const ExitCode told = report_error(context, error, form);
    if (reason != ErrorCode::kNotRegular && reason != ErrorCode::kMountPoint) code = merge(code, told);
  }
  return code;
}

}  // namespace cachetool::commands
