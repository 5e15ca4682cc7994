#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "container/zip_members.h"
#include "pickle/document.h"
#include "torch/tensor.h"

namespace cachetool::torch {

/// One value of a dict that torch.save wrote. Members of dicts inside it have their names joined by dots, as
/// torch.nn.Module.state_dict does.
struct SavedValue {
  std::string name;
  std::optional<Tensor> tensor;  ///< with a storage; nothing for any other value
  std::string other;             ///< what it is instead: "an int", "a sparse tensor"
};

/// What torch.save wrote. Owns the pickles; storages are views into the bytes that were read.
struct SavedTensors {
  std::vector<SavedValue> values;
  std::vector<pickle::Document> documents;
};

/// True for the contents of a torch.save archive: a data.pkl in one folder.
bool is_saved_archive(const container::ZipContents& archive);

/// Reads what torch.save writes since 1.6: a zip archive with data.pkl, byteorder and data/KEY for each
/// storage (torch/serialization.py: _save, _load, 2.15). The contents must outlive the result. Nothing is
/// executed: names that the pickle policy doesn't count as data are kUnsupported. Errors besides: kMalformed
/// and kTruncated, kUnsupported for big-endian and TorchScript archives, kWrongType when it holds no dict,
/// kLimit….
Expected<SavedTensors> read_saved_archive(const container::ZipContents& archive, Budget& budget);

/// True when `bytes` start as torch.save's legacy form does.
bool starts_as_legacy_save(std::string_view bytes);

/// Reads the legacy form: five pickles, then the storages (torch/serialization.py: _legacy_save,
/// _legacy_load, 2.15). Offsets in errors are those of `bytes`; otherwise as read_saved_archive.
Expected<SavedTensors> read_legacy_save(std::string_view bytes, Budget& budget);

}  // namespace cachetool::torch
