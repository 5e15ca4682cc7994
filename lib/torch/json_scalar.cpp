#include "torch/json_scalar.h"

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "torch/plain.h"
#include "torch/tensor.h"

namespace cachetool::torch {

using pickle::Tag;
using pickle::Value;

namespace {

constexpr std::size_t kLongString = 4096;
constexpr std::size_t kHeadBytes = 256;
constexpr std::size_t kDecimalLimit = 1024;

void write_sha256(JsonWriter& json, std::string_view name, std::string_view bytes) {
  json.member(name, std::string_view(to_hex(sha256(bytes))));
}

/// The first bytes of a text, not cut inside a character.
std::string_view head_of(std::string_view text) {
  std::size_t length = std::min(kHeadBytes, text.size());
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
    --length;
  return text.substr(0, length);
}

void write_string(JsonWriter& json, std::string_view text, const JsonValueOptions& options) {
  if (options.full_strings || text.size() <= kLongString) return json.string(text);
  json.begin_object();
  json.member("$string", static_cast<std::uint64_t>(text.size()));
  write_sha256(json, "sha256", text);
  json.member("head", head_of(text));
  json.end_object();
}

void write_bytes(JsonWriter& json, std::string_view bytes) {
  json.begin_object();
  json.member("$bytes", static_cast<std::uint64_t>(bytes.size()));
  write_sha256(json, "sha256", bytes);
  json.end_object();
}

void write_int_text(JsonWriter& json, const std::string& text) {
  json.begin_object();
  json.member("$int", std::string_view(text));
  json.end_object();
}

void write_int(JsonWriter& json, std::int64_t value) {
  // -2^63 is outside of what the format writes as a number: the limits are symmetric.
  if (value == std::numeric_limits<std::int64_t>::min())
    return write_int_text(json, fmt::format("{}", value));
  json.integer(value);
}

/// torch.device("cuda", 0), torch.device("cpu"): the arguments, or nothing.
std::optional<std::string> device_text(const Value& value) {
  if (!is_instance(value, "torch", "device")) return std::nullopt;
  const pickle::ObjectNode& object = value.object();
  if (!object.args.is(Tag::kTuple) || object.states.size != 0 || object.appended.size != 0 ||
      object.items.size != 0) {
    return std::nullopt;
  }
  const auto args = object.args.tuple().items();
  if (args.empty() || args.size() > 2 || !args[0].is(Tag::kString)) return std::nullopt;
  if (args.size() == 1 || args[1].is_none()) return std::string(args[0].bytes());
  if (!args[1].is(Tag::kInt)) return std::nullopt;
  return fmt::format("{}:{}", args[0].bytes(), args[1].as_int());
}

/// The argument of builtins.int(…) or builtins.bytearray(…), or null.
const Value* builtin_scalar(const Value& value) {
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr || (cls->module != "builtins" && cls->module != "__builtin__")) return nullptr;
  const pickle::ObjectNode& object = value.object();
  if (!object.args.is(Tag::kTuple) || object.args.tuple().size != 1 || object.states.size != 0 ||
      object.appended.size != 0 || object.items.size != 0) {
    return nullptr;
  }
  const Value& argument = object.args.tuple().data[0];
  if (cls->name == "int" && (argument.is(Tag::kInt) || argument.is(Tag::kBigInt))) return &argument;
  if (cls->name == "bytearray" && (argument.is(Tag::kBytes) || argument.is(Tag::kByteArray)))
    return &argument;
  return nullptr;
}

}  // namespace

std::string big_int_text(std::string_view bytes) {
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  std::vector<std::uint8_t> magnitude(bytes.begin(), bytes.end());
  if (negative) {
    unsigned carry = 1;
    for (std::uint8_t& byte : magnitude) {
      carry += static_cast<std::uint8_t>(~byte);
      byte = static_cast<std::uint8_t>(carry & 0xff);
      carry >>= 8;
    }
    // -2^(8n-1) has itself as its complement, which is right when read without a sign.
  }
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  if (magnitude.empty()) return "0";
  std::string text;
  if (bytes.size() > kDecimalLimit) {
    const std::vector<std::uint8_t> big_endian(magnitude.rbegin(), magnitude.rend());
    return (negative ? "-0x" : "0x") + to_hex(big_endian);
  }
  while (!magnitude.empty()) {
    // Division by 10^4 keeps every step inside 32 bits.
    std::uint32_t remainder = 0;
    for (std::size_t i = magnitude.size(); i-- > 0;) {
      remainder = (remainder << 8) | magnitude[i];
      magnitude[i] = static_cast<std::uint8_t>(remainder / 10000);
      remainder %= 10000;
    }
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
    for (int digit = 0; digit < 4 && (remainder != 0 || !magnitude.empty()); ++digit) {
      text += static_cast<char>('0' + remainder % 10);
      remainder /= 10;
    }
  }
  if (negative) text += '-';
  return {text.rbegin(), text.rend()};
}

bool write_scalar(JsonWriter& json, const Value& value, const JsonValueOptions& options) {
  switch (value.tag()) {
    case Tag::kNone:
      return json.null(), true;
    case Tag::kBool:
      return json.boolean(value.as_bool()), true;
    case Tag::kInt:
      return write_int(json, value.as_int()), true;
    case Tag::kBigInt:
      return write_int_text(json, big_int_text(value.bytes())), true;
    case Tag::kFloat:
      return json.number(value.as_float()), true;
    case Tag::kString:
      return write_string(json, value.bytes(), options), true;
    case Tag::kBytes:
    case Tag::kByteArray:
      return write_bytes(json, value.bytes()), true;
    case Tag::kGlobal:
      json.begin_object();
      json.member("$global",
                  std::string_view(fmt::format("{}.{}", value.global().module, value.global().name)));
      json.end_object();
      return true;
    case Tag::kBuffer:
      json.begin_object();
      json.member("$buffer", true);
      json.end_object();
      return true;
    case Tag::kObject:
      break;
    default:
      return false;
  }
  if (const auto device = device_text(value)) return json.string(*device), true;
  if (const Value* scalar = builtin_scalar(value)) return write_scalar(json, *scalar, options);
  return false;
}

std::optional<std::uint64_t> write_tensor(JsonWriter& json, const Value& value) {
  // The nested pickles of a storage are a few hundred bytes, whatever its size.
  Budget budget(std::uint64_t{1} << 20);
  const auto tensor = decode_tensor(value, budget);
  if (!tensor || tensor->kind != TensorKind::kStrided || !tensor->storage || tensor->storage->zip)
    return std::nullopt;
  const auto write_ints = [&](std::string_view name, const Ints& values) {
    json.key(name);
    json.begin_array();
    for (const std::int64_t item : values) write_int(json, item);
    json.end_array();
  };
  json.begin_object();
  json.key("$tensor");
  json.begin_object();
  json.member("dtype", tensor->dtype);
  json.member("device", std::string_view(tensor->device_text()));
  write_ints("size", tensor->size);
  write_ints("stride", tensor->stride);
  json.member("storage_offset", tensor->storage_offset);
  json.member("requires_grad", tensor->requires_grad);
  json.member("storage_bytes", static_cast<std::uint64_t>(tensor->storage->bytes.size()));
  write_sha256(json, "storage_sha256", tensor->storage->bytes);
  if (tensor->is_parameter) json.member("parameter", true);
  json.end_object();
  json.end_object();
  return tensor->storage->bytes.size();
}

}  // namespace cachetool::torch
