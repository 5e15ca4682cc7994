#pragma once

#include "cache_builder.h"
#include "replay/lookup.h"

/// Keys with several candidates, looked up in memory.
namespace graph_builder {

inline cachetool::replay::LookupHints sizes(std::string_view list) {
  cachetool::replay::LookupHints hints;
  REQUIRE(hints.add_list(list));
  return hints;
}

inline cachetool::store::KeyRef key_ref(const std::string& key) {
  using cachetool::torch::EntryKind;
  return {*cachetool::torch::HashName::parse(key),
          key.front() == 'f' ? EntryKind::kFxGraph : EntryKind::kAotAutograd, 0};
}

inline cachetool::Expected<cachetool::replay::Lookup> try_look_up(CacheBuilder& cache, const std::string& key,
                                                                  cachetool::replay::LookupOptions options) {
  return cachetool::replay::lookup(cache.source(), key_ref(key), options);
}

inline cachetool::replay::Lookup look_up(CacheBuilder& cache, const std::string& key, ReleaseFamily family,
                                         cachetool::replay::LookupHints hints = {},
                                         cachetool::replay::ExternLibsKey libraries = {}) {
  cachetool::replay::LookupOptions options;
  options.hints = std::move(hints);
  options.release = family;
  options.extern_libs = std::move(libraries);
  auto found = try_look_up(cache, key, options);
  REQUIRE(found);
  return std::move(*found);
}

/// "used guards_false not_reached", in torch's order.
inline std::string statuses(const cachetool::replay::KeyLookup& lookup) {
  std::string text;
  for (const auto& candidate : lookup.candidates)
    text += (text.empty() ? "" : " ") + std::string(status_word(candidate.status));
  return text;
}

inline std::string result(const cachetool::replay::KeyLookup& lookup) {
  return std::string(result_word(lookup.result));
}

/// A graph with these guards and, for 2.8 on, the key lines of inputs ('s77',), a tensor, ('s27',).
inline std::string guarded_graph(ReleaseFamily family, std::string_view guards) {
  return GraphBuilder(family)
      .set("guards_expr", pickle_text::text(guards))
      .key_lines({"[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[0]: ('s77',)",
                  "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[1]: "
                  "TensorMetadata(dtype=torch.float32)",
                  "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[2]: ('s27',)"})
      .pickle();
}

}  // namespace graph_builder
