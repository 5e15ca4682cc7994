#include "torch/graph_signature.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace cachetool::torch {
namespace {

constexpr std::size_t kMaxValues = 100'000;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// torch/utils/_dtype_abbrs.py (2.9), torch/fx/graph.py (2.6).
std::string_view dtype_of_abbreviation(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kNames{{
      {"f64", "float64"},
      {"f32", "float32"},
      {"f16", "float16"},
      {"bf16", "bfloat16"},
      {"c32", "complex32"},
      {"c64", "complex64"},
      {"c128", "complex128"},
      {"i8", "int8"},
      {"i16", "int16"},
      {"i32", "int32"},
      {"i64", "int64"},
      {"b8", "bool"},
      {"u8", "uint8"},
      {"u16", "uint16"},
      {"u32", "uint32"},
      {"u64", "uint64"},
      {"f8e4m3fn", "float8_e4m3fn"},
      {"f8e5m2", "float8_e5m2"},
      {"f8e4m3fnuz", "float8_e4m3fnuz"},
      {"f8e5m2fnuz", "float8_e5m2fnuz"},
      {"f8e8m0fnu", "float8_e8m0fnu"},
      {"f4e2m1fnx2", "float4_e2m1fn_x2"},
  }};
  for (const auto& [abbreviation, name] : kNames) {
    if (text == abbreviation) return name;
  }
  return text;
}

// Takes "[…]" off the front; false when there is none.
bool take_brackets(std::string_view& text, std::string_view& inside) {
  if (text.empty() || text.front() != '[') return false;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return false;
  inside = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return true;
}

// `f32[8, 4][4, 1]cpu`, `Sym(s77)`, `"f32[8]"`.
GraphValue parse_annotation(std::string_view name, std::string_view type) {
  GraphValue value;
  value.name = name;
  if (type.starts_with("Sym(") && type.ends_with(")")) {
    value.dtype = "int";
    value.size = type.substr(4, type.size() - 5);
    return value;
  }
  const std::size_t bracket = type.find('[');
  std::string_view rest = bracket == std::string_view::npos ? std::string_view() : type.substr(bracket);
  value.dtype = dtype_of_abbreviation(type.substr(0, bracket));
  std::string_view size;
  std::string_view stride;
  if (take_brackets(rest, size)) value.size = size;
  if (take_brackets(rest, stride)) value.stride = stride;
  value.device = rest;
  return value;
}

// An annotation `name: "type"` that starts at `at`; moves `at` behind it.
bool take_annotated(std::string_view text, std::size_t& at, GraphValue& value) {
  const std::size_t begin = at;
  std::size_t end = begin;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == begin || !text.substr(end).starts_with(": \"")) return false;
  const std::size_t quote = text.find('"', end + 3);
  if (quote == std::string_view::npos) return false;
  value = parse_annotation(text.substr(begin, end - begin), text.substr(end + 3, quote - end - 3));
  at = quote + 1;
  return true;
}

// Parameters between "def forward(" and the "):" that ends a line.
std::size_t read_parameters(std::string_view text, GraphSignature& signature) {
  constexpr std::string_view kStart = "def forward(";
  const std::size_t start = text.find(kStart);
  if (start == std::string_view::npos) return std::string_view::npos;
  std::size_t at = start + kStart.size();
  while (at < text.size() && signature.inputs.size() < kMaxValues) {
    if (text.substr(at).starts_with("):")) return at;
    if (text[at] == '#') {  // a remark to the end of the line
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (!is_name_char(text[at])) {
      ++at;
      continue;
    }
    GraphValue value;
    if (take_annotated(text, at, value)) {
      signature.inputs.push_back(std::move(value));
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (name != "self") {
      value.name = name;
      signature.inputs.push_back(std::move(value));
    }
    at = end;
  }
  return at;
}

// "a, b, None" on a line, or "(a, b)" or "[a]" over any number of lines, remarks among them (2.9), of a
// return statement.
void read_outputs(std::string_view list, const std::unordered_map<std::string_view, GraphValue>& values,
                  GraphSignature& signature) {
  std::size_t at = 0;
  bool bracketed = false;
  while (at < list.size() && signature.outputs.size() < kMaxValues) {
    const char c = list[at];
    if (c == ')' || c == ']' || (c == '\n' && !bracketed)) return;
    if (c == '#') {  // a remark to the end of the line
      at = std::min(list.find('\n', at), list.size());
      continue;
    }
    if (!is_name_char(c)) {
      bracketed = bracketed || c == '(' || c == '[';
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < list.size() && is_name_char(list[end])) ++end;
    const std::string_view name = list.substr(at, end - at);
    const auto known = values.find(name);
    signature.outputs.push_back(known == values.end() ? GraphValue{std::string(name), {}, {}, {}, {}}
                                                      : known->second);
    at = end;
  }
}

// What follows `key` up to a comma outside parentheses or the end.
std::string_view argument(std::string_view call, std::string_view key) {
  const std::size_t at = call.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = call.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(",)"));
}

}  // namespace

GraphSignature graph_signature(std::string_view graph_text) {
  GraphSignature signature;
  std::size_t at = read_parameters(graph_text, signature);
  if (at == std::string_view::npos) return signature;
  std::unordered_map<std::string_view, GraphValue> values;
  for (const GraphValue& input : signature.inputs) values.emplace(input.name, input);
  while (at < graph_text.size() && values.size() < kMaxValues) {
    const std::size_t end = std::min(graph_text.find('\n', at), graph_text.size());
    const std::string_view line = trim(graph_text.substr(at, end - at));
    constexpr std::string_view kReturn = "return ";
    if (line.starts_with(kReturn)) {
      read_outputs(graph_text.substr(graph_text.find(kReturn, at) + kReturn.size()), values, signature);
      break;
    }
    at = end + 1;
    GraphValue value;
    std::size_t position = 0;
    if (!take_annotated(line, position, value)) continue;
    values.emplace(line.substr(0, value.name.size()), value);
  }
  return signature;
}

GraphSignature wrapper_signature(std::string_view source_code) {
  GraphSignature signature;
  std::size_t at = source_code.rfind("\ndef get_args(");
  if (at == std::string_view::npos) at = source_code.rfind("\ndef benchmark_compiled_module(");
  if (at == std::string_view::npos) return signature;
  constexpr std::string_view kCall = " = rand_strided((";
  while (at < source_code.size() && signature.inputs.size() < kMaxValues) {
    const std::size_t end = std::min(source_code.find('\n', at), source_code.size());
    const std::string_view line = trim(source_code.substr(at, end - at));
    at = end + 1;
    const std::size_t call = line.find(kCall);
    if (call == std::string_view::npos) continue;
    const std::string_view rest = line.substr(call + kCall.size());
    const std::size_t size_end = rest.find("), (");
    if (size_end == std::string_view::npos) continue;
    GraphValue value;
    value.name = line.substr(0, call);
    value.size = rest.substr(0, size_end);
    const std::string_view after = rest.substr(size_end + 4);
    value.stride = after.substr(0, after.find(')'));
    for (std::string* tuple : {&value.size, &value.stride}) {
      while (!tuple->empty() && (tuple->back() == ' ' || tuple->back() == ',')) tuple->pop_back();
    }
    std::string_view device = argument(after, "device='");
    value.device = device.substr(0, device.find('\''));
    value.dtype = argument(after, "dtype=torch.");
    signature.inputs.push_back(std::move(value));
  }
  return signature;
}

}  // namespace cachetool::torch
