#include "replay/supplied_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/budget.h"
#include "base/text.h"
#include "container/npy.h"
#include "container/safetensors.h"
#include "container/shape.h"
#include "container/zip_directory.h"
#include "verify/path_file.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kArraySuffix = ".npy";

Budget budget_for(const SuppliedLimits& limits, std::uint64_t input_bytes) {
  return limits.max_memory == 0 ? Budget::for_input(input_bytes) : Budget(limits.max_memory);
}

std::uint64_t max_bytes(const SuppliedLimits& limits) {
  return std::max(limits.max_bytes, limits.max_memory);
}

// "weights" for "/a/weights.npy".
std::string stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  if (path.ends_with(kArraySuffix)) path.remove_suffix(kArraySuffix.size());
  return std::string(path);
}

Error located(Error error, std::string_view path) {
  error.path = path;
  if (error.code == ErrorCode::kNotFound) error.message = "no such file or directory";
  if (error.code == ErrorCode::kLimitSize || error.code == ErrorCode::kLimitMemory)
    error.hint = "--max-memory allows more";
  return error;
}

// A tensor of a form that knows neither devices nor storages.
torch::Tensor plain_tensor(std::string_view dtype, torch::Ints size, torch::Ints stride,
                           std::string_view bytes) {
  torch::Tensor tensor;
  tensor.dtype = dtype;
  tensor.size = size;
  tensor.stride = stride;
  tensor.storage = torch::StorageView{.dtype = dtype, .location = {}, .bytes = bytes};
  return tensor;
}

}  // namespace

std::string_view form_name(SuppliedForm form) {
  switch (form) {
    case SuppliedForm::kSafetensors:
      return "safetensors";
    case SuppliedForm::kNpz:
      return "npz";
    case SuppliedForm::kTorchSave:
      return "torch-save";
    case SuppliedForm::kNpy:
      break;
  }
  return "npy-directory";
}

Expected<SuppliedValues> SuppliedValues::load(FileSystem& files, std::string_view path,
                                              const SuppliedLimits& limits) {
  SuppliedValues values;
  if (const auto directory = files.open_root(path)) {
    if (auto done = values.read_directory(files, **directory, limits); !done) {
      Error error = std::move(done.error());
      error.path = std::string(path) + (error.path.empty() ? "" : "/" + error.path);
      return tl::unexpected<Error>(std::move(error));
    }
    return values;
  }
  auto bytes = verify::read_path(files, path, max_bytes(limits));
  if (!bytes) return tl::unexpected<Error>(located(std::move(bytes.error()), path));
  if (auto done = values.read(std::move(*bytes), stem(path), limits); !done)
    return tl::unexpected<Error>(located(std::move(done.error()), path));
  return values;
}

Expected<SuppliedValues> SuppliedValues::of_bytes(std::string bytes, std::string_view name,
                                                  const SuppliedLimits& limits) {
  SuppliedValues values;
  if (auto done = values.read(std::move(bytes), name, limits); !done)
    return tl::unexpected(std::move(done.error()));
  return values;
}

Status SuppliedValues::read(std::string owned, std::string_view name, const SuppliedLimits& limits) {
  const std::string_view bytes = *bytes_.emplace_back(std::make_unique<std::string>(std::move(owned)));
  if (bytes.empty()) return fail(ErrorCode::kTruncated, "the file is empty", {}, 0);
  if (container::starts_as_npy(bytes)) return read_array(bytes, std::string(name));
  if (container::starts_as_zip(bytes)) return read_zip(bytes, limits);
  if (torch::starts_as_legacy_save(bytes)) {
    Budget budget = budget_for(limits, bytes.size());
    auto saved = torch::read_legacy_save(bytes, budget);
    if (!saved) return tl::unexpected(std::move(saved.error()));
    take(std::move(*saved));
    return {};
  }
  if (container::looks_like_safetensors(bytes)) return read_safetensors(bytes);
  return fail(ErrorCode::kUnsupported,
              "no file of constants: neither .safetensors, .npz, .npy nor torch.save's", {}, 0);
}

Status SuppliedValues::read_zip(std::string_view bytes, const SuppliedLimits& limits) {
  Budget budget = budget_for(limits, bytes.size());
  auto archive = container::read_zip_contents(bytes, std::min(budget.limit(), max_bytes(limits)));
  if (!archive) return tl::unexpected(std::move(archive.error()));
  archive_ = std::move(*archive);
  if (torch::is_saved_archive(archive_)) {
    auto saved = torch::read_saved_archive(archive_, budget);
    if (!saved) return tl::unexpected(std::move(saved.error()));
    take(std::move(*saved));
    return {};
  }
  for (const container::ZipContent& member : archive_.members) {
    if (!member.name.ends_with(kArraySuffix))
      return fail(ErrorCode::kUnsupported,
                  fmt::format("a zip archive that neither numpy nor torch.save wrote: it holds '{}'",
                              escape_for_terminal(member.name)),
                  {}, member.offset);
    std::string name(member.name.substr(0, member.name.size() - kArraySuffix.size()));
    if (auto done = read_array(member.bytes, std::move(name)); !done) {
      Error error = std::move(done.error());
      error.message = fmt::format("member '{}': {}", escape_for_terminal(member.name), error.message);
      return tl::unexpected<Error>(std::move(error));
    }
  }
  form_ = SuppliedForm::kNpz;
  return {};
}

Status SuppliedValues::read_safetensors(std::string_view bytes) {
  auto tensors = container::read_safetensors(bytes);
  if (!tensors) return tl::unexpected(std::move(tensors.error()));
  form_ = SuppliedForm::kSafetensors;
  for (container::SafeTensor& tensor : *tensors) {
    SuppliedValue value;
    value.tensor = plain_tensor(tensor.dtype, keep(tensor.size), keep(container::row_strides(tensor.size)),
                                tensor.bytes);
    value.name = std::move(tensor.name);
    value.logical = true;
    values_.push_back(std::move(value));
  }
  return {};
}

Status SuppliedValues::read_array(std::string_view bytes, std::string name) {
  const auto array = container::read_npy(bytes);
  if (!array) return tl::unexpected(array.error());
  SuppliedValue value;
  value.name = std::move(name);
  value.tensor = plain_tensor(array->dtype, keep(array->size), keep(array->stride), array->bytes);
  value.logical = true;
  value.may_be_raw = true;
  values_.push_back(std::move(value));
  return {};
}

Status SuppliedValues::read_directory(FileSystem& files, const Directory& directory,
                                      const SuppliedLimits& limits) {
  const auto entries = files.list(directory);
  if (!entries) return tl::unexpected(entries.error());
  std::uint64_t left = max_bytes(limits);
  for (const DirEntry& entry : *entries) {
    const std::string& name = entry.name.str();
    if (!name.ends_with(kArraySuffix)) continue;
    if (values_.size() == limits.max_files)
      return fail(ErrorCode::kLimitSize, fmt::format("more than {} .npy files", limits.max_files));
    std::string& bytes = *bytes_.emplace_back(std::make_unique<std::string>());
    if (auto done = read_file(files, directory, entry.name, left, bytes); !done)
      return tl::unexpected<Error>(located(std::move(done.error()), name));
    left -= std::min<std::uint64_t>(left, bytes.size());
    if (auto done = read_array(bytes, stem(name)); !done)
      return tl::unexpected<Error>(located(std::move(done.error()), name));
  }
  if (values_.empty())
    return fail(ErrorCode::kNotFound, "no .npy files in that directory", {}, {},
                "give a file, or a directory with one NAME.npy for each constant");
  return {};
}

void SuppliedValues::take(torch::SavedTensors saved) {
  form_ = SuppliedForm::kTorchSave;
  documents_ = std::move(saved.documents);
  for (torch::SavedValue& item : saved.values) {
    SuppliedValue value;
    value.name = std::move(item.name);
    value.other = std::move(item.other);
    if (item.tensor) value.tensor = std::move(*item.tensor);
    values_.push_back(std::move(value));
  }
}

torch::Ints SuppliedValues::keep(std::span<const std::int64_t> numbers) {
  std::vector<pickle::Value>& kept = numbers_.emplace_back();
  kept.reserve(numbers.size());
  for (const std::int64_t number : numbers) kept.push_back(pickle::Value::integer(number));
  return torch::Ints(kept);
}

}  // namespace cachetool::replay
