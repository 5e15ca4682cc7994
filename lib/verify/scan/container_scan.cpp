#include "verify/scan/container_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "container/frame.h"
#include "container/tar.h"
#include "container/zip_directory.h"

namespace cachetool::verify {
namespace {

using container::Compression;

void malformed(ScanState& state, const Piece& piece, std::string_view format, const Error& error) {
  if (error.code == ErrorCode::kLimitSize || error.code == ErrorCode::kLimitMemory)
    return state.unscanned(piece, error.message, piece.bytes.size());
  state.find(piece, ScanVerdict::kMalformed, ScanSubject::kContainer, std::string(format), error.message,
             error.offset.value_or(0));
}

std::optional<Compression> compression_of(std::uint16_t method) {
  if (method == container::kZipDeflated) return Compression::kDeflate;
  if (method == container::kZipZstd) return Compression::kZstd;
  return std::nullopt;
}

/// torch.save's form since 1.6 (torch/serialization.py: _save): the object's pickle, and its storages as
/// members.
bool is_torch_archive(const container::ZipDirectory& directory) {
  return std::any_of(directory.records.begin(), directory.records.end(),
                     [](const container::ZipRecord& record) {
                       return record.name.ends_with("/data.pkl") || record.name == "data.pkl";
                     });
}

void add_record(ScanState& state, const Piece& piece, const container::ZipRecord& record,
                pickle::PickleSource source) {
  Piece member = ScanState::within(piece, record.data);
  member.source = source;
  member.place = deeper(piece.place, escape_for_terminal(record.name));
  member.packed = compression_of(record.method);
  member.crc = record.crc;
  if (record.is_encrypted()) return state.unscanned(member, "is encrypted", record.data.size());
  if (record.method != container::kZipStored && !member.packed)
    return state.unscanned(member, fmt::format("is packed by method {}", record.method), record.data.size());
  // Offsets in a member count from its own start.
  member.base = 0;
  member.origin = Origin::kMember;
  state.add(std::move(member));
}

void add_items(ScanState& state, const Piece& piece, std::string_view blob, std::uint64_t base) {
  const auto mega = container::read_mega_cache(blob);
  if (!mega) {
    Error error = mega.error();
    error.offset = error.offset.value_or(0) + base;
    return malformed(state, piece, "mega-cache", error);
  }
  for (const container::MegaCacheGroup& group : mega->groups) {
    for (const container::MegaCacheItem& item : group.items) {
      Piece inner = ScanState::within(piece, item.content);
      inner.place = deeper(piece.place, escape_for_terminal(group.type + "/" + item.key));
      const bool json = group.type == "autotune";
      if (!json) inner.expect = Expect::kPickle;
      state.add(std::move(inner));
    }
  }
}

bool is_too_large(const container::Expanded& expanded) {
  return expanded.error && expanded.error->code == ErrorCode::kLimitSize;
}

std::uint64_t little_endian(std::string_view bytes, std::size_t at, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

void scan_zip(ScanState& state, const Piece& piece) {
  const auto directory = container::read_zip_directory(piece.bytes, state.limits().max_pieces);
  if (!directory) return malformed(state, piece, "zip", directory.error());
  for (const container::ZipProblem& problem : directory->problems)
    state.find(piece, ScanVerdict::kMalformed, ScanSubject::kContainer, "zip", problem.text, problem.offset);
  const auto source = is_torch_archive(*directory) ? pickle::PickleSource::kTorchStream : piece.source;
  for (const container::ZipRecord& record : directory->records) {
    if (!record.is_directory() || !record.data.empty()) add_record(state, piece, record, source);
  }
}

void scan_tar(ScanState& state, const Piece& piece) {
  const container::TarListing listing = container::list_tar(piece.bytes, state.limits().max_pieces);
  for (const container::TarMember& member : listing.members) {
    Piece inner = ScanState::within(piece, piece.bytes.substr(member.offset, member.bytes.size()));
    inner.place = deeper(piece.place, escape_for_terminal(member.name));
    inner.base = 0;
    inner.origin = Origin::kMember;
    if (!member.in_one_piece) {
      state.unscanned(inner, "is stored in pieces", member.bytes.size());
    } else {
      state.add(std::move(inner));
    }
  }
  if (listing.error) malformed(state, piece, "tar", *listing.error);
}

void scan_packed(ScanState& state, const Piece& piece, Compression compression) {
  const auto too_much = [&] {
    state.unscanned(piece,
                    fmt::format("the file unpacks to more than {} bytes", state.limits().max_expanded_bytes),
                    piece.bytes.size());
  };
  const std::uint64_t left = state.expansion_left();
  if (left == 0) return too_much();
  container::ExpandLimits limits;
  limits.max_bytes = std::min(left, LargeGate::kBytes);
  container::Expanded expanded = container::expand(piece.bytes, compression, limits);
  if (is_too_large(expanded) && left > limits.max_bytes) {
    // Again from the start: what was unpacked so far is small.
    expanded = {};
    state.take_large_pass();
    limits.max_bytes = left;
    expanded = container::expand(piece.bytes, compression, limits);
  }
  const std::string_view name = container::compression_name(compression);
  state.expanded(expanded.bytes.size());
  if (is_too_large(expanded)) {
    too_much();
  } else if (expanded.error) {
    malformed(state, piece, name, *expanded.error);
  } else {
    check_crc(state, piece, expanded.bytes);
  }
  const std::string_view rest =
      piece.bytes.substr(std::min<std::size_t>(expanded.consumed, piece.bytes.size()));
  if (!expanded.error && !rest.empty()) {
    state.find(piece, ScanVerdict::kMalformed, ScanSubject::kContainer, std::string(name),
               fmt::format("{} bytes behind the compressed data", rest.size()), expanded.consumed);
    state.add(ScanState::within(piece, rest));
  }
  if (expanded.bytes.empty()) return;
  // A member of an archive keeps its name; a file by itself gets one.
  Piece inner = state.unpacked(piece, std::move(expanded.bytes), piece.packed ? std::string_view() : name);
  if (piece.packed) inner.place = piece.place;
  inner.expect = piece.expect;
  state.add(std::move(inner));
}

void check_crc(ScanState& state, const Piece& piece, std::string_view bytes) {
  if (!piece.crc || *piece.crc == container::crc32(bytes)) return;
  state.find(piece, ScanVerdict::kMalformed, ScanSubject::kContainer, "zip",
             "a member has another checksum than its archive says", 0);
}

void scan_mega_cache(ScanState& state, const Piece& piece) {
  add_items(state, piece, piece.bytes, 0);
}

void scan_standalone(ScanState& state, const Piece& piece) {
  const auto artifact = container::read_standalone(piece.bytes);
  if (!artifact) return malformed(state, piece, "standalone", artifact.error());
  if (artifact->form == container::StandaloneArtifact::Form::kAot) {
    Piece bundle = ScanState::within(piece, artifact->bundle);
    bundle.expect = Expect::kPickle;
    return state.add(std::move(bundle));
  }
  const auto base = static_cast<std::uint64_t>(artifact->mega_cache.data() - piece.bytes.data());
  add_items(state, piece, artifact->mega_cache, base);
}

void scan_npy(ScanState& state, const Piece& piece) {
  constexpr std::size_t kMagic = 6;
  const auto truncated = [&] {
    malformed(state, piece, "npy",
              {ErrorCode::kTruncated, "the array's header is cut short", {}, piece.bytes.size(), {}});
  };
  if (piece.bytes.size() < kMagic + 6) return truncated();
  const unsigned length_bytes = piece.bytes[kMagic] == '\x01' ? 2 : 4;
  const std::size_t begin = kMagic + 2 + length_bytes;
  const std::uint64_t length = little_endian(piece.bytes, kMagic + 2, length_bytes);
  if (length > piece.bytes.size() - begin) return truncated();
  const std::string_view header = piece.bytes.substr(begin, length);
  const std::string_view data = piece.bytes.substr(begin + length);
  if (data.empty()) return;
  // numpy unpickles the data when any of the dtype's fields holds objects: '|O', 'O', or inside a list.
  const std::size_t descr = header.find("descr");
  const bool objects = descr != std::string_view::npos && header.find('O', descr) != std::string_view::npos;
  Piece inner = ScanState::within(piece, data);
  inner.origin = Origin::kValue;
  if (objects) inner.expect = Expect::kPickle;
  state.add(std::move(inner));
}

void scan_json(ScanState& state, const Piece& piece) {
  // torch.export's graphs (torch/_export/serde/schema.py, 2.9).
  if (piece.bytes.substr(0, 64).find("\"graph_module\"") != std::string_view::npos)
    state.code("stored-graph", piece.bytes.size());
  constexpr std::size_t kShortest = 16;
  std::string_view text = piece.bytes;
  while (!text.empty()) {
    const void* quote = std::memchr(text.data(), '"', text.size());
    if (quote == nullptr) return;
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(quote) - text.data()) + 1);
    const bool magic = text.starts_with("gA") || text.starts_with("UEsDB") || text.starts_with("H4sI") ||
                       text.starts_with("KLUv/") || text.starts_with("f0VMR") || text.starts_with("eyJ");
    if (!magic) continue;
    const std::size_t end = text.find('"');
    if (end == std::string_view::npos || end < kShortest) continue;
    auto decoded = container::from_base64(text.substr(0, end));
    if (!decoded) continue;
    if (decoded->size() > state.expansion_left())
      return state.unscanned(piece, "its texts unpack to more than the limit", text.size());
    state.expanded(decoded->size());
    const auto at = static_cast<std::uint64_t>(text.data() - piece.bytes.data());
    Piece inner = state.unpacked(piece, std::move(*decoded), fmt::format("text@{}", piece.base + at));
    inner.origin = Origin::kValue;
    state.add(std::move(inner));
    text.remove_prefix(end);
  }
}

}  // namespace cachetool::verify
