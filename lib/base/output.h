#pragma once

#include <string>
#include <string_view>

namespace cachetool {

/// Where writers put their bytes: standard output, a string, a file.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// Collects everything in memory.
class StringSink final : public OutputSink {
 public:
  void write(std::string_view bytes) override { text_.append(bytes); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace cachetool
