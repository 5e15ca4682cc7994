#include "container/frame.h"

#include <fmt/format.h>
#include <zlib.h>

namespace cachetool::container {
namespace {

constexpr std::size_t kCrcSize = 4;
constexpr std::size_t kNumberSize = 8;
constexpr std::size_t kTorchKeySize = 32;
constexpr std::string_view kCacheForm = "CacheCompiledArtifact";
constexpr std::string_view kAotForm = "AOTCompiledArtifact";

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = (value << 8) | static_cast<unsigned char>(c);
  return value;
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

Expected<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return fail(ErrorCode::kMalformed, "base64 of an odd length", {}, text.size());
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < text.size() - padding; ++i) {
    const int value = sextet(text[i]);
    if (value < 0) return fail(ErrorCode::kMalformed, "a character that base64 doesn't have", {}, i);
    bits = ((bits << 6) | static_cast<std::uint32_t>(value)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>((bits >> count) & 0xff));
  }
  return bytes;
}

Expected<FrameReader> FrameReader::open(std::string_view frame) {
  if (frame.size() < kCrcSize)
    return fail(ErrorCode::kTruncated, "the frame ends inside its CRC", {}, frame.size());
  if (big_endian(frame.substr(0, kCrcSize)) != crc32(frame.substr(kCrcSize))) {
    return fail(ErrorCode::kMalformed, "the CRC-32 doesn't fit: cut short or altered", {}, 0);
  }
  return FrameReader(frame);
}

Expected<std::uint64_t> FrameReader::number() {
  if (left() < kNumberSize)
    return fail(ErrorCode::kTruncated, "the frame ends inside a number", {}, position_);
  const std::uint64_t value = big_endian(frame_.substr(position_, kNumberSize));
  position_ += kNumberSize;
  return value;
}

Expected<std::string_view> FrameReader::bytes() {
  const std::uint64_t start = position_;
  const auto length = number();
  if (!length) return tl::unexpected<Error>(length.error());
  if (*length > left()) {
    position_ = start;
    return fail(ErrorCode::kTruncated, fmt::format("a part of {} bytes runs past the frame's end", *length),
                {}, start);
  }
  const std::string_view part = frame_.substr(position_, *length);
  position_ += *length;
  return part;
}

Expected<std::string> FrameReader::text() {
  const std::uint64_t start = position_;
  const auto part = bytes();
  if (!part) return tl::unexpected<Error>(part.error());
  auto decoded = from_base64(*part);
  if (!decoded) {
    return fail(ErrorCode::kMalformed, "a text part isn't base64", {},
                start + kNumberSize + decoded.error().offset.value_or(0));
  }
  return decoded;
}

Expected<MegaCache> read_mega_cache(std::string_view blob) {
  auto reader = FrameReader::open(blob);
  if (!reader) return tl::unexpected<Error>(reader.error());
  const auto version = reader->number();
  if (!version) return tl::unexpected<Error>(version.error());
  if (*version != 1) {
    return fail(ErrorCode::kUnsupported, fmt::format("mega-cache version {}", *version), {}, kCrcSize);
  }
  MegaCache cache;
  cache.version = *version;
  while (!reader->at_end()) {
    MegaCacheGroup group;
    auto type = reader->text();
    if (!type) return tl::unexpected<Error>(type.error());
    group.type = std::move(*type);
    const std::uint64_t count_offset = reader->offset();
    const auto count = reader->number();
    if (!count) return tl::unexpected<Error>(count.error());
    if (*count > reader->left() / (2 * kNumberSize)) {
      return fail(ErrorCode::kTruncated, fmt::format("{} items can't fit into the frame", *count), {},
                  count_offset);
    }
    for (std::uint64_t i = 0; i < *count; ++i) {
      MegaCacheItem item;
      auto key = reader->text();
      if (!key) return tl::unexpected<Error>(key.error());
      item.key = std::move(*key);
      const auto content = reader->bytes();
      if (!content) return tl::unexpected<Error>(content.error());
      item.content = *content;
      item.offset = reader->offset() - content->size();
      group.items.push_back(std::move(item));
    }
    cache.groups.push_back(std::move(group));
  }
  return cache;
}

bool looks_like_standalone(std::string_view bytes) {
  if (bytes.size() < kCrcSize + kNumberSize + kTorchKeySize) return false;
  const std::uint64_t length = big_endian(bytes.substr(kCrcSize, kNumberSize));
  const std::string_view part = bytes.substr(kCrcSize + kNumberSize);
  if (length == kCacheForm.size()) return part.starts_with(kCacheForm);
  if (length == kAotForm.size()) return part.starts_with(kAotForm);
  return length == kTorchKeySize;
}

bool looks_like_mega_cache(std::string_view bytes) {
  if (bytes.size() < kCrcSize + 2 * kNumberSize) return false;
  if (big_endian(bytes.substr(kCrcSize, kNumberSize)) != 1) return false;
  // The first group's type is a short text: at most 64 bytes of base64.
  const std::uint64_t length = big_endian(bytes.substr(kCrcSize + kNumberSize, kNumberSize));
  return length > 0 && length <= 64 && length % 4 == 0;
}

Expected<StandaloneArtifact> read_standalone(std::string_view bytes) {
  auto reader = FrameReader::open(bytes);
  if (!reader) return tl::unexpected<Error>(reader.error());
  StandaloneArtifact artifact;
  auto part = reader->bytes();
  if (part && (*part == kCacheForm || *part == kAotForm)) {
    artifact.form = *part == kCacheForm ? StandaloneArtifact::Form::kCache : StandaloneArtifact::Form::kAot;
    part = reader->bytes();
  }
  if (!part) return tl::unexpected<Error>(part.error());
  if (part->size() != kTorchKeySize) {
    return fail(ErrorCode::kMalformed, "neither a known artifact form nor a torch key", {},
                reader->offset() - part->size());
  }
  artifact.torch_key = *part;
  if (artifact.form != StandaloneArtifact::Form::kAot) {
    auto key = reader->text();
    if (!key) return tl::unexpected<Error>(key.error());
    artifact.aot_key = std::move(*key);
  }
  part = reader->bytes();
  if (!part) return tl::unexpected<Error>(part.error());
  (artifact.form == StandaloneArtifact::Form::kAot ? artifact.bundle : artifact.mega_cache) = *part;
  if (!reader->at_end()) {
    return fail(ErrorCode::kMalformed, "parts behind the last one of this form", {}, reader->offset());
  }
  return artifact;
}

}  // namespace cachetool::container
