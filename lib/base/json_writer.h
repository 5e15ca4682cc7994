#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"

namespace cachetool {

/// How a document is laid out.
enum class JsonStyle : bool {
  kCompact,   ///< one line: `{"a": 1, "b": [1, 2]}` with Python's separators ", " and ": "
  kIndented,  ///< two spaces a level, for --json
};

/// Appends `text` as a JSON string with its quotes, escaped as JsonWriter does.
void append_json_string(std::string& out, std::string_view text);

/// Writes one JSON document as it is produced; keeps only the nesting stack. Output is ASCII: everything else
/// is escaped as \uXXXX (lone surrogates in surrogatepass UTF-8 come out as \udXXX, bytes that are not UTF-8
/// as \udcXX, as CPython's "surrogateescape" does), with the escapes of Python's json.dumps. No newline at
/// the end. Hands bytes to the sink in pieces of about 64 KiB, at `flush` and at destruction. Misuse (a key
/// outside an object, a document left open) is an assertion.
class JsonWriter {
 public:
  explicit JsonWriter(OutputSink& sink, JsonStyle style = JsonStyle::kCompact);
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);

  void null();
  void boolean(bool value);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  /// Shortest text that reads back as the same double, as Python's repr writes it; non-finite values become
  /// {"$float": "nan"|"inf"|"-inf"}.
  void number(double value);
  void string(std::string_view value);
  /// A value that is already JSON text.
  void raw(std::string_view json);

  /// key(name) followed by the value.
  void member(std::string_view name, std::string_view value) { key(name), string(value); }
  void member(std::string_view name, const char* value) { key(name), string(value); }
  void member(std::string_view name, std::int64_t value) { key(name), integer(value); }
  void member(std::string_view name, std::uint64_t value) { key(name), unsigned_integer(value); }
  void member(std::string_view name, int value) { key(name), integer(value); }
  void member(std::string_view name, std::uint32_t value) { key(name), unsigned_integer(value); }
  void member(std::string_view name, double value) { key(name), number(value); }
  void member(std::string_view name, bool value) { key(name), boolean(value); }

  /// Hands buffered bytes to the sink.
  void flush();
  std::size_t depth() const { return stack_.size(); }

 private:
  struct Level {
    bool is_object;
    bool empty;
  };
  void before_value();
  void separate();
  void newline();
  void close(char bracket);

  OutputSink& sink_;
  JsonStyle style_;
  std::vector<Level> stack_;
  bool after_key_ = false;
  bool begun_ = false;
  std::string buffer_;
};

}  // namespace cachetool
