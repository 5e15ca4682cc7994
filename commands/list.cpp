#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "replay/listed_outcome.h"
#include "report/list_report.h"
#include "store/listing.h"
#include "store/skipped.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(A row for each entry: FX graphs and AOTAutograd entries, decoded without torch. COMPILE is the time that the
entry stands for; in parentheses where a listed AOTAutograd entry contains it. CUDA GRAPHS says what torch decides
about a graph by itself; 'cachetool cudagraphs' pairs forward and backward, 'cachetool replay' tells why.

Filters: comparisons joined by commas, all must hold.
  keys       kind key leaf class torch device op name role cudagraphs outcome
             state size held age time constants kernels partitions
  operators  = != < <= > >= and ~= (substring in any case)

Examples:
  cachetool list
  cachetool list /tmp/torchinductor_me --sort time --limit 10
  cachetool list --filter 'device=cuda,size>1M,age<7d,op~=addmm'
  cachetool list --tree --filter kind=aot
  cachetool list --jsonl | jq -r 'select(.state != "ok").path'

Exit status: 0 listed (an empty cache too), 1 an entry is damaged, 2 wrong usage, 3 something could not be read.)";

struct Options {
  CommonOptions common;
  std::string directory;
  std::string kind;
  std::string filter;
  std::string sort = "key";
  bool reverse = false;
  std::size_t limit = 0;
  bool held = false;
  bool tree = false;
};

Expected<store::ListingOptions> listing_options(const Options& options) {
  store::ListingOptions listing;
  std::string filter = options.filter;
  if (!options.kind.empty()) filter = "kind=" + options.kind + (filter.empty() ? "" : "," + filter);
  if (!filter.empty()) {
    auto parsed = store::Filter::parse(filter);
    if (!parsed) return tl::unexpected(parsed.error());
    listing.filter = std::move(*parsed);
  }
  listing.sort = *store::parse_sort_key(options.sort);
  listing.reverse = options.reverse;
  listing.limit = options.limit;
  listing.outcome_of = replay::note_outcome;
  listing.limits.max_memory = options.common.max_memory;
  return listing;
}

ExitCode list(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  auto request = listing_options(options);
  if (!request) return report_error(context, request.error(), form);
  auto source = open_cache(context, options.common, options.directory);
  if (!source) return report_error(context, source.error(), form);
  const store::CacheSet& cache = (*source)->cache();

  ThreadPool pool(options.common.threads);
  std::optional<store::ReferenceIndex> references;
  const bool held = options.held || request->sort == store::SortKey::kHeld || request->filter.uses("held");
  if (held || options.tree) {
    auto index = store::ReferenceIndex::build(**source, pool, {});
    if (!index) return report_error(context, index.error(), form);
    references = std::move(*index);
    request->references = &*references;
  }
  Interner strings;
  auto listing = [&] {
    Progress progress(context, "entries");
    request->progress = [&](std::uint64_t done, std::uint64_t total) {
      return progress.show(done, total), true;
    };
    return store::make_listing(context.files, **source, pool, strings, *request);
  }();
  if (!listing) return report_error(context, listing.error(), form);

  const report::ListReport report{cache, *listing, strings, held};
  const report::Look look = look_of(options.common, context);
  if (options.tree) {
    report::write_list_tree(context.out, report, *references, look);
  } else {
    report::write_list(context.out, report, format_of(options.common), look);
  }
  std::vector<store::Skipped> skipped = listing->skipped;
  if (references) store::add_skipped(skipped, store::skipped_besides_entries(*references));
  ExitCode code = report_skipped(context, cache, skipped, form);
  if (listing->totals.damaged != 0) code = merge(code, ExitCode::kFindings);
  if (listing->totals.unreadable != 0) code = merge(code, ExitCode::kIncomplete);
  return code;
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("list", "List the entries of a cache");
  command->add_option("DIR", options->directory, "The cache, or a part of it")
      ->check(not_empty("an empty path names no cache"))
      ->type_name("");
  command->add_option("--kind", options->kind, "Only entries of this kind: fxgraph or aotautograd")
      ->check(CLI::IsMember({"fxgraph", "aotautograd", "fx", "aot"}))
      ->type_name("KIND");
  command->add_option("--filter", options->filter, "Only entries for which this holds (see below)")
      ->check(not_empty("the filter is empty"))
      ->type_name("FILTER");
  command->add_option("--sort", options->sort, "key, age, size, time, held, device, name or torch")
      ->check(CLI::IsMember({"key", "age", "size", "time", "held", "device", "name", "torch"}))
      ->type_name("COLUMN");
  command->add_flag("--reverse", options->reverse, "The other way round");
  command->add_option("--limit", options->limit, "At most so many rows")
      ->check([](const std::string& text) {
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        return digits ? std::string() : "'" + text + "' is not a number of rows";
      })
      ->type_name("N");
  command->add_flag("--held", options->held, "Also the size of what only the entry references");
  auto* tree = command->add_flag("--tree", options->tree, "What each entry refers to, down to kernels");
  add_common_options(*command, options->common, OffersCsv::kYes);
  for (const char* format : {"--json", "--jsonl", "--csv"}) tree->excludes(command->get_option(format));
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return list(*options, context); };
  });
}

}  // namespace cachetool::commands
