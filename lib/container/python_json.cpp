#include "container/python_json.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"

namespace cachetool::container {
namespace {

struct Item {
  std::string_view key;  // of an object's member
  Node value;
  std::size_t order = 0;  // among the members
};

/// A container that is being written.
struct Open {
  std::vector<Item> items;
  std::size_t next = 0;
  bool is_map = false;
};

void append_unit(std::string& out, std::uint32_t unit) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit);
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at, Surrogates::kAllowed);
    at += point.length;
    const char32_t value = point.value;
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    const std::size_t known = value < 0x80 ? kEscaped.find(static_cast<char>(value)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += '\\';
      out += kLetters[known];
    } else if (value >= 0x20 && value < 0x7f) {
      out += static_cast<char>(value);
    } else if (value < 0x10000) {
      append_unit(out, value);
    } else {
      append_unit(out, 0xd800 + ((value - 0x10000) >> 10));
      append_unit(out, 0xdc00 + ((value - 0x10000) & 0x3ff));
    }
  }
  out += '"';
}

void append_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    out += python_float_repr(value);
  }
}

void append_scalar(std::string& out, const Node& value) {
  switch (value.kind()) {
    case NodeKind::kBool:
      out += value.as_bool() ? "true" : "false";
      break;
    case NodeKind::kInteger:
      out += std::to_string(value.as_integer());
      break;
    case NodeKind::kBigInteger:
      out += value.text();
      break;
    case NodeKind::kFloat:
      append_float(out, value.as_float());
      break;
    case NodeKind::kString:
      append_string(out, value.text());
      break;
    default:
      out += "null";
  }
}

Open open_map(const Node& map, std::optional<std::string_view> without) {
  Open open;
  open.is_map = true;
  for (auto key = map.first(); key; key = key->next()) {
    const std::string_view name = key->text();
    key = key->next();
    if (name != without) open.items.push_back({name, *key, open.items.size()});
  }
  std::sort(open.items.begin(), open.items.end(),
            [](const Item& a, const Item& b) { return std::tie(a.key, a.order) < std::tie(b.key, b.order); });
  std::vector<Item> kept;
  for (Item& item : open.items) {
    if (!kept.empty() && kept.back().key == item.key) kept.pop_back();
    kept.push_back(item);
  }
  open.items = std::move(kept);
  return open;
}

Open open_list(const Node& list) {
  Open open;
  for (auto item = list.first(); item; item = item->next()) open.items.push_back({{}, *item});
  return open;
}

}  // namespace

std::string python_json(const Node& value, std::optional<std::string_view> without) {
  std::string out;
  std::vector<Open> open;
  const auto write = [&](const Node& node, std::optional<std::string_view> left_out) {
    if (node.is(NodeKind::kMap)) {
      out += '{';
      open.push_back(open_map(node, left_out));
    } else if (node.is(NodeKind::kList) || node.is(NodeKind::kTuple)) {
      out += '[';
      open.push_back(open_list(node));
    } else {
      append_scalar(out, node);
    }
  };
  write(value, without);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.items.size()) {
      out += top.is_map ? '}' : ']';
      open.pop_back();
      continue;
    }
    if (top.next > 0) out += ", ";
    const Item item = top.items[top.next++];
    if (top.is_map) {
      append_string(out, item.key);
      out += ": ";
    }
    write(item.value, {});
  }
  return out;
}

}  // namespace cachetool::container
