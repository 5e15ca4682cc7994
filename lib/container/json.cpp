#include "container/json.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cachetool::container {
namespace {

/// A number that JSON lacks, found by its rank among the numbers of the text.
struct Replaced {
  std::size_t rank;
  std::string_view token;
};

struct Prepared {
  std::string text;  // of the same length, so that offsets stay
  std::vector<Replaced> replaced;
};

bool is_number_char(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

bool may_precede_value(char c) {
  return std::string_view(" \t\r\n,:[").find(c) != std::string_view::npos;
}

/// Replaces Infinity, -Infinity and NaN outside strings by 0 and blanks.
Prepared replace_non_finite(std::string_view text) {
  Prepared result{std::string(text), {}};
  std::size_t numbers = 0;
  bool in_string = false;
  bool in_number = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    std::string_view found;
    if (c == '-' || c == 'I' || c == 'N') {
      for (const std::string_view token : {"-Infinity", "Infinity", "NaN"}) {
        if (text.substr(i, token.size()) == token && (i == 0 || may_precede_value(text[i - 1])))
          found = token;
      }
    }
    if (!found.empty()) {
      result.text.replace(i, found.size(), found.size(), ' ');
      result.text[i] = '0';
      result.replaced.push_back({numbers++, found});
      i += found.size() - 1;
      in_number = false;
      continue;
    }
    if (c == '"') in_string = true;
    const bool number = is_number_char(c) || (in_number && (c == 'e' || c == 'E'));
    if (number && !in_number) ++numbers;
    in_number = number;
  }
  return result;
}

/// Receives nlohmann-json's events and builds the tree from them.
class Handler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Handler(const TreeLimits& limits, std::vector<Replaced> replaced)
      : builder_(limits), replaced_(std::move(replaced)) {}

  bool null() { return builder_.null(); }
  bool boolean(bool value) { return builder_.boolean(value); }
  bool number_integer(number_integer_t value) {
    if (take_replaced()) return !builder_.error();
    return builder_.integer(value);
  }
  bool number_unsigned(number_unsigned_t value) {
    if (take_replaced()) return !builder_.error();
    if (value <= static_cast<number_unsigned_t>(INT64_MAX))
      return builder_.integer(static_cast<std::int64_t>(value));
    return builder_.text(NodeKind::kBigInteger, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& source) {
    if (take_replaced()) return !builder_.error();
    const bool whole = source.find_first_of(".eE") == string_t::npos;
    return builder_.text(whole ? NodeKind::kBigInteger : NodeKind::kFloat, source);
  }
  bool string(string_t& value) { return builder_.text(NodeKind::kString, value); }
  bool key(string_t& value) { return builder_.text(NodeKind::kString, value); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return builder_.open(NodeKind::kMap); }
  bool end_object() { return builder_.close(); }
  bool start_array(std::size_t) { return builder_.open(NodeKind::kList); }
  bool end_array() { return builder_.close(); }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& problem) {
    position_ = position;
    // The library names a number that no double holds "out of range"; everything else is grammar.
    out_of_range_ = problem.id == 406;
    return false;
  }

  Error error(std::size_t length) const {
    if (builder_.error()) return *builder_.error();
    const std::size_t offset = position_ > 0 ? position_ - 1 : 0;
    if (out_of_range_) return {ErrorCode::kMalformed, "a number that no double can hold", {}, offset, {}};
    if (offset >= length) return {ErrorCode::kTruncated, "the JSON text ends too early", {}, length, {}};
    return {ErrorCode::kMalformed, "not JSON", {}, offset, {}};
  }

  TreeBuilder& builder() { return builder_; }

 private:
  /// Adds the non-finite number that stands at this place, if one does.
  bool take_replaced() {
    const std::size_t rank = numbers_++;
    if (next_ >= replaced_.size() || replaced_[next_].rank != rank) return false;
    builder_.text(NodeKind::kFloat, replaced_[next_++].token);
    return true;
  }

  TreeBuilder builder_;
  std::vector<Replaced> replaced_;
  std::size_t next_ = 0;
  std::size_t numbers_ = 0;
  std::size_t position_ = 0;
  bool out_of_range_ = false;
};

}  // namespace

Expected<Tree> read_json(std::string_view text, const TreeLimits& limits, NonFinite non_finite) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::kLimitSize, fmt::format("JSON text of more than {} bytes", limits.max_bytes));
  }
  Prepared prepared;
  if (non_finite == NonFinite::kAllowed) {
    prepared = replace_non_finite(text);
    text = prepared.text;
  }
  Handler handler(limits, std::move(prepared.replaced));
  // The library takes a NUL for the end of the text.
  const std::size_t nul = text.find('\0');
  const std::string_view readable = text.substr(0, nul);
  try {
    if (!nlohmann::json::sax_parse(readable.begin(), readable.end(), &handler)) {
      Error error = handler.error(readable.size());
      if (error.code != ErrorCode::kTruncated || nul == std::string_view::npos)
        return tl::unexpected<Error>(std::move(error));
    }
    if (nul != std::string_view::npos) return fail(ErrorCode::kMalformed, "not JSON: a NUL byte", {}, nul);
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kMalformed, fmt::format("not JSON: {}", problem.what()));
  }
  return handler.builder().take();
}

Status validate_json(std::string_view text, const TreeLimits& limits, NonFinite non_finite) {
  const auto tree = read_json(text, limits, non_finite);
  if (!tree) return tl::unexpected<Error>(tree.error());
  return {};
}

}  // namespace cachetool::container
