#include <CLI/CLI.hpp>
#include <iterator>
#include <map>
#include <memory>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "report/which_report.h"
#include "store/ownership.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(The entries that lead to a file of the cache: a wrapper or kernel from a traceback, a shared object, a Triton
directory, an autotune result. A path that isn't there is looked up by its last component, so that a traceback of
another machine will do.

Examples:
  cachetool which /tmp/torchinductor_me/kp/ckpcffjeqhdmydlan7bkdue6by2jmxx3b4phhjcjp2anquyrieye.py
  cachetool which --cache-dir ./cache /elsewhere/ps/cpsfc4ozjaz4femgwlr2pgnvgjhuxyrcgjvkaje7iulhii2pbthx.py

Exit status: 0 found (also where no entry leads to the file), 1 an entry or module is damaged, so that owners may be
missing, 2 wrong usage, 3 the cache has nothing of that name, or something could not be read.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> paths;
};

// The cache around `path`, unless --cache-dir names one or nothing is there.
Expected<std::unique_ptr<store::Source>> cache_around(Context& context, const CommonOptions& options,
                                                      const std::string& path) {
  if (options.cache_dir.empty()) {
    auto cache = store::resolve_cache(context.files, context.environment, path);
    if (cache && cache->roots[0].role != store::RootRole::kSingleFile) {
      return store::make_directory_source(context.files, std::move(*cache));
    }
    if (cache) {
      return fail(ErrorCode::kNotFound,
                  "lies in no cache, so no entry leads to it; by its content: " +
                      std::string(store::kind_title(cache->single_file_kind)),
                  path, {}, "'cachetool list' and 'cachetool show' take such a file, where it holds entries");
    }
  }
  return open_cache(context, options);
}

struct Indexed {
  std::unique_ptr<store::Source> source;
  store::ReferenceIndex references;
};

ExitCode which(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  ExitCode code = ExitCode::kDone;
  ThreadPool pool(options.common.threads);
  std::map<std::string, Indexed> caches;
  std::vector<store::Ownership> found;
  for (const std::string& path : options.paths) {
    auto source = cache_around(context, options.common, path);
    if (!source) {
      code = merge(code, report_error(context, source.error(), form));
      continue;
    }
    const std::string root = (*source)->cache().roots[0].path;
    auto known = caches.find(root);
    if (known == caches.end()) {
      auto references = store::ReferenceIndex::build((*source)->whole(), pool);
      if (!references) {
        code = merge(code, report_error(context, references.error(), form));
        continue;
      }
      code = merge(code, report_skipped(context, (*source)->cache(), references->skipped(), form));
      known = caches.emplace(root, Indexed{std::move(*source), std::move(*references)}).first;
    }
    const Indexed& cache = known->second;
    auto owners = store::find_owners(cache.source->cache(), context.environment, cache.references, path);
    if (!owners && owners.error().hint.empty() && path.find_first_of("/.") == std::string::npos) {
      owners.error().hint = "this command takes files; 'cachetool show' takes keys";
    }
    if (owners) {
      std::move(owners->begin(), owners->end(), std::back_inserter(found));
    } else {
      code = merge(code, report_error(context, owners.error(), form));
    }
  }
  if (!found.empty()) {
    report::write_which(context.out, found, format_of(options.common), look_of(options.common, context));
  }
  return code;
}

}  // namespace

void add_which(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("which", "Name the entries that own a file");
  command->add_option("PATH", options->paths, "Files or directories of a cache")->required()->type_name("");
  add_common_options(*command, options->common);
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return which(*options, context); };
  });
}

}  // namespace cachetool::commands
