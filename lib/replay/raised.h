#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cachetool::replay {

/// An exception that torch would raise where the entry takes it.
struct Raised {
  std::string type;     ///< "AssertionError"
  std::string message;  ///< empty for a bare `assert`, as in torch up to 2.13
  std::string source;   ///< the torch function that raises: "cudagraph_post_compile", with what it asserts

  friend bool operator==(const Raised&, const Raised&) = default;
};

/// The last line of Python's traceback: "AssertionError", "RuntimeError: skipping cudagraphs due to …".
inline std::string describe(const Raised& raised) {
  return raised.message.empty() ? raised.type : raised.type + ": " + raised.message;
}

/// What torch would do next, unless it raises.
template <class T>
using OrRaised = tl::expected<T, Raised>;

inline tl::unexpected<Raised> raise(std::string_view type, std::string message, std::string_view source) {
  return tl::unexpected(Raised{std::string(type), std::move(message), std::string(source)});
}

}  // namespace cachetool::replay
