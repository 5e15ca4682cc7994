#include <fmt/format.h>

#include <variant>

#include "base/text.h"
#include "pickle/dump.h"
#include "report/entry_report.h"
#include "report/section.h"
#include "torch/launches.h"

namespace cachetool::report {
namespace {

// Text from a cache, line by line; ends in a line break.
void write_text(OutputSink& sink, std::string_view text, RawText raw) {
  if (raw == RawText::kExact) {
    sink.write(text);
    return;
  }
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    sink.write(escape_for_terminal(text.substr(0, end)) + "\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

struct Titled {
  std::string title;
  std::string_view text;
};

// With more than one text, each has a line in front that names it.
bool write_texts(OutputSink& sink, const std::vector<Titled>& texts, RawText raw) {
  for (const Titled& part : texts) {
    if (texts.size() > 1) sink.write("# " + part.title + "\n");
    write_text(sink, part.text, raw);
    if (texts.size() > 1 && !part.text.ends_with('\n')) sink.write("\n");
  }
  return !texts.empty();
}

void add(std::vector<Titled>& texts, std::string title, const torch::Field<std::string_view>& text) {
  if (text && !text->empty()) texts.push_back({std::move(title), *text});
}

std::string dimensions(const std::array<std::int64_t, 3>& blocks) {
  return fmt::format("{} x {} x {}", blocks[0], blocks[1], blocks[2]);
}

std::string config_text(const torch::KernelLaunch& launch) {
  std::string text;
  for (const auto& [name, value] : launch.config)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string();
}

}  // namespace

std::vector<HeldGraph> held_graphs(const store::OpenedEntry& entry) {
  std::vector<HeldGraph> graphs;
  if (const torch::CompiledFxGraph* graph = entry.decoded.fx_graph()) graphs.push_back({"", graph});
  const torch::AotAutogradEntry* aot = entry.decoded.aot_entry();
  if (aot == nullptr) return graphs;
  const auto add_result = [&](std::string_view role, const torch::Field<torch::CompiledGraphRef>& reference) {
    if (!reference || reference->result == nullptr) return;
    if (const auto* graph = std::get_if<torch::CompiledFxGraph>(reference->result.get()))
      graphs.push_back({role, graph});
  };
  add_result("forward", aot->compiled_fw);
  add_result("backward", aot->compiled_bw);
  return graphs;
}

bool write_source(OutputSink& sink, const store::OpenedEntry& entry, RawText raw) {
  std::vector<Titled> texts;
  for (const HeldGraph& held : held_graphs(entry)) {
    add(texts, fmt::format("wrapper module, {}", held.role), held.graph->source_code);
  }
  return write_texts(sink, texts, raw);
}

bool write_graph(OutputSink& sink, const store::OpenedEntry& entry, RawText raw) {
  std::vector<Titled> texts;
  if (const torch::AotAutogradEntry* aot = entry.decoded.aot_entry()) {
    add(texts, "joint graph", aot->aot_joint_graph_str);
    add(texts, "forward graph", aot->aot_forward_graph_str);
    add(texts, "backward graph", aot->aot_backward_graph_str);
  }
  for (const HeldGraph& held : held_graphs(entry)) {
    const std::string role = held.role.empty() ? std::string() : ", " + std::string(held.role);
    add(texts, "post-grad graph" + role, held.graph->inductor_post_grad_graph_str);
    add(texts, "program that runs the graph" + role, held.graph->runnable_graph_str);
  }
  return write_texts(sink, texts, raw);
}

bool write_key_details(OutputSink& sink, const store::OpenedEntry& entry, const Look& look) {
  std::vector<std::pair<std::string, torch::KeyDetails>> all;
  for (const HeldGraph& held : held_graphs(entry)) {
    if (held.graph->key_details) all.emplace_back(held.role, *held.graph->key_details);
  }
  if (const torch::AotAutogradEntry* aot = entry.decoded.aot_entry()) {
    if (aot->compiled_fw && aot->compiled_fw->key_details)
      all.emplace_back("forward", *aot->compiled_fw->key_details);
    if (aot->compiled_bw && aot->compiled_bw->key_details)
      all.emplace_back("backward", *aot->compiled_bw->key_details);
  }
  SectionWriter sections(sink, look);
  for (const auto& [role, details] : all) {
    sections.title(role.empty() ? "Key details" : fmt::format("Key details ({})", role));
    std::vector<std::vector<Cell>> rows;
    for (const torch::KeyComponent& component : details.components()) {
      rows.push_back(
          {{std::string(look.names == Names::kFull ? component.hash : component.hash.substr(0, 8))},
           {std::string(component.path), Style::kName},
           {std::string(component.text)}});
    }
    sections.table({{"HASH"}, {"COMPONENT", Align::kLeft, 24}, {"VALUE", Align::kLeft, 20}}, std::move(rows));
  }
  return !all.empty();
}

void write_pickle(OutputSink& sink, const store::OpenedEntry& entry, Strings strings) {
  const pickle::Document& document = entry.decoded.document;
  pickle::DumpOptions options;
  if (strings == Strings::kFull) options.max_string = 0;
  pickle::dump(document, sink, options);
  for (const pickle::Deviation& deviation : document.deviations()) {
    sink.write(fmt::format("deviation at offset {}: {} {}\n", deviation.offset,
                           pickle::deviation_name(deviation.kind), escape_for_terminal(deviation.detail)));
  }
}

bool write_launches(OutputSink& sink, const store::OpenedEntry& entry, const Look& look) {
  SectionWriter sections(sink, look);
  bool any = false;
  for (const HeldGraph& held : held_graphs(entry)) {
    std::vector<std::vector<Cell>> rows;
    for (const torch::KernelLaunch& launch : torch::kernel_launches(*held.graph)) {
      rows.push_back(
          {{std::to_string(launch.line)},
           {launch.kernel, Style::kName},
           {launch.language == "triton" ? (launch.grid.empty() ? launch.grid_type : launch.grid)
                                        : "on the host"},
           {launch.blocks ? dimensions(*launch.blocks) : ""},
           {number(launch.threads())},
           {number(launch.num_warps)},
           {number(launch.num_stages)},
           {launch.shared_bytes ? look.size(static_cast<std::uint64_t>(*launch.shared_bytes)) : ""},
           {config_text(launch)}});
    }
    any |= !rows.empty();
    sections.title(held.role.empty() ? "Launches" : fmt::format("Launches ({})", held.role));
    sections.table({{"LINE", Align::kRight},
                    {"KERNEL", Align::kLeft, 20},
                    {"GRID", Align::kLeft, 16},
                    {"BLOCKS"},
                    {"THREADS", Align::kRight},
                    {"WARPS", Align::kRight},
                    {"STAGES", Align::kRight, 0, 1},
                    {"SHARED", Align::kRight},
                    {"CONFIG", Align::kLeft, 10, 2}},
                   std::move(rows));
  }
  return any;
}

}  // namespace cachetool::report
