#include "verify/source_text.h"

#include <cstring>

namespace cachetool::verify {
namespace {

// Keeps the two ends apart.
constexpr std::string_view kBetween("\0", 1);

}  // namespace

SourceText source_text(std::string_view text) {
  const std::string_view core = torch::python_strip(text);
  const auto leading = static_cast<std::size_t>(core.data() - text.data());
  Sha256Stream stream;
  stream.update(text.substr(0, leading));
  stream.update(kBetween);
  stream.update(text.substr(leading + core.size()));
  const Sha256Digest digest = stream.finish();
  SourceText result;
  result.name = torch::code_hash(core);
  std::memcpy(&result.ends, digest.data(), sizeof(result.ends));
  return result;
}

}  // namespace cachetool::verify
