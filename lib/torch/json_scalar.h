#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "pickle/value.h"
#include "torch/json_value.h"

namespace cachetool::torch {

/// Writes a value that holds no other values: numbers, text, bytes, globals, torch.device, and calls that
/// make an int or a bytearray. False, and nothing written, for any other value.
bool write_scalar(JsonWriter& json, const pickle::Value& value, const JsonValueOptions& options);

/// {"$tensor": {…}} for a strided tensor whose storage could be read; nothing, and nothing written, for any
/// other value. The number of bytes that were hashed.
std::optional<std::uint64_t> write_tensor(JsonWriter& json, const pickle::Value& value);

/// Decimal text of a little-endian two's complement number; hexadecimal ("0x…", "-0x…") beyond 1 KiB, where
/// decimal would take quadratic time.
std::string big_int_text(std::string_view bytes);

}  // namespace cachetool::torch
