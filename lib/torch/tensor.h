#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"
#include "pickle/value.h"
#include "torch/list_view.h"

namespace cachetool::torch {

enum class ByteOrder : bool { kLittle, kBig };

/// Contents of a torch.save stream that holds one storage.
struct StorageView {
  std::string_view dtype;     ///< "float32"; empty for UntypedStorage
  std::string_view location;  ///< "cpu", "cuda:0", as saved
  std::string_view bytes;     ///< the elements, on the host
  ByteOrder byte_order = ByteOrder::kLittle;
  bool zip = false;  ///< a zip archive (torch.save's newer format): recognised, `bytes` is the whole archive
};

/// Reads the legacy stream that torch.storage._load_from_bytes gets: magic number, protocol version, sizes,
/// the storage as a persistent id, its keys, then count and elements. `bytes` must outlive the result; nested
/// pickles draw on `budget`. Follows torch/serialization.py: _legacy_save, _legacy_load (2.6). Errors:
/// kTruncated, kMalformed, kUnsupported.
Expected<StorageView> read_storage(std::string_view bytes, Budget& budget);

/// What a storage class of torch's legacy streams and zip archives holds: "float32" for torch.FloatStorage,
/// empty for UntypedStorage; nothing for any other name.
std::optional<std::string_view> storage_class_dtype(const pickle::GlobalNode& cls);

/// Where storages come from that a pickle names by a persistent id.
class StorageProvider {
 public:
  virtual ~StorageProvider() = default;
  virtual Expected<StorageView> storage(const pickle::PersistentNode& id) const = 0;
};

enum class TensorKind : std::uint8_t {
  kStrided,    ///< _rebuild_tensor, _v2, _v3
  kQuantised,  ///< _rebuild_qtensor
  kSparse,     ///< _rebuild_sparse_tensor
  kMeta,       ///< _rebuild_meta_tensor_no_storage: no elements
  kWrapper,    ///< _rebuild_wrapper_subclass: no elements
  kFromNumpy,  ///< _rebuild_device_tensor_from_numpy
  kFromCpu,    ///< _rebuild_device_tensor_from_cpu_tensor
};

/// A tensor inside a pickle. Views into the Document.
struct Tensor {
  TensorKind kind = TensorKind::kStrided;
  std::string_view dtype;  ///< "float32"
  std::string_view
      device;  ///< "cpu", "cuda:0" (or "cuda" without index); see device_index for calls of torch.device
  std::optional<std::int64_t> device_index;  ///< set when `device` is a bare type and the index stands apart
  Ints size;
  Ints stride;                      ///< in elements
  std::int64_t storage_offset = 0;  ///< in elements
  bool requires_grad = false;
  bool is_parameter = false;
  std::optional<StorageView> storage;  ///< nothing for kinds without elements
  std::string problem;  ///< why `storage` can't be used as size, stride and offset say; empty when it can

  /// "cuda:0"
  std::string device_text() const;
};

/// Bytes per element of "float32", "complex64", "qint8", …; 0 for a name that isn't known.
std::uint64_t dtype_size(std::string_view dtype);

/// True when `value` is a call of one of torch._utils' rebuild functions (also below a Parameter).
bool is_tensor(const pickle::Value& value);

/// Decodes a tensor; nothing when `value` isn't one (see is_tensor) or its arguments have other types than
/// torch writes. A storage that can't be read or that is too short for the view leaves a `problem`, as does a
/// persistent id where there is no provider.
std::optional<Tensor> decode_tensor(const pickle::Value& value, Budget& budget,
                                    const StorageProvider* storages = nullptr);

}  // namespace cachetool::torch
