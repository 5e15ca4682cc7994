#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file_system.h"
#include "container/zip_members.h"
#include "pickle/document.h"
#include "torch/saved_tensors.h"
#include "torch/tensor.h"

namespace cachetool::replay {

/// The form in which values were handed over, recognised by its content.
enum class SuppliedForm : std::uint8_t {
  kSafetensors,
  kNpz,
  kNpy,        ///< a directory of .npy files
  kTorchSave,  ///< torch.save's, both forms
};
/// "safetensors", "npz", "npy-directory", "torch-save".
std::string_view form_name(SuppliedForm form);

/// One value that the user handed over.
struct SuppliedValue {
  std::string name;
  /// dtype, size, stride, offset and elements. The device is empty where the form has none, and "raw8" or
  /// "raw16" is the dtype of numpy's bytes without a type.
  torch::Tensor tensor;
  /// The form has no strides: elements lie row by row (or column by column), whatever the graph wants, and
  /// are to be laid out as it does.
  bool logical = false;
  /// numpy has no type for it, so unsigned integers may stand for bfloat16, float16 and the float8 types.
  bool may_be_raw = false;
  std::string other;  ///< what it is instead of a tensor: "a value of type int"; empty for tensors
};

struct SuppliedLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30;  ///< of all files together, and of what they unpack to
  std::uint64_t max_memory = 0;  ///< for decoding a pickle and unpacking; 0: Budget::for_input
  std::uint32_t max_files = 100'000;
};

/// Values for frozen parameters (--constants FILE). Move-only; owns the bytes.
class SuppliedValues {
 public:
  /// Reads a .safetensors, .npz, .npy (one array, called after its file) or torch.save file, or a directory
  /// of .npy files, each a value called as its file without ".npy". `path` is absolute; links are followed to
  /// the file itself, not inside a directory. Errors: those of the file system; kNotFound for a directory
  /// without .npy files; kMalformed, kTruncated, kUnsupported, kWrongType, kLimit… with the file and offset.
  static Expected<SuppliedValues> load(FileSystem& files, std::string_view path,
                                       const SuppliedLimits& limits = {});
  /// The same for bytes at hand; `name` is what a single array is called.
  static Expected<SuppliedValues> of_bytes(std::string bytes, std::string_view name,
                                           const SuppliedLimits& limits = {});

  SuppliedForm form() const { return form_; }
  /// In the order of the file, by name for a directory. Names are distinct.
  std::span<const SuppliedValue> values() const { return values_; }

 private:
  Status read(std::string bytes, std::string_view name, const SuppliedLimits& limits);
  Status read_zip(std::string_view bytes, const SuppliedLimits& limits);
  Status read_safetensors(std::string_view bytes);
  Status read_array(std::string_view bytes, std::string name);
  Status read_directory(FileSystem& files, const Directory& directory, const SuppliedLimits& limits);
  void take(torch::SavedTensors saved);
  torch::Ints keep(std::span<const std::int64_t> numbers);

  SuppliedForm form_ = SuppliedForm::kNpy;
  std::vector<SuppliedValue> values_;
  // What the values point into.
  std::vector<std::unique_ptr<std::string>> bytes_;
  std::vector<std::vector<pickle::Value>> numbers_;  // their elements stay where they are
  container::ZipContents archive_;
  std::vector<pickle::Document> documents_;
};

}  // namespace cachetool::replay
