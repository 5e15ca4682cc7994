#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "report/replay_sections.h"

namespace cachetool::report {
namespace {

using replay::GraphReplay;
using replay::Wrap;

// Inputs that a line lists, unless names are wanted in full.
constexpr std::size_t kListed = 8;

/// "0 arg0_1, 2 arg2_1, … 5 more".
class InputList {
 public:
  explicit InputList(const Look& look) : limit_(look.names == Names::kFull ? 0 : kListed) {}
  void add(std::int64_t position, std::string_view name) {
    ++count_;
    if (limit_ != 0 && count_ > limit_) return;
    text_ += fmt::format("{}{}{}{}", text_.empty() ? "" : ", ", position, name.empty() ? "" : " ", name);
  }
  std::string text() const {
    return limit_ != 0 && count_ > limit_ ? fmt::format("{}, … {} more", text_, count_ - limit_) : text_;
  }

 private:
  std::size_t limit_;
  std::size_t count_ = 0;
  std::string text_;
};

std::string_view name_of(const GraphReplay& graph, std::int64_t position) {
  if (position < 0 || static_cast<std::uint64_t>(position) >= graph.inputs.size()) return {};
  return graph.inputs[static_cast<std::size_t>(position)].name;
}

std::string named(const Look& look, const std::vector<std::int64_t>& positions,
                  const std::vector<std::string>& names) {
  InputList list(look);
  for (const std::int64_t position : positions) {
    const bool known = position >= 0 && static_cast<std::uint64_t>(position) < names.size();
    list.add(position, known ? std::string_view(names[static_cast<std::size_t>(position)]) : "");
  }
  return list.text();
}

// Inputs that are neither static nor sizes are copied to where the recording reads them.
std::string copied(const Look& look, const GraphReplay& graph, const Wrap& wrap) {
  const std::unordered_set<std::int64_t> fixed(wrap.static_input_idxs.begin(), wrap.static_input_idxs.end());
  InputList list(look);
  for (std::size_t i = 0; i < wrap.placeholders.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    if (fixed.contains(position)) continue;
    if (!wrap.partition && i < graph.inputs.size() && graph.inputs[i].is_size) continue;
    list.add(position, wrap.placeholders[i]);
  }
  return list.text();
}

void write_wrap(SectionWriter& sections, const GraphReplay& graph, const Wrap& wrap) {
  const Look& look = sections.look();
  const std::string what = wrap.partition ? fmt::format("partition {}", *wrap.partition) : "CUDA graph";
  sections.field(what, fmt::format("on device {}, {}, {}", wrap.device_index,
                                   counted(wrap.placeholders.size(), "input", "inputs"),
                                   counted(wrap.n_constants, "constant", "constants")));
  sections.field("  static", named(look, wrap.static_input_idxs, wrap.placeholders));
  sections.field("  copied", copied(look, graph, wrap));
  sections.field("  mutated", named(look, wrap.mutated_input_idxs, wrap.placeholders));
  if (wrap.kernel_free_cudagraph.value_or(false))
    sections.field("  kernel-free", "yes: it launches no kernel");
}

void write_sizes(SectionWriter& sections, const GraphReplay& graph) {
  InputList sizes(sections.look());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.inputs[i].is_size) sizes.add(static_cast<std::int64_t>(i), graph.inputs[i].name);
  sections.field("sizes", sizes.text());
}

void write_realigned(SectionWriter& sections, const GraphReplay& graph) {
  if (graph.decision.realign.empty()) return;
  InputList list(sections.look());
  for (const std::int64_t position : graph.decision.realign) list.add(position, name_of(graph, position));
  sections.field("realigned", list.text());
  sections.field("", graph.decision.realign_writes_back
                         ? "cloned where the address is no multiple of 16; what is mutated is copied back"
                         : "cloned where the address is no multiple of 16");
}

// Where the model writes to its inputs, which keeps CUDA graphs off at compile or at run time.
void write_mutations(SectionWriter& sections, const GraphReplay& graph) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const replay::GraphInput& input = graph.inputs[i];
    if (!input.is_mutated || input.mutation_trace.empty()) continue;
    sections.field("mutated", fmt::format("{} {}", i, input.name));
    sections.prose("", input.mutation_trace, Style::kFaint);
  }
}

}  // namespace

void write_input_sections(SectionWriter& sections, const GraphReplay& graph) {
  sections.title("Inputs");
  for (const Wrap& wrap : graph.decision.wraps) write_wrap(sections, graph, wrap);
  if (!graph.decision.wraps.empty()) write_sizes(sections, graph);
  write_realigned(sections, graph);
  write_mutations(sections, graph);
}

}  // namespace cachetool::report
