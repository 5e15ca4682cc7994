#include "verify/entry_deep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/text.h"
#include "container/json.h"
#include "torch/tensor.h"
#include "verify/entry_checks.h"
#include "verify/machine_checks.h"

namespace cachetool::verify {
namespace {

using container::NodeKind;

// Values of a pickle may be shared; what is read of them in all, in sizes of the entry.
constexpr std::uint64_t kPasses = 16;

/// The members of `<kernel>.json` that are compared.
std::optional<KernelMetadata> read_metadata(const container::Tree& tree) {
  const container::Node root = tree.root();
  if (!root.is(NodeKind::kMap)) return std::nullopt;
  const auto name = root.find("name");
  if (!name || !name->is(NodeKind::kString)) return std::nullopt;
  KernelMetadata metadata;
  metadata.name = name->text();
  const auto warps = root.find("num_warps");
  if (warps && warps->is(NodeKind::kInteger)) metadata.num_warps = warps->as_integer();
  return metadata;
}

/// Bytes of the stream that a tensor's storage is read from.
std::uint64_t storage_stream_size(const pickle::Value& call) {
  const auto first_argument = [](const pickle::Value& value) -> const pickle::Value* {
    if (!value.is(pickle::Tag::kObject) || !value.object().args.is(pickle::Tag::kTuple)) return nullptr;
    const auto arguments = value.object().args.tuple().items();
    return arguments.empty() ? nullptr : &arguments[0];
  };
  const pickle::Value* storage = first_argument(call);
  const pickle::Value* stream = storage == nullptr ? nullptr : first_argument(*storage);
  return stream != nullptr && stream->is(pickle::Tag::kBytes) ? stream->bytes().size() : 0;
}

class DeepCheck {
 public:
  DeepCheck(const torch::Decoded& decoded, const EntryScrutiny& scrutiny, Budget& budget, FileReport& report)
      : decoded_(decoded),
        scrutiny_(scrutiny),
        budget_(budget),
        report_(report),
        left_(kPasses * decoded.document.bytes().size()) {}

  void run() {
    if (deep()) judge_tensors();
    if (const torch::CompiledFxGraph* graph = decoded_.fx_graph()) judge_graph(*graph);
    const torch::AotAutogradEntry* entry = decoded_.aot_entry();
    if (entry == nullptr) return;
    for (const auto* reference : {&entry->compiled_fw, &entry->compiled_bw}) {
      if (!*reference || (*reference)->result == nullptr) continue;
      const auto* graph = std::get_if<torch::CompiledFxGraph>((*reference)->result.get());
      if (graph != nullptr) judge_graph(*graph);
    }
  }

 private:
  bool deep() const { return scrutiny_.depth == Depth::kDeep; }

  bool spend(std::uint64_t bytes, const Check& check) {
    if (bytes > left_) {
      report_.not_checkable(check, "shared values would make it more than the entry's size justifies");
      return false;
    }
    left_ -= bytes;
    return true;
  }

  void judge_tensors() {
    for (const pickle::Value& call : decoded_.document.calls()) {
      if (!torch::is_tensor(call)) continue;
      if (!spend(storage_stream_size(call), checks::kTensorStorage)) return;
      const auto tensor = torch::decode_tensor(call, budget_);
      const std::uint64_t offset = call.object().offset;
      if (!tensor) {
        report_.found(checks::kTensorStorage, {"a tensor whose parts are not what torch writes", offset});
      } else if (tensor->is_parameter) {
        continue;  // the tensor in it is a call of its own
      } else if (tensor->storage && tensor->storage->zip) {
        report_.not_checkable(checks::kTensorStorage, "the storage is a zip archive");
      } else if (!tensor->problem.empty()) {
        report_.found(checks::kTensorStorage, {tensor->problem, offset});
      } else {
        report_.fine(checks::kTensorStorage);
      }
    }
  }

  void judge_graph(const torch::CompiledFxGraph& graph) {
    if (!graph.triton_bundle) return;
    for (const torch::TritonKernelArtifacts& kernel : graph.triton_bundle->kernel_artifacts)
      if (!judge_kernel(kernel)) return;
  }

  /// False when there is too much to read.
  bool judge_kernel(const torch::TritonKernelArtifacts& kernel) {
    constexpr std::string_view kCubin = ".cubin";
    constexpr std::string_view kJson = ".json";
    std::map<std::string_view, std::string_view> texts;  // by name without suffix
    for (const torch::TritonArtifact& artifact : kernel.artifacts) {
      if (!artifact.filename.ends_with(kJson)) continue;
      texts.emplace(artifact.filename.substr(0, artifact.filename.size() - kJson.size()), artifact.payload);
    }
    for (const torch::TritonArtifact& artifact : kernel.artifacts) {
      if (!artifact.filename.ends_with(kCubin)) continue;
      const auto stem = artifact.filename.substr(0, artifact.filename.size() - kCubin.size());
      const auto text = texts.find(stem);
      const std::string_view metadata = text == texts.end() ? std::string_view{} : text->second;
      if (!spend(artifact.payload.size() + metadata.size(), checks::kCubinKernel)) return false;
      judge_artifact(artifact, metadata);
    }
    return true;
  }

  void judge_artifact(const torch::TritonArtifact& artifact, std::string_view metadata_text) {
    const std::string member = fmt::format("bundled {}", escape_for_terminal(artifact.filename));
    const auto cubin = container::read_cubin(artifact.payload);
    if (!cubin) {
      if (deep())
        report_.found(checks::kCubinKernel,
                      {fmt::format("{} can't be read: {}", member, cubin.error().message)});
      return;
    }
    if (scrutiny_.target != nullptr) judge_cubin(*cubin, member, *scrutiny_.target, report_);
    if (!deep()) return;
    if (metadata_text.empty())
      return report_.not_checkable(checks::kCubinKernel, "the bundle holds no metadata of the kernel");
    const auto tree = container::read_json(metadata_text);
    const auto metadata = tree ? read_metadata(*tree) : std::nullopt;
    if (!metadata) return report_.not_checkable(checks::kCubinKernel, "the kernel's metadata can't be read");
    compare_kernels(cubin->kernels, *metadata, member, report_);
  }

  const torch::Decoded& decoded_;
  const EntryScrutiny& scrutiny_;
  Budget& budget_;
  FileReport& report_;
  std::uint64_t left_;
};

}  // namespace

void check_entry_deep(const torch::Decoded& decoded, const EntryScrutiny& scrutiny, Budget& budget,
                      FileReport& report) {
  if (scrutiny.depth != Depth::kDeep && scrutiny.target == nullptr) return;
  DeepCheck(decoded, scrutiny, budget, report).run();
}

}  // namespace cachetool::verify
