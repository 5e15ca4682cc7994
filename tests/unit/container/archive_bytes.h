#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>
#include <zstd.h>

namespace cachetool::test {

inline std::string little_bytes(std::uint64_t value, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

/// zlib's output for a window: -15 bare, 15 zlib, 31 gzip.
inline std::string deflated(std::string_view bytes, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
inline std::string gzipped(std::string_view bytes) {
  return deflated(bytes, 31);
}
inline std::string zstd_packed(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

/// A member of an archive to be made. What differs from what a correct archive holds is given by name.
struct ZipPart {
  std::string name;
  std::string content;
  bool packed = false;
  std::string local_name = {};  ///< in the member's own header; empty: the same
  std::uint16_t flags = 0;
  bool listed = true;
};

/// A zip archive as other programs write it.
inline std::string make_zip(const std::vector<ZipPart>& parts) {
  std::string out;
  std::string directory;
  std::size_t count = 0;
  for (const ZipPart& part : parts) {
    const std::string data = part.packed ? deflated(part.content, -15) : part.content;
    const std::string method = little_bytes(part.packed ? 8 : 0, 2);
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(part.content.data()),
                             static_cast<uInt>(part.content.size()));
    const std::string sizes =
        little_bytes(crc, 4) + little_bytes(data.size(), 4) + little_bytes(part.content.size(), 4);
    const std::string& local_name = part.local_name.empty() ? part.name : part.local_name;
    const std::size_t offset = out.size();
    out += std::string("PK\x03\x04", 4) + little_bytes(20, 2) + little_bytes(part.flags, 2) + method +
           little_bytes(0, 4) + sizes + little_bytes(local_name.size(), 2) + little_bytes(0, 2) + local_name +
           data;
    if (!part.listed) continue;
    ++count;
    directory += std::string("PK\x01\x02", 4) + little_bytes(20, 2) + little_bytes(20, 2) +
                 little_bytes(part.flags, 2) + method + little_bytes(0, 4) + sizes +
                 little_bytes(part.name.size(), 2) + little_bytes(0, 12) + little_bytes(offset, 4) +
                 part.name;
  }
  const std::size_t begin = out.size();
  return out + directory + std::string("PK\x05\x06", 4) + little_bytes(0, 4) + little_bytes(count, 2) +
         little_bytes(count, 2) + little_bytes(directory.size(), 4) + little_bytes(begin, 4) +
         little_bytes(0, 2);
}

/// A tar archive with one header block for each file.
inline std::string make_tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out;
  for (const auto& [name, content] : files) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(100, 8, std::string("0000644\0", 8));
    header.replace(108, 8, std::string("0000000\0", 8));
    header.replace(116, 8, std::string("0000000\0", 8));
    std::array<char, 13> size{};
    std::snprintf(size.data(), size.size(), "%011llo", static_cast<unsigned long long>(content.size()));
    header.replace(124, 12, std::string(size.data(), 12));
    header.replace(136, 12, std::string("00000000000\0", 12));
    header.replace(148, 8, "        ");
    header[156] = '0';
    header.replace(257, 8, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::array<char, 8> checksum{};
    std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
    header.replace(148, 8, std::string(checksum.data(), 7) + " ");
    out += header + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return out + std::string(1024, '\0');
}

}  // namespace cachetool::test
