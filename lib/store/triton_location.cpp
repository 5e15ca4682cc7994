#include "store/triton_location.h"

namespace cachetool::store {

std::optional<torch::HashName> located_module(std::string_view text) {
  constexpr std::size_t kMaxLocationBytes = 64 * 1024;
  constexpr std::size_t kStemLength = 52;
  constexpr std::string_view kEnding = ".py\"";
  text = text.substr(0, kMaxLocationBytes);
  for (std::size_t at = text.find(kEnding); at != std::string_view::npos; at = text.find(kEnding, at + 1)) {
    if (at < kStemLength + 1 || text[at - kStemLength - 1] != '/') continue;
    const auto hash = torch::HashName::parse(text.substr(at - kStemLength, kStemLength));
    if (hash && hash->prefix == 'c') return hash;
  }
  return std::nullopt;
}

}  // namespace cachetool::store
