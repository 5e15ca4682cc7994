#include <set>
#include <unordered_set>

#include "base/budget.h"
#include "store/paths.h"
#include "torch/decode.h"
#include "verify/references.h"

namespace cachetool::verify {
namespace {

// Releases up to 2.7 put the cache's new place into an #include line when they write a wrapper again.
constexpr auto kLastRelocating = torch::ReleaseFamily::k2_7;

class ModuleRelation {
 public:
  explicit ModuleRelation(const ReferenceContext& context) : context_(context) {}

  void check(FileId id, const EntryFacts& entry) {
    const StorePlace store = context_.index.store_of_entry(id);
    FileReport report = report_on_entry(context_, id);
    std::vector<std::string> missing;
    for (const GraphFacts& graph : entry.graphs) {
      if (graph.links.wrapper) {
        const auto wrapper = context_.index.module(store, *graph.links.wrapper);
        if (wrapper) {
          compare(*wrapper, id, entry, graph);
        } else {
          lacks(store, *graph.links.wrapper, missing);
        }
      }
      for (const store::TritonReference& kernel : graph.links.triton_modules)
        if (!context_.index.module(store, kernel.module)) lacks(store, kernel.module, missing);
    }
    if (!missing.empty()) {
      report.found(checks::kModuleMissing, {"names " + name_some(missing) + ", not there"});
    } else if (!entry.graphs.empty()) {
      report.fine(checks::kModuleMissing);
    }
    context_.report.add(std::move(report));
  }

 private:
  /// What several entries lack is told of the first.
  void lacks(const StorePlace& store, const torch::HashName& module, std::vector<std::string>& missing) {
    if (missing_.emplace(store, module).second) missing.push_back(module.str() + ".py");
  }

  /// Entries of the same source share a wrapper: it is compared once.
  void compare(FileId wrapper, FileId id, const EntryFacts& entry, const GraphFacts& graph) {
    if (!compared_.insert(wrapper).second) return;
    FileReport report(context_.inventory().root_of(wrapper), context_.inventory().path(wrapper));
    report.set_release(entry.first, entry.last);
    report.set_key(entry_name(context_.inventory(), id));
    const auto* module = context_.cache.get<ModuleFacts>(wrapper);
    if (module == nullptr || !graph.source) {
      report.not_checkable(checks::kWrapperDiffers,
                           module == nullptr ? "the module can't be read" : "the entry holds no source");
    } else if (module->content.name == *graph.links.wrapper) {
      report.fine(
          checks::kWrapperDiffers);  // where the entry's source has another name, the entry is at fault
    } else if (entry.first <= kLastRelocating && is_relocated(wrapper, id, *graph.links.wrapper)) {
      report.found(checks::kWrapperRelocated,
                   {"differs from the entry's source only in where it includes torch's C++ prefix from"});
    } else {
      report.found(checks::kWrapperDiffers, {.message = "isn't the source that the entry holds",
                                             .repair = {context_.inventory().path(wrapper)}});
    }
    context_.report.add(std::move(report));
  }

  /// Reads both texts again: this is rare. torch/_inductor/output_code.py: CompiledFxGraph
  /// .after_deserialization (2.6).
  bool is_relocated(FileId wrapper, FileId id, const torch::HashName& cache_key) const {
    std::string module;
    std::string bytes;
    if (!read(wrapper, module) || !read(id, bytes)) return false;
    Budget budget = Budget::for_input(bytes.size());
    const auto decoded = torch::decode_entry(bytes, budget);
    if (!decoded) return false;
    const torch::OutputCode* code = decoded->output_code();
    const auto* graph = code == nullptr ? nullptr : std::get_if<torch::CompiledFxGraph>(code);
    if (graph == nullptr || !graph->source_code || !graph->cache_key || *graph->cache_key != cache_key.str())
      return false;
    return without_include_place(module) == without_include_place(*graph->source_code);
  }

  bool read(FileId id, std::string& bytes) const {
    const auto place = store::open_parent(
        context_.fs, context_.inventory().cache().roots[context_.inventory().root_of(id)].directory,
        context_.inventory().path(id));
    if (!place) return false;
    return read_file(context_.fs, *place->directory, place->name, context_.cache.options.max_file_bytes,
                     bytes)
        .has_value();
  }

  /// The text with every `#include "…/<file>"` cut to `#include "<file>"`.
  static std::string without_include_place(std::string_view text) {
    constexpr std::string_view kInclude = "#include \"";
    std::string result;
    for (std::size_t at = text.find(kInclude); at != std::string_view::npos; at = text.find(kInclude)) {
      result += text.substr(0, at + kInclude.size());
      text.remove_prefix(at + kInclude.size());
      const std::string_view path = text.substr(0, text.find_first_of("\"\n"));
      text.remove_prefix(path.size());
      result += store::name_of(path);
    }
    return result.append(text);
  }

  const ReferenceContext& context_;
  std::unordered_set<FileId> compared_;
  std::set<std::pair<StorePlace, torch::HashName>> missing_;
};

}  // namespace

void check_modules(const ReferenceContext& context) {
  ModuleRelation relation(context);
  for (const FileId id : entries_to_judge(context)) relation.check(id, *context.cache.entry(id));
}

}  // namespace cachetool::verify
