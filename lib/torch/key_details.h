#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "torch/list_view.h"

namespace cachetool::torch {

/// One line of `_fx_graph_cache_debug_lines`: "[<hash>] <path>: <text>".
/// torch/_inductor/codecache.py: FxGraphCachePickler.debug_lines (2.8).
struct KeyComponent {
  std::string_view hash;  ///< 51 characters: B(pickle of this one value)
  std::string_view path;  ///< "inductor_config[triton.cudagraphs]", "example_inputs[0]", "torch_version"
  std::string_view text;  ///< may hold newlines
};

/// Nothing when the line has another form.
std::optional<KeyComponent> parse_key_line(std::string_view line);

/// What went into an FX graph key, in torch's order. Parsed when asked for: a view on the lines.
class KeyDetails {
 public:
  KeyDetails() = default;
  explicit KeyDetails(Texts lines) : lines_(lines) {}

  bool empty() const { return lines_.empty(); }
  std::size_t size() const { return lines_.size(); }
  /// A line of another form comes back with an empty hash and path and the whole line as text.
  KeyComponent operator[](std::size_t i) const;
  /// The component of exactly this path. Linear.
  std::optional<KeyComponent> find(std::string_view path) const;
  /// Text of `inductor_config[<name>]`.
  std::optional<std::string_view> config(std::string_view name) const;
  /// Hash of the `torch_version` line: the same for every entry of one exact torch build.
  std::string_view torch_identity() const;
  /// Text of `system_info[device]`, which names the GPU; empty without one.
  std::string_view device() const;
  /// Lines `example_inputs[i]`, in order of i as stored.
  std::vector<KeyComponent> example_inputs() const;
  /// All lines, parsed.
  std::vector<KeyComponent> components() const;
  Texts lines() const { return lines_; }

 private:
  Texts lines_;
};

}  // namespace cachetool::torch
