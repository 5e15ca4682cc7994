#include "torch/wrapper_scan.h"

#include <algorithm>
#include <unordered_set>

#include "container/python_literal.h"

namespace cachetool::torch {

namespace {

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_identifier(char c) {
  return is_identifier_start(c) || (c >= '0' && c <= '9');
}

/// A cursor over Python source that knows comments, strings and brackets, and nothing else of the language.
class Cursor {
 public:
  explicit Cursor(std::string_view source) : source_(source) {}

  bool at_end() const { return position_ >= source_.size(); }
  char peek() const { return at_end() ? '\0' : source_[position_]; }
  std::size_t position() const { return position_; }
  std::uint32_t line() const { return line_; }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }

  /// Blanks, line ends and comments.
  void skip_space() {
    for (;;) {
      skip_blanks();
      if (peek() == '\n' || peek() == '\r') {
        advance(1);
      } else if (peek() == '#') {
        to_line_end();
      } else {
        return;
      }
    }
  }

  std::string_view take_identifier() {
    const std::size_t start = position_;
    if (is_identifier_start(peek())) {
      while (!at_end() && is_identifier(peek())) ++position_;
    }
    return source_.substr(start, position_ - start);
  }

  bool take(std::string_view text) {
    if (!source_.substr(std::min(position_, source_.size())).starts_with(text)) return false;
    advance(text.size());
    return true;
  }

  void to_line_end() { position_ = std::min(source_.find('\n', position_), source_.size()); }

  /// Passes a string literal, one bracket, a comment or any other character. Text of the string when there is
  /// one and `text` isn't null. False at the end, or in a string that doesn't end.
  bool step(std::string* text = nullptr) {
    if (at_end()) return false;
    const char c = peek();
    if (c == '#') return to_line_end(), true;
    if (c == '\'' || c == '"' || is_identifier_start(c)) {
      if (container::starts_python_string(source_, position_)) return take_string(text);
      if (c != '\'' && c != '"') return take_identifier(), true;
    }
    advance(1);
    return true;
  }

  /// To the start of the next line outside of strings.
  void next_line() {
    while (!at_end() && peek() != '\n') {
      if (!step()) position_ = source_.size();
    }
    advance(1);
  }

  /// Passes everything up to and including the bracket that closes one already opened; the text between.
  /// Nothing when there is none.
  std::string_view take_to_closing() {
    const std::size_t start = position_;
    for (int depth = 0; !at_end();) {
      const char c = peek();
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth-- == 0) {
        ++position_;
        return source_.substr(start, position_ - 1 - start);
      }
      if (!step()) break;
    }
    return {};
  }

 private:
  void advance(std::size_t count) {
    const std::size_t end = std::min(position_ + count, source_.size());
    line_ += static_cast<std::uint32_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(position_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    position_ = end;
  }

  bool take_string(std::string* text) {
    auto literal = container::read_python_string(source_, position_);
    if (!literal) return false;
    advance(literal->end - position_);
    if (text != nullptr) *text = std::move(literal->text);
    return true;
  }

  std::string_view source_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

KernelKind kind_of(std::string_view method) {
  if (method == "triton") return KernelKind::kTriton;
  if (method == "cpp_pybinding") return KernelKind::kCppPybinding;
  if (method == "cpp") return KernelKind::kCpp;
  if (method == "cuda") return KernelKind::kCuda;
  return KernelKind::kOther;
}

/// Arguments of async_compile.<method>(…): strings in a list are argument types, the text is the string
/// argument behind the name (triton) or the first one.
bool read_definition(Cursor& cursor, WrapperKernel& kernel) {
  const int wanted = kernel.kind == KernelKind::kTriton ? 1 : 0;
  int strings = 0;
  for (int depth = 0; !cursor.at_end();) {
    const char c = cursor.peek();
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0) return cursor.step(), strings > wanted;
    const std::size_t before = cursor.position();
    const bool quote = c == '\'' || c == '"' || c == 'r' || c == 'R' || c == 'u' || c == 'U';
    std::string text;
    if (!cursor.step(&text)) return false;
    if (!quote || text.empty() || cursor.position() == before) continue;
    const bool named = depth == 0 && strings < wanted;
    if (depth == 0 && strings++ == wanted) {
      kernel.text = std::move(text);
    } else if (named) {
      kernel.function = std::move(text);
    } else if (depth == 1 && kernel.kind == KernelKind::kCppPybinding) {
      kernel.arg_types.push_back(std::move(text));
    }
  }
  return false;
}

/// Cuts ", stream=…" and ", grid=…" off the end of a launch's arguments.
void split_launch(std::string_view arguments, WrapperLaunch& launch) {
  const std::size_t stream = arguments.rfind(", stream=");
  if (stream != std::string_view::npos) arguments = arguments.substr(0, stream);
  const std::size_t grid = arguments.rfind(", grid=");
  if (grid != std::string_view::npos) {
    launch.grid = arguments.substr(grid + 7);
    arguments = arguments.substr(0, grid);
  }
  launch.arguments = arguments;
}

/// One statement that starts with a name; the cursor stands behind that name.
void scan_statement(Cursor& cursor, std::string_view name, std::uint32_t line,
                    std::unordered_set<std::string_view>& defined, WrapperScan& scan) {
  if (cursor.take(".run(") || (defined.contains(name) && cursor.take("("))) {
    WrapperLaunch launch{name, {}, {}, line};
    split_launch(cursor.take_to_closing(), launch);
    scan.launches.push_back(launch);
    return;
  }
  cursor.skip_blanks();
  if (!cursor.take("=")) return;
  cursor.skip_blanks();
  if (!cursor.take("async_compile.")) return;
  WrapperKernel kernel;
  kernel.name = name;
  kernel.method = cursor.take_identifier();
  kernel.kind = kind_of(kernel.method);
  kernel.line = line;
  if (!cursor.take("(") || !read_definition(cursor, kernel)) return;
  defined.insert(name);
  scan.kernels.push_back(std::move(kernel));
}

constexpr std::string_view kLabelMark = "# AOT ID: ['";

void add_operator(std::string_view name, std::vector<std::string_view>& out) {
  if (name.starts_with("aten.")) name.remove_prefix(5);
  if (!name.empty() && std::ranges::find(out, name) == out.end()) out.push_back(name);
}

/// Names in "Original ATen: [aten.mul, aten.exp]".
void operators_in_comments(std::string_view source, std::size_t limit, std::vector<std::string_view>& out) {
  constexpr std::string_view kMark = "Original ATen: [";
  for (std::size_t at = source.find(kMark); at != std::string_view::npos && out.size() < limit;
       at = source.find(kMark, at)) {
    at += kMark.size();
    std::string_view list = source.substr(at, source.find_first_of("]\n", at) - at);
    while (!list.empty() && out.size() < limit) {
      const std::size_t comma = list.find(", ");
      add_operator(list.substr(0, comma), out);
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 2);
    }
  }
}

/// Names behind each `mark`, up to the first character that is no part of a name.
void operators_behind(std::string_view mark, std::string_view source, std::size_t limit,
                      std::vector<std::string_view>& out) {
  for (std::size_t at = source.find(mark); at != std::string_view::npos && out.size() < limit;
       at = source.find(mark, at)) {
    at += mark.size();
    std::size_t end = at;
    while (end < source.size() && is_identifier(source[end])) ++end;
    add_operator(source.substr(at, end - at), out);
  }
}

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::kTriton:
      return "triton";
    case KernelKind::kCppPybinding:
      return "cpp_pybinding";
    case KernelKind::kCpp:
      return "cpp";
    case KernelKind::kCuda:
      return "cuda";
    case KernelKind::kOther:
      return "other";
  }
  return "other";
}

WrapperScan scan_wrapper(std::string_view source_code) {
  WrapperScan scan;
  scan.graph_label = graph_label(source_code);
  scan.cpp_wrapper = source_code.find("CppWrapperCodeCache") != std::string_view::npos;
  std::unordered_set<std::string_view> defined;
  Cursor cursor(source_code);
  while (!cursor.at_end()) {
    cursor.skip_space();
    const std::uint32_t line = cursor.line();
    if (is_identifier_start(cursor.peek()) &&
        !container::starts_python_string(source_code, cursor.position())) {
      scan_statement(cursor, cursor.take_identifier(), line, defined, scan);
    }
    cursor.next_line();
  }
  return scan;
}

std::string_view graph_label(std::string_view source_code) {
  // On the first line; behind the text of a compile-time tuning block where there is one (2.9 on).
  std::size_t at = source_code.starts_with(kLabelMark) ? 0 : std::string_view::npos;
  if (at == std::string_view::npos &&
      (source_code.starts_with("\"\"\"") || source_code.starts_with("r\"\"\""))) {
    at = source_code.find("\n# AOT ID: ['");
    if (at != std::string_view::npos) ++at;
  }
  if (at == std::string_view::npos) return {};
  const std::string_view rest = source_code.substr(at + kLabelMark.size());
  const std::size_t end = rest.find_first_of("'\n");
  return end == std::string_view::npos || rest[end] == '\n' ? std::string_view{} : rest.substr(0, end);
}

std::vector<std::string_view> first_operators(std::string_view source_code, std::size_t limit) {
  std::vector<std::string_view> operators;
  operators_in_comments(source_code, limit, operators);
  if (operators.empty()) operators_behind("extern_kernels.", source_code, limit, operators);
  if (operators.empty()) operators_behind("torch.ops.aten.", source_code, limit, operators);
  if (operators.empty()) operators_behind("\ncpp_fused_", source_code, limit, operators);
  if (operators.empty()) operators_behind("\ntriton_poi_fused_", source_code, limit, operators);
  return operators;
}

}  // namespace cachetool::torch
