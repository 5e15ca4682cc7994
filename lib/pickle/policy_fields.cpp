#include "pickle/policy_fields.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "pickle/policy_attributes.h"

namespace cachetool::pickle {
namespace {

/// One component of a path, as torch and Triton name files.
bool is_file_name(const Value& value) {
  const std::string_view name = text_or(value);
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// An autotuner that hasn't got one yet has the empty text.
bool is_file_name_or_nothing(const Value& value) {
  return value.is_none() || (value.is(Tag::kString) && value.bytes().empty()) || is_file_name(value);
}

bool is_identifier_text(const Value& value) {
  return is_identifier(text_or(value));
}

/// Arguments of a kernel.
bool are_identifiers(const Value& value) {
  const auto names = items_of(value);
  return (value.is(Tag::kList) || value.is(Tag::kTuple)) &&
         std::all_of(names.begin(), names.end(), is_identifier_text);
}

bool is_none(const Value& value) {
  return value.is_none();
}

/// Sizes of blocks by the names of the kernel's arguments.
bool are_settings(const Value& value) {
  if (!value.is(Tag::kDict)) return false;
  const auto pairs = value.dict().pairs();
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const Pair& pair) { return is_identifier_text(pair.key); });
}

constexpr std::string_view kPath = "names a file outside the place that torch keeps it in";
constexpr std::string_view kCode = "holds text that isn't a name and would become code";
constexpr std::string_view kElsewhere = "makes torch load a file that the cache doesn't hold";

/// Nothing else that has a `filename` may stand in an artifact's place.
bool are_artifacts(const Value& value) {
  const auto artifacts = items_of(value);
  return value.is(Tag::kList) && std::all_of(artifacts.begin(), artifacts.end(), [](const Value& artifact) {
           return artifact.is(Tag::kObject) &&
                  is_global(artifact.object().callable, "torch._inductor.triton_bundler",
                            "TritonKernelArtifact");
         });
}

struct Field {
  std::string_view class_name;  // empty: any, for torch takes whatever has the attribute
  std::string_view attribute;
  bool (*is_fine)(const Value&);
  std::string_view reason;
};

constexpr Field kFields[] = {
    {"", "kernel_hash", is_file_name_or_nothing, kPath},
    {"TritonKernelArtifacts", "kernel_hash", is_file_name, kPath},
    {"", "cache_key", is_file_name, kPath},
    {"", "cubin_path", is_none, kElsewhere},
    {"", "arg_names", are_identifiers, kCode},
    {"", "artifacts", are_artifacts, kPath},
    {"TritonKernelArtifact", "filename", is_file_name, kPath},
    {"StaticallyLaunchedCudaKernel", "name", is_identifier_text, kPath},
    {"StaticallyLaunchedCudaKernel", "hash", is_file_name, kPath},
    {"StaticallyLaunchedTritonKernel", "name", is_identifier_text, kPath},
    {"StaticallyLaunchedTritonKernel", "hash", is_file_name, kPath},
    {"StaticallyLaunchedXpuKernel", "name", is_identifier_text, kPath},
    {"StaticallyLaunchedXpuKernel", "hash", is_file_name, kPath},
    {"Config", "kwargs", are_settings, kCode},
};

}  // namespace

std::optional<FieldObjection> field_objection(const ObjectNode& object) {
  if (!object.callable.is(Tag::kGlobal) || object.states.size == 0) return {};
  const GlobalNode& maker = object.callable.global();
  const Attributes attributes(object);
  for (const Field& field : kFields) {
    if (!field.class_name.empty() && maker.name != field.class_name) continue;
    const Value* value = attributes.find(field.attribute);
    if (value == nullptr || field.is_fine(*value)) continue;
    return FieldObjection{fmt::format("{}.{}", maker.name.substr(0, 100), field.attribute),
                          std::string(field.reason)};
  }
  return {};
}

}  // namespace cachetool::pickle
