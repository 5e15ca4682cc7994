#include "container/expand.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace cachetool::container {
namespace {

constexpr std::size_t kBlock = std::size_t{128} << 10;

bool is_zstd(std::string_view bytes) {
  if (bytes.size() < 4) return false;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return true;
  return (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 && bytes.substr(1).starts_with("\x2a\x4d\x18");
}

bool is_zlib(std::string_view bytes) {
  if (bytes.size() < 6) return false;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto second = static_cast<unsigned char>(bytes[1]);
  return first == 0x78 && (second & 0x20) == 0 && (first * 256 + second) % 31 == 0;
}

/// Collects the result and keeps it under the limit.
class Output {
 public:
  explicit Output(const ExpandLimits& limits) : limits_(limits) {}

  char* block() { return block_.get(); }
  /// False when the limit is hit; what fits is kept.
  bool take(std::size_t count, Expanded& out) const {
    const std::uint64_t room = limits_.max_bytes - out.bytes.size();
    out.bytes.append(block_.get(), static_cast<std::size_t>(std::min<std::uint64_t>(room, count)));
    if (count <= room) return true;
    out.error = Error{ErrorCode::kLimitSize,
                      fmt::format("it unpacks to more than {} bytes", limits_.max_bytes),
                      {},
                      out.consumed,
                      {}};
    return false;
  }

 private:
  const ExpandLimits& limits_;
  std::unique_ptr<char[]> block_ = std::make_unique<char[]>(kBlock);
};

Error broken(ErrorCode code, std::string message, std::uint64_t offset) {
  return Error{code, std::move(message), {}, offset, {}};
}

struct Inflater {
  z_stream stream{};
  bool ready = false;
  explicit Inflater(int window_bits) { ready = ::inflateInit2(&stream, window_bits) == Z_OK; }
  ~Inflater() {
    if (ready) ::inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

int window_bits(Compression compression) {
  if (compression == Compression::kDeflate) return -MAX_WBITS;
  return compression == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
}

/// One member; true when another one may follow.
bool inflate_member(std::string_view bytes, Compression compression, const Output& output, char* block,
                    Expanded& out) {
  Inflater inflater(window_bits(compression));
  if (!inflater.ready) {
    out.error = broken(ErrorCode::kLimitMemory, "no memory for decompressing", out.consumed);
    return false;
  }
  z_stream& stream = inflater.stream;
  for (;;) {
    const std::string_view rest = bytes.substr(out.consumed);
    const auto chunk = static_cast<uInt>(std::min<std::size_t>(rest.size(), std::size_t{1} << 30));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = chunk;
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = kBlock;
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    out.consumed += chunk - stream.avail_in;
    const std::size_t made = kBlock - stream.avail_out;
    if (!output.take(made, out)) return false;
    if (result == Z_STREAM_END) return true;
    if (result == Z_OK && (made > 0 || stream.avail_in < chunk)) continue;
    if (result == Z_BUF_ERROR || result == Z_OK) {
      out.error = broken(ErrorCode::kTruncated, "the compressed data end too early", out.consumed);
    } else {
      out.error = broken(
          ErrorCode::kMalformed,
          fmt::format("the compressed data are damaged: {}", stream.msg ? stream.msg : "unknown reason"),
          out.consumed);
    }
    return false;
  }
}

Expanded inflate_all(std::string_view bytes, Compression compression, const ExpandLimits& limits) {
  Expanded out;
  Output output(limits);
  while (inflate_member(bytes, compression, output, output.block(), out)) {
    const bool more = compression == Compression::kGzip && bytes.substr(out.consumed).starts_with("\x1f\x8b");
    if (!more) break;
  }
  return out;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Expanded expand_zstd(std::string_view bytes, const ExpandLimits& limits) {
  Expanded out;
  Output output(limits);
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) {
    out.error = broken(ErrorCode::kLimitMemory, "no memory for decompressing", 0);
    return out;
  }
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, static_cast<int>(limits.max_window_log));
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 1;
  for (;;) {
    const std::size_t before = in.pos;
    ZSTD_outBuffer block{output.block(), kBlock, 0};
    left = ZSTD_decompressStream(context.get(), &block, &in);
    out.consumed = in.pos;
    if (ZSTD_isError(left) != 0U) {
      const bool window = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
      out.error =
          broken(window ? ErrorCode::kLimitMemory : ErrorCode::kMalformed,
                 fmt::format("the compressed data can't be read: {}", ZSTD_getErrorName(left)), in.pos);
      return out;
    }
    if (!output.take(block.pos, out)) return out;
    if (left == 0 && !is_zstd(bytes.substr(in.pos))) return out;
    if (block.pos == 0 && in.pos == before) break;
  }
  out.error = broken(ErrorCode::kTruncated, "the compressed data end too early", out.consumed);
  return out;
}

}  // namespace

std::string_view compression_name(Compression compression) {
  constexpr std::array<std::string_view, 4> kNames = {"deflate", "zlib", "gzip", "zstd"};
  return kNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> starts_compressed(std::string_view bytes) {
  if (bytes.size() > 3 && bytes.starts_with("\x1f\x8b\x08")) return Compression::kGzip;
  if (is_zstd(bytes)) return Compression::kZstd;
  if (is_zlib(bytes)) return Compression::kZlib;
  return std::nullopt;
}

Expanded expand(std::string_view bytes, Compression compression, const ExpandLimits& limits) {
  return compression == Compression::kZstd ? expand_zstd(bytes, limits)
                                           : inflate_all(bytes, compression, limits);
}

}  // namespace cachetool::container
