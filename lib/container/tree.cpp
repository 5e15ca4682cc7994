#include "container/tree.h"

#include <charconv>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

namespace cachetool::container {

NodeKind Node::kind() const {
  return tree_->nodes_[index_].kind;
}

bool Node::as_bool() const {
  return tree_->nodes_[index_].a != 0;
}

std::int64_t Node::as_integer() const {
  return static_cast<std::int64_t>(tree_->nodes_[index_].a);
}

double Node::as_float() const {
  if (is(NodeKind::kInteger)) return static_cast<double>(as_integer());
  const std::string_view source = text();
  double value = 0;
  const auto result = std::from_chars(source.data(), source.data() + source.size(), value);
  if (result.ec == std::errc::result_out_of_range && source.find("e-") == std::string_view::npos &&
      source.find("E-") == std::string_view::npos) {
    const double infinity = std::numeric_limits<double>::infinity();
    return source.starts_with('-') ? -infinity : infinity;
  }
  return value;
}

std::string_view Node::text() const {
  switch (kind()) {
    case NodeKind::kString:
    case NodeKind::kBytes:
    case NodeKind::kFloat:
    case NodeKind::kBigInteger: {
      const auto& item = tree_->nodes_[index_];
      return std::string_view(tree_->text_).substr(item.a, item.b);
    }
    default:
      return {};
  }
}

std::size_t Node::size() const {
  switch (kind()) {
    case NodeKind::kList:
    case NodeKind::kTuple:
      return tree_->nodes_[index_].a;
    case NodeKind::kMap:
      return tree_->nodes_[index_].a / 2;
    default:
      return 0;
  }
}

std::optional<Node> Node::first() const {
  const std::uint32_t end = tree_->nodes_[index_].end;
  if (index_ + 1 >= end) return {};
  return Node(tree_, index_ + 1, end);
}

std::optional<Node> Node::next() const {
  const std::uint32_t behind = tree_->nodes_[index_].end;
  if (behind >= end_) return {};
  return Node(tree_, behind, end_);
}

std::optional<Node> Node::find(std::string_view key) const {
  std::optional<Node> found;
  if (!is(NodeKind::kMap)) return found;
  for (auto name = first(); name;) {
    const auto value = name->next();
    if (!value) break;
    if (name->is(NodeKind::kString) && name->text() == key) found = value;
    name = value->next();
  }
  return found;
}

std::optional<Node> Node::at(std::size_t position) const {
  if (is(NodeKind::kMap) || position >= size()) return {};
  auto item = first();
  for (; item && position > 0; --position) item = item->next();
  return item;
}

bool TreeBuilder::add(NodeKind kind, std::uint64_t a, std::uint64_t b) {
  if (error_) return false;
  if (tree_.nodes_.size() >= limits_.max_nodes) {
    error_ =
        Error{ErrorCode::kLimitMemory, fmt::format("more than {} values", limits_.max_nodes), {}, {}, {}};
    return false;
  }
  if (!counts_.empty()) ++counts_.back();
  Tree::Item item;
  item.kind = kind;
  item.end = static_cast<std::uint32_t>(tree_.nodes_.size() + 1);
  item.a = a;
  item.b = b;
  tree_.nodes_.push_back(item);
  return true;
}

bool TreeBuilder::text(NodeKind kind, std::string_view text) {
  if (!add(kind, tree_.text_.size(), text.size())) return false;
  tree_.text_ += text;
  return true;
}

bool TreeBuilder::open(NodeKind kind) {
  if (!error_ && open_.size() >= limits_.max_depth) {
    error_ =
        Error{ErrorCode::kLimitDepth, fmt::format("nested deeper than {}", limits_.max_depth), {}, {}, {}};
  }
  if (!add(kind, 0)) return false;
  open_.push_back(static_cast<std::uint32_t>(tree_.nodes_.size() - 1));
  counts_.push_back(0);
  return true;
}

bool TreeBuilder::close() {
  if (error_ || open_.empty()) return false;
  Tree::Item& item = tree_.nodes_[open_.back()];
  item.end = static_cast<std::uint32_t>(tree_.nodes_.size());
  item.a = counts_.back();
  if (item.kind == NodeKind::kMap && item.a > 2) count_duplicates(open_.back());
  open_.pop_back();
  counts_.pop_back();
  return true;
}

bool TreeBuilder::unwrap() {
  if (error_ || open_.empty() || counts_.back() != 1) return false;
  const std::uint32_t index = open_.back();
  tree_.nodes_.erase(tree_.nodes_.begin() + index);
  for (std::size_t i = index; i < tree_.nodes_.size(); ++i) --tree_.nodes_[i].end;
  open_.pop_back();
  counts_.pop_back();
  return true;
}

void TreeBuilder::count_duplicates(std::uint32_t map_index) {
  std::unordered_set<std::string_view> seen;
  const std::uint32_t end = tree_.nodes_[map_index].end;
  for (std::uint32_t key = map_index + 1; key < end;) {
    const Tree::Item& item = tree_.nodes_[key];
    if (item.kind == NodeKind::kString &&
        !seen.insert(std::string_view(tree_.text_).substr(item.a, item.b)).second) {
      ++tree_.duplicates_;
    }
    const std::uint32_t value = item.end;
    key = value < end ? tree_.nodes_[value].end : end;
  }
}

}  // namespace cachetool::container
