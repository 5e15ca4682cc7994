#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/output.h"

namespace cachetool::report {

/// A place inside a JSON value: `fx_kwargs.static_input_idxs`, `constants["c0"].dtype`,
/// `cache_linemap[0][1]`.
class JsonPath {
 public:
  struct Step {
    std::string key;  ///< as it stands between the quotes of ASCII-escaped JSON; empty for an index
    std::uint64_t index = 0;
    bool is_index = false;
  };

  /// Names joined by '.', array indices as [N], names of any other form as ["…"]. kUsage on anything else.
  static Expected<JsonPath> parse(std::string_view text);
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

/// Takes compact JSON as a JsonWriter produces it and keeps only the value at a path: memory is that of this
/// value and the nesting. The object around {"$tensor": {…}} counts as transparent, so that `x.dtype` is
/// found in it.
class JsonPathSink final : public OutputSink {
 public:
  explicit JsonPathSink(const JsonPath& path) : path_(path) {}
  void write(std::string_view bytes) override;

  bool found() const { return found_; }
  /// The value as JSON text.
  const std::string& value() const { return value_; }

 private:
  struct Level {
    bool is_object = false;
    bool on_path = false;     ///< the container itself is what the steps so far lead to
    std::uint64_t index = 0;  ///< of the element being read
    std::size_t steps = 0;    ///< steps taken to get here
  };
  void take(char c);
  void begin_value();
  void end_value();
  bool step_matches(const Level& level) const;

  const JsonPath& path_;
  std::vector<Level> levels_;
  std::string token_;  // text of the string being read, without quotes
  std::string key_;
  std::string value_;
  std::size_t next_steps_ = 0;
  bool next_on_path_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_scalar_ = false;
  bool string_is_key_ = false;
  bool expect_key_ = false;
  bool found_ = false;
  std::size_t capture_depth_ = 0;
  bool capturing_ = false;
};

/// The text that a JSON string stands for, in UTF-8 (lone surrogates as surrogatepass writes them); other
/// values as they are.
std::string json_to_text(std::string_view json);

}  // namespace cachetool::report
