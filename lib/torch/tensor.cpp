#include "torch/tensor.h"

#include <fmt/format.h>

#include "torch/plain.h"

namespace cachetool::torch {

using pickle::Tag;
using pickle::Value;

namespace {

using Args = std::span<const Value>;

bool read_ints(const Value& value, Ints& out) {
  const auto items = sequence_items(value);
  if (!items) return false;
  for (const Value& item : *items) {
    if (!item.is(Tag::kInt)) return false;
  }
  out = Ints(*items);
  return true;
}

bool read_bool(const Value& value, bool& out) {
  if (!value.is(Tag::kBool)) return false;
  out = value.as_bool();
  return true;
}

/// A dtype: a global, "torch.float32".
bool read_dtype(const Value& value, std::string_view& out) {
  out = torch_constant_name(value);
  return !out.empty();
}

/// torch.device("cuda", 0), or its text.
bool read_device(const Value& value, Tensor& out) {
  if (value.is(Tag::kString)) return out.device = value.bytes(), true;
  if (!is_instance(value, "torch", "device") || !value.object().args.is(Tag::kTuple)) return false;
  const Args args = value.object().args.tuple().items();
  if (args.empty() || args.size() > 2 || !args[0].is(Tag::kString)) return false;
  out.device = args[0].bytes();
  if (args.size() == 2 && args[1].is(Tag::kInt)) out.device_index = args[1].as_int();
  return true;
}

/// Why size, stride and offset reach outside of a storage of `bytes`; empty when they don't.
std::string reach_problem(const Tensor& tensor, std::uint64_t bytes, std::uint64_t element) {
  if (tensor.size.size() != tensor.stride.size()) return "the tensor has more sizes than strides, or fewer";
  if (tensor.storage_offset < 0) return "the tensor starts before its storage";
  std::int64_t last = tensor.storage_offset;
  bool empty = false;
  for (std::size_t i = 0; i < tensor.size.size(); ++i) {
    const std::int64_t size = tensor.size[i];
    const std::int64_t stride = tensor.stride[i];
    if (size < 0 || stride < 0) return "the tensor has a negative size or stride";
    empty = empty || size == 0;
    std::int64_t reach = 0;
    if (size > 0 &&
        (__builtin_mul_overflow(size - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last))) {
      return "the tensor reaches beyond any storage";
    }
  }
  if (empty || static_cast<std::uint64_t>(last) < bytes / element) return {};
  return fmt::format("the tensor needs {} elements of {} bytes, its storage has {} bytes", last + 1, element,
                     bytes);
}

/// What reading a tensor draws on.
struct Supply {
  Budget& budget;
  const StorageProvider* storages;
};

/// A storage that was found, as the tensor's.
void take_storage(Expected<StorageView> storage, Tensor& out) {
  if (!storage) {
    out.problem = storage.error().message;
    return;
  }
  if (out.dtype.empty()) out.dtype = storage->dtype;
  out.device = storage->location;
  out.storage = *storage;
  if (storage->zip) {
    out.problem = "the tensor's storage is a zip archive";
    return;
  }
  const std::uint64_t element = dtype_size(out.dtype);
  if (element != 0) out.problem = reach_problem(out, storage->bytes.size(), element);
}

/// The storage argument: torch.storage._load_from_bytes(bytes), or a persistent id in what torch.save writes.
void read_storage_argument(const Value& value, const Supply& supply, Tensor& out) {
  if (value.is(Tag::kPersistent) && supply.storages != nullptr)
    return take_storage(supply.storages->storage(value.persistent()), out);
  if (!is_instance(value, "torch.storage", "_load_from_bytes") || !value.object().args.is(Tag::kTuple)) {
    out.problem = "the tensor's storage is not stored with it";
    return;
  }
  const Args args = value.object().args.tuple().items();
  if (args.size() != 1 || !args[0].is(Tag::kBytes)) {
    out.problem = "the tensor's storage is not stored as bytes";
    return;
  }
  take_storage(read_storage(args[0].bytes(), supply.budget), out);
}

/// (storage, storage_offset, size, stride, …), which the strided kinds have in common.
bool read_view(Args args, Tensor& out) {
  if (args.size() < 4 || !args[1].is(Tag::kInt)) return false;
  out.storage_offset = args[1].as_int();
  return read_ints(args[2], out.size) && read_ints(args[3], out.stride);
}

bool read_rebuild_tensor(Args args, const Supply& supply, Tensor& out) {
  if (!read_view(args, out)) return false;
  read_storage_argument(args[0], supply, out);
  return true;
}

bool read_rebuild_tensor_v2(Args args, const Supply& supply, Tensor& out) {
  if (args.size() < 6 || !read_view(args, out) || !read_bool(args[4], out.requires_grad)) return false;
  read_storage_argument(args[0], supply, out);
  return true;
}

bool read_rebuild_tensor_v3(Args args, const Supply& supply, Tensor& out) {
  if (args.size() < 7 || !read_view(args, out) || !read_bool(args[4], out.requires_grad)) return false;
  if (!read_dtype(args[6], out.dtype)) return false;
  read_storage_argument(args[0], supply, out);
  return true;
}

bool read_rebuild_qtensor(Args args, const Supply& supply, Tensor& out) {
  out.kind = TensorKind::kQuantised;
  if (args.size() < 7 || !read_view(args, out) || !read_bool(args[5], out.requires_grad)) return false;
  read_storage_argument(args[0], supply, out);
  return true;
}

bool read_rebuild_meta(Args args, const Supply&, Tensor& out) {
  out.kind = TensorKind::kMeta;
  out.device = "meta";
  return args.size() >= 4 && read_dtype(args[0], out.dtype) && read_ints(args[1], out.size) &&
         read_ints(args[2], out.stride) && read_bool(args[3], out.requires_grad);
}

bool read_rebuild_wrapper(Args args, const Supply&, Tensor& out) {
  out.kind = TensorKind::kWrapper;
  if (args.size() < 8 || !args[4].is(Tag::kInt)) return false;
  out.storage_offset = args[4].as_int();
  return read_dtype(args[1], out.dtype) && read_ints(args[2], out.size) && read_ints(args[3], out.stride) &&
         read_device(args[6], out) && read_bool(args[7], out.requires_grad);
}

bool read_rebuild_from_numpy(Args args, const Supply&, Tensor& out) {
  out.kind = TensorKind::kFromNumpy;
  return args.size() >= 4 && read_dtype(args[1], out.dtype) && read_device(args[2], out) &&
         read_bool(args[3], out.requires_grad);
}

bool read_rebuild_sparse(Args args, const Supply&, Tensor& out) {
  out.kind = TensorKind::kSparse;
  if (args.size() != 2) return false;
  // (layout, (indices, values, size, …)) for COO; compressed layouts put the size behind three tensors.
  const auto parts = sequence_items(args[1]);
  if (!parts) return false;
  for (const Value& part : *parts) {
    if (read_ints(part, out.size)) return true;
  }
  return true;
}

struct Rebuild {
  std::string_view name;
  bool (*read)(Args, const Supply&, Tensor&);
};

// torch/_utils.py (2.6 to 2.14).
constexpr Rebuild kRebuilds[] = {
    {"_rebuild_tensor_v2", read_rebuild_tensor_v2},
    {"_rebuild_tensor_v3", read_rebuild_tensor_v3},
    {"_rebuild_tensor", read_rebuild_tensor},
    {"_rebuild_qtensor", read_rebuild_qtensor},
    {"_rebuild_sparse_tensor", read_rebuild_sparse},
    {"_rebuild_meta_tensor_no_storage", read_rebuild_meta},
    {"_rebuild_wrapper_subclass", read_rebuild_wrapper},
    {"_rebuild_device_tensor_from_numpy", read_rebuild_from_numpy},
};

bool is_parameter_call(std::string_view name) {
  return name == "_rebuild_parameter" || name == "_rebuild_parameter_with_state";
}

/// Name of the torch._utils function that makes `value`; empty when it is made otherwise.
std::string_view rebuild_name(const Value& value) {
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr || cls->module != "torch._utils" || !value.object().args.is(Tag::kTuple)) return {};
  return cls->name;
}

}  // namespace

std::string Tensor::device_text() const {
  if (device_index) return fmt::format("{}:{}", device, *device_index);
  return std::string(device);
}

bool is_tensor(const Value& value) {
  const std::string_view name = rebuild_name(value);
  if (name.empty()) return false;
  if (is_parameter_call(name) || name == "_rebuild_device_tensor_from_cpu_tensor") return true;
  for (const Rebuild& rebuild : kRebuilds) {
    if (rebuild.name == name) return true;
  }
  return false;
}

std::optional<Tensor> decode_tensor(const Value& value, Budget& budget, const StorageProvider* storages) {
  Tensor tensor;
  Value inner = value;
  std::optional<bool> parameter_requires_grad;
  std::optional<std::pair<Value, Value>> moved_to;  // dtype and device of a tensor that was moved to the CPU

  // A parameter wraps a tensor, a moved tensor wraps one: two layers at most.
  for (int layer = 0; layer < 3; ++layer) {
    const std::string_view name = rebuild_name(inner);
    if (name.empty()) return std::nullopt;
    const Args args = inner.object().args.tuple().items();
    if (is_parameter_call(name)) {
      bool requires_grad = false;
      if (tensor.is_parameter || args.size() < 3 || !read_bool(args[1], requires_grad)) return std::nullopt;
      tensor.is_parameter = true;
      parameter_requires_grad = requires_grad;
      inner = args[0];
      continue;
    }
    if (name == "_rebuild_device_tensor_from_cpu_tensor") {
      if (moved_to || args.size() < 4) return std::nullopt;
      moved_to.emplace(args[1], args[2]);
      inner = args[0];
      continue;
    }
    for (const Rebuild& rebuild : kRebuilds) {
      if (rebuild.name != name) continue;
      if (!rebuild.read(args, {budget, storages}, tensor)) return std::nullopt;
      if (moved_to) {
        tensor.kind = TensorKind::kFromCpu;
        if (!read_dtype(moved_to->first, tensor.dtype) || !read_device(moved_to->second, tensor))
          return std::nullopt;
      }
      if (parameter_requires_grad) tensor.requires_grad = *parameter_requires_grad;
      return tensor;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace cachetool::torch
