#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "report/entry_report.h"
#include "report/entry_writer.h"
#include "store/entry_references.h"
#include "store/selection.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(Everything that torch would decode from an entry, without running any of it. A KEY may be cut short where it stays
unique and stands for all its candidates; KEY/LEAF names one. An argument that exists, or holds a '/' other than in
KEY/LEAF, is a path: an entry's file, a copy of one, a key's directory, a whole cache. 'key:' in front forces a key.

Field paths: names joined by dots, [0] for elements, ["c0"] for keys of another form; as --json writes them.

Examples:
  cachetool show fvvegf7a
  cachetool show fvvegf7a/qggusm --source > wrapper.py
  cachetool show fvvegf7a --field fx_kwargs.static_input_idxs
  cachetool show fvvegf7a --field 'constants["c0"].dtype'
  cachetool show /tmp/torchinductor_me --json --full-strings > all.json

Exit status: 0 shown, 1 an entry is damaged or lacks what was asked for, 2 wrong usage or an ambiguous key,
3 something could not be read or does not exist.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> targets;
  report::EntryPart part = report::EntryPart::kSections;
  std::string field;
  bool full_strings = false;
};

// Resolves every argument first, so that wrong ones are told before anything is printed.
ExitCode select_all(const Options& options, Context& context, std::vector<store::Selection>& selections) {
  ExitCode code = ExitCode::kDone;
  std::shared_ptr<store::Source> cache;
  const auto select = [&](const std::string& target) -> Expected<store::Selection> {
    if (store::names_path(context.files, context.environment, target)) {
      return store::select_path(context.files, context.environment, target);
    }
    if (!cache) {
      auto opened = open_cache(context, options.common);
      if (!opened) return tl::unexpected(opened.error());
      cache = std::move(*opened);
    }
    auto selection = store::select_key(cache, target);
    if (!selection && selection.error().code == ErrorCode::kNoSuchKey && selection.error().hint.empty()) {
      selection.error().hint =
          "looked in " + cache->cache().roots[0].path + "; 'cachetool list' shows the keys of a cache";
    }
    return selection;
  };
  for (const std::string& target : options.targets) {
    auto selection = select(target);
    if (selection) {
      selections.push_back(std::move(*selection));
    } else {
      code = merge(code, report_error(context, selection.error(), error_form(options.common)));
    }
  }
  return code;
}

// The references of each cache that entries come from, built when they are first asked for.
class References {
 public:
  explicit References(std::size_t threads) : pool_(threads) {}

  Expected<const store::ReferenceReader*> of(store::Source& source) {
    auto& known = caches_[source.cache().roots[0].path];
    if (!known) {
      auto index = store::ReferenceIndex::build(source.whole(), pool_);
      if (!index) return tl::unexpected(index.error());
      known = std::make_unique<Cache>(std::move(*index));
    }
    return &known->reader;
  }

 private:
  struct Cache {
    explicit Cache(store::ReferenceIndex built) : index(std::move(built)), reader(index) {}
    store::ReferenceIndex index;
    store::ReferenceReader reader;
  };
  ThreadPool pool_;
  std::map<std::string, std::unique_ptr<Cache>> caches_;
};

ExitCode show(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  report::EntryWriterOptions how;
  how.part = options.part;
  how.format = format_of(options.common);
  how.look = look_of(options.common, context);
  how.strings = options.full_strings ? report::Strings::kFull : report::Strings::kShortened;
  how.raw = context.terminal.out ? report::RawText::kEscaped : report::RawText::kExact;
  if (!options.field.empty()) {
    auto path = report::JsonPath::parse(options.field);
    if (!path) return report_error(context, path.error(), form);
    how.field = std::move(*path);
    how.part = report::EntryPart::kField;
  }
  std::vector<store::Selection> selections;
  ExitCode code = select_all(options, context, selections);
  if (selections.empty()) return code;

  store::ReadLimits limits;
  limits.max_memory = options.common.max_memory;
  References references(options.common.threads);
  report::EntryWriter writer(context.out, how);
  const auto write = [&](store::Selection& selection, Expected<store::OpenedEntry> entry) {
    if (!entry) {
      if (entry.error().code != ErrorCode::kVanished) {
        code = merge(code, report_error(context, entry.error(), form));
      }
      return;
    }
    const store::CacheSet& cache = selection.source->cache();
    report::EntryReport report{*entry, cache.roots[0].path, {}, {}, context.files.now()};
    if (writer.wants_references() && entry->place) {
      const auto reader = references.of(*selection.source);
      if (!reader) {
        code = merge(code, report_error(context, reader.error(), form));
      } else if (const auto unit =
                     (*reader)->index().find(cache.stores[entry->place->store].root, entry->path)) {
        report.references = (*reader)->of(*unit);
        report.users = (*reader)->users(*unit);
      }
    }
    if (!writer.write(report)) {
      const Error error{ErrorCode::kNotFound,
                        std::string("the entry has no ") + writer.part_name(),
                        entry->path,
                        {},
                        how.part == report::EntryPart::kField
                            ? "'cachetool show --json' has every field with its name"
                            : ""};
      report_error(context, error, form);
      code = merge(code, ExitCode::kFindings);
    }
  };
  for (store::Selection& selection : selections) {
    for (const store::EntryRef& entry : selection.entries) {
      write(selection, store::open_entry(*selection.source, entry, limits));
    }
    if (!selection.file.empty()) {
      write(selection, store::open_entry_file(*selection.source, 0, selection.file, limits));
    }
    code = merge(code, report_skipped(context, selection.source->cache(), selection.skipped, form));
  }
  writer.finish();
  return code;
}

void add_part(CLI::App& command, Options& options, const char* flag, report::EntryPart part, const char* help,
              std::vector<CLI::Option*>& parts) {
  auto* option = command.add_flag_callback(flag, [&options, part] { options.part = part; }, help);
  for (CLI::Option* other : parts) option->excludes(other);
  parts.push_back(option);
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("show", "Show everything about entries");
  command
      ->add_option("ENTRY", options->targets,
                   "KEY, KEY/LEAF, a prefix of either, or a path; several may follow each other")
      ->required()
      ->type_name("");
  std::vector<CLI::Option*> parts;
  using report::EntryPart;
  add_part(*command, *options, "--source", EntryPart::kSource, "The wrapper module's text", parts);
  add_part(*command, *options, "--graph", EntryPart::kGraph, "The printed graphs", parts);
  add_part(*command, *options, "--key-details", EntryPart::kKeyDetails, "What went into the key", parts);
  add_part(*command, *options, "--pickle", EntryPart::kPickle, "The tree of pickled values", parts);
  add_part(*command, *options, "--launches", EntryPart::kLaunches,
           "Kernel calls with grid, block, warps and shared memory", parts);
  auto* field = command->add_option("--field", options->field, "One field (see below)")->type_name("PATH");
  for (CLI::Option* part : parts) field->excludes(part);
  command->add_flag("--full-strings", options->full_strings,
                    "Strings over 4 KiB whole, not as length and hash");
  add_common_options(*command, options->common);
  for (CLI::Option* part : parts) {
    for (const char* format : {"--json", "--jsonl"}) part->excludes(command->get_option(format));
  }
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return show(*options, context); };
  });
}

}  // namespace cachetool::commands
