// The reader of journals: the bytes as they are, and as the payload of a journal whose checksum is right.
// Whatever is accepted names only paths that may be changed, and is written again as the same bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "change/journal.h"
#include "change/parents.h"

namespace {

using namespace cachetool;

std::string with_header(std::string_view payload) {
  std::string bytes("CTjrnl\0\0\1\0\0\0", 12);
  const std::uint64_t length = payload.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  Sha256Stream stream;
  stream.update(bytes);
  stream.update(payload);
  const Sha256Digest digest = stream.finish();
  bytes.append(digest.begin(), digest.end());
  bytes += payload;
  return bytes;
}

void check(std::string_view bytes) {
  const auto journal = change::decode_journal(bytes);
  if (!journal) return;
  if (!change::is_run_name(journal->run)) std::abort();
  for (const auto& unit : journal->units) {
    for (const std::string& path : unit.paths) {
      if (!change::parse_path(path)) std::abort();
    }
  }
  if (change::encode_journal(*journal) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(with_header(bytes));
  return 0;
}
