#include "replay/reason_group.h"

#include <algorithm>
#include <array>

namespace cachetool::replay {
namespace {

constexpr std::string_view kSkipping = "skipping cudagraphs due to ";
constexpr std::string_view kDisabling = "disabling cudagraphs due to ";
constexpr std::size_t kLongest = 100;  // bytes of a reason that a line has room for

struct Group {
  std::string_view begins;
  std::string_view name;
};

constexpr std::array kGroups{
    Group{"cpu device", "cpu device"},
    Group{"multiple devices", "multiple devices"},
    Group{"mutated inputs", "mutated inputs"},
    Group{"input storage mutation", "input storage mutation"},
    Group{"incompatible op", "incompatible op"},
    Group{"non-Tensor inputs", "non-Tensor inputs"},
    Group{"complex memory overlap", "complex memory overlap"},
    Group{"graph with symbolic shapes inputs", "dynamic shapes"},
    Group{"control flow operator", "control flow"},
    Group{"index put with accumulate", "index put"},
    Group{"deterministic index put", "index put"},
    Group{"index_put_ fallback", "index put"},
    Group{"sparsity not handled", "sparse weights"},
    Group{"user CUDA MemPool contexts", "user memory pool"},
    Group{"cudagraph capture requires the caching allocator", "uncached allocator"},
    Group{"force_disable_cudagraph_TESTING_ONLY", "forced off for testing"},
    Group{"cpp wrapper enabled", "cpp wrapper"},
    Group{"cpp-wrapper", "cpp wrapper"},
    Group{"override_cudagraphs annotation", "override annotation"},
    Group{"bisector", "bisector"},
    // The reasons that cachetool words itself, where torch says nothing.
    Group{"no partition that can be captured", "no partition"},
    Group{"config.cudagraph_policy", "policy"},
};

// torch puts its introduction in front of what may begin with it already.
std::string_view without_introduction(std::string_view reason) {
  while (reason.starts_with(kSkipping)) reason.remove_prefix(kSkipping.size());
  if (reason.starts_with(kDisabling)) reason.remove_prefix(kDisabling.size());
  return reason;
}

// Cut where no character is cut through.
std::string cut(std::string_view text) {
  if (text.size() <= kLongest) return std::string(text);
  std::size_t length = kLongest;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return std::string(text.substr(0, length)) + "…";
}

}  // namespace

std::string short_reason(std::string_view reason) {
  std::string_view rest = without_introduction(reason);
  rest = rest.substr(0, rest.find('\n'));
  rest = rest.substr(0, rest.find(" Found from"));
  while (rest.ends_with('.') || rest.ends_with(' ') || rest.ends_with(':')) rest.remove_suffix(1);
  return cut(rest);
}

std::string reason_group(std::string_view reason) {
  const std::string_view rest = without_introduction(reason);
  const auto found = std::find_if(kGroups.begin(), kGroups.end(),
                                  [&](const Group& group) { return rest.starts_with(group.begins); });
  return found == kGroups.end() ? short_reason(reason) : std::string(found->name);
}

}  // namespace cachetool::replay
