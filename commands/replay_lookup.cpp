#include "commands/replay_lookup.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "store/lookup.h"
#include "store/paths.h"
#include "store/selection.h"

namespace cachetool::commands {
namespace {

// libdevice.10.bc has half a MiB, AMD's libraries a few.
constexpr std::uint64_t kLargestLibrary = std::uint64_t{64} << 20;

Expected<std::string> key_of_file(Context& context, const std::string& path) {
  const std::string absolute = store::absolute_path(context.environment, path);
  auto name = Name::parse(store::name_of(absolute));
  if (!name) return tl::unexpected(std::move(name.error()));
  auto directory = context.files.open_root("/" + std::string(store::directory_of(absolute)));
  if (!directory) return tl::unexpected(std::move(directory.error()));
  std::string bytes;
  auto read = read_file(context.files, **directory, *name, kLargestLibrary, bytes);
  if (!read) return tl::unexpected(std::move(read.error()));
  return replay::extern_libs_key_of(name->str(), bytes);
}

// "none", a key as torch has it, or files: torch joins the keys of several in the order of their names.
Expected<replay::ExternLibsKey> extern_libs_key(Context& context, const std::vector<std::string>& arguments) {
  replay::ExternLibsKey result;
  if (arguments.empty()) return result;
  result.given = true;
  if (arguments.size() == 1 && arguments[0] == "none") return result;
  std::vector<std::string> keys;
  for (const std::string& argument : arguments) {
    if (argument.find('/') == std::string::npos && !argument.ends_with(".bc")) {
      keys.push_back(argument);
      continue;
    }
    auto key = key_of_file(context, argument);
    if (!key) {
      key.error().path = argument;
      return tl::unexpected(std::move(key.error()));
    }
    keys.push_back(std::move(*key));
  }
  std::sort(keys.begin(), keys.end());
  result.key.emplace();
  for (const std::string& key : keys) *result.key += (result.key->empty() ? "" : "-") + key;
  return result;
}

}  // namespace

void add_lookup_options(CLI::App& command, LookupArguments& arguments) {
  command
      .add_option("--hint", arguments.hints,
                  "A size of the caller's, by its symbol or as t0, t1, …; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=N");
  command
      .add_option("--hints", arguments.hint_lists, "The caller's sizes in the order of the guards' L['tN']")
      ->allow_extra_args(false)
      ->type_name("N,N,…");
  command
      .add_option(
          "--extern-libs-key", arguments.extern_libs,
          "The machine's extern libraries: a path to libdevice.10.bc, torch's key, or none; repeatable")
      ->allow_extra_args(false)
      ->type_name("PATH|KEY");
}

Expected<replay::LookupOptions> lookup_options(Context& context, const LookupArguments& arguments,
                                               const replay::ReplayOptions& request,
                                               const std::vector<std::string>& targets) {
  constexpr const char* kHint = "hints choose among the candidates of a key: give KEY alone";
  if (targets.empty()) return fail(ErrorCode::kUsage, "a lookup needs a key", {}, {}, kHint);
  for (const std::string& target : targets) {
    const bool leaf = target.find('/') != std::string::npos;
    if (leaf || store::names_path(context.files, context.environment, target))
      return fail(ErrorCode::kUsage, "not a key, so nothing is looked up", target, {}, kHint);
  }
  replay::LookupOptions options;
  for (const std::string& list : arguments.hint_lists) {
    if (auto added = options.hints.add_list(list); !added) return tl::unexpected(added.error());
  }
  for (const std::string& hint : arguments.hints) {
    if (auto added = options.hints.add_named(hint); !added) return tl::unexpected(added.error());
  }
  auto libraries = extern_libs_key(context, arguments.extern_libs);
  if (!libraries) return tl::unexpected(libraries.error());
  options.extern_libs = std::move(*libraries);
  options.release = request.release;
  options.limits = request.limits;
  return options;
}

Expected<std::vector<replay::Lookup>> look_up(store::Source& source, const std::string& key,
                                              const replay::LookupOptions& options) {
  const auto places = store::find_key(source, key);
  if (!places) return tl::unexpected(places.error());
  std::vector<replay::Lookup> lookups;
  for (const store::KeyRef& place : *places) {
    auto lookup = replay::lookup(source, place, options);
    if (!lookup) return tl::unexpected(lookup.error());
    lookups.push_back(std::move(*lookup));
  }
  return lookups;
}

ExitCode lookup_exit_code(const replay::Lookup& lookup) {
  if (lookup.result == replay::LookupResult::kRaises) return ExitCode::kFindings;
  if (lookup.result == replay::LookupResult::kUnknown) return ExitCode::kIncomplete;
  return ExitCode::kDone;
}

}  // namespace cachetool::commands
