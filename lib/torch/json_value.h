#pragma once

#include <cstdint>

#include "base/json_writer.h"
#include "pickle/value.h"

namespace cachetool::torch {

struct JsonValueOptions {
  bool full_strings = false;  ///< else strings over 4 KiB become {"$string": bytes, "sha256", "head"}
  /// Values, and pages of 4 KiB of text and bytes, that are written before {"$limit": …} stands for the rest:
  /// shared nodes unfold.
  std::uint64_t max_nodes = 1'000'000;
  std::uint32_t max_depth = 250;  ///< what common JSON readers still take
};

/// Writes a decoded value the one way that cachetool writes values (docs/formats.md, "JSON values"):
/// containers in order, instances as {"$class": …}, tensors as {"$tensor": …}, bytes as {"$bytes": …}. Never
/// recurses on input depth.
void write_value(JsonWriter& json, const pickle::Value& value, const JsonValueOptions& options);

/// Writes the members of an instance's merged state as an object without "$class": the `fields` of an entry.
void write_fields(JsonWriter& json, const pickle::Value& instance, const JsonValueOptions& options);

}  // namespace cachetool::torch
