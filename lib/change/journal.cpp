#include "change/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "change/byte_archive.h"
#include "change/parents.h"

namespace cachetool::change {

// Found by cereal through their arguments.
template <class Archive>
void serialize(Archive& archive, JournalUnit& unit) {
  auto action = static_cast<std::uint8_t>(unit.action);
  archive(unit.label, unit.reason, action, unit.paths);
  unit.action = static_cast<Action>(action);
}
template <class Archive>
void serialize(Archive& archive, Journal& journal) {
  archive(journal.run, journal.created_ns, journal.units);
}

namespace {

constexpr std::string_view kMagic("CTjrnl\0\0", 8);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 8 + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kDigestBytes = std::tuple_size_v<Sha256Digest>;

std::string digest_of(std::string_view header, std::string_view payload) {
  Sha256Stream stream;
  stream.update(header);
  stream.update(payload);
  const Sha256Digest digest = stream.finish();
  return {digest.begin(), digest.end()};
}

/// A journal is small beside the cache, but its bytes may claim anything.
Expected<Journal> parse_payload(std::string_view payload) {
  Journal journal;
  try {
    ByteInput input(payload);
    input(journal);
    if (!input.ok()) return fail(ErrorCode::kMalformed, "a length in the journal goes past its end");
    if (input.left() != 0) return fail(ErrorCode::kMalformed, "bytes follow the last unit of the journal");
  } catch (const std::exception&) {  // no memory, or cereal's own
    return fail(ErrorCode::kLimitMemory, "no memory for the journal");
  }
  return journal;
}

Status check(const Journal& journal) {
  if (!is_run_name(journal.run)) return fail(ErrorCode::kMalformed, "the journal names no run");
  for (const JournalUnit& unit : journal.units) {
    if (unit.action != Action::kQuarantine && unit.action != Action::kRemove) {
      return fail(ErrorCode::kMalformed, "a unit of the journal has an action that doesn't exist");
    }
    for (const std::string& path : unit.paths) {
      if (auto parsed = parse_path(path); !parsed) {
        return fail(ErrorCode::kMalformed,
                    "the journal names " + escape_for_terminal(path) + ": " + parsed.error().message);
      }
    }
  }
  return {};
}

}  // namespace

std::string encode_journal(const Journal& journal) {
  std::string payload;
  ByteOutput payload_output(payload);
  payload_output(journal);
  std::string bytes(kMagic);
  ByteOutput header_output(bytes);
  header_output(kVersion, static_cast<std::uint64_t>(payload.size()));
  return bytes + digest_of(bytes, payload) + payload;
}

Expected<Journal> decode_journal(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes + kDigestBytes)
    return fail(ErrorCode::kTruncated, "the journal is cut off");
  if (!bytes.starts_with(kMagic)) return fail(ErrorCode::kMalformed, "is no journal of cachetool");
  std::uint32_t version = 0;
  std::uint64_t length = 0;
  ByteInput header(bytes.substr(kMagic.size(), kHeaderBytes - kMagic.size()));
  header(version, length);
  const std::string_view payload = bytes.substr(kHeaderBytes + kDigestBytes);
  if (version != kVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the journal has version {}, known is {}", version, kVersion));
  }
  if (length > payload.size()) return fail(ErrorCode::kTruncated, "the journal is cut off");
  if (length < payload.size()) return fail(ErrorCode::kMalformed, "bytes follow the journal");
  if (digest_of(bytes.substr(0, kHeaderBytes), payload) != bytes.substr(kHeaderBytes, kDigestBytes)) {
    return fail(ErrorCode::kMalformed, "the journal's checksum is wrong");
  }
  auto journal = parse_payload(payload);
  if (!journal) return journal;
  if (auto checked = check(*journal); !checked) return tl::unexpected(std::move(checked.error()));
  return journal;
}

bool is_run_name(std::string_view text) {
  constexpr std::string_view kShape = "00000000T000000Z";
  if (text.size() < kShape.size() || text.size() > kShape.size() + 8) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !is_digit(text[i]) : text[i] != kShape[i]) return false;
  }
  const std::string_view rest = text.substr(kShape.size());
  if (rest.empty()) return true;
  return rest.size() >= 2 && rest[0] == '-' && std::all_of(rest.begin() + 1, rest.end(), is_digit);
}

Expected<Journal> read_journal(FileSystem& fs, const Directory& dir, const Name& name) {
  std::string bytes;
  auto read = read_file(fs, dir, name, kLongestJournal, bytes);
  if (!read) return tl::unexpected(std::move(read.error()));
  return decode_journal(bytes);
}

}  // namespace cachetool::change
