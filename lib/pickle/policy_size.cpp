#include "pickle/policy_size.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "pickle/children.h"

namespace cachetool::pickle {
namespace {

enum class Progress : std::uint8_t { kUnseen, kOpen, kDone };

/// Both counts stop just above their limits.
struct Size {
  std::uint32_t values = 1;
  std::uint16_t levels = 0;
  Progress progress = Progress::kUnseen;
};

/// Sizes by the offsets of nodes, in pages: most bytes of a large pickle make no node.
class SizeTable {
 public:
  SizeTable(std::uint64_t input_bytes, Budget& budget) : budget_(budget) {
    const std::uint64_t pages = input_bytes / kPerPage + 1;
    if (charge(pages * sizeof(pages_[0]))) pages_.resize(pages);
  }
  SizeTable(const SizeTable&) = delete;
  SizeTable& operator=(const SizeTable&) = delete;
  ~SizeTable() { budget_.release(charged_); }

  /// The entry of a node, or null when the budget has run out.
  Size* at(const Value& node) {
    if (pages_.empty()) return nullptr;
    const std::uint64_t offset = offset_of(node);
    std::unique_ptr<Page>& page = pages_[offset / kPerPage];
    if (!page) {
      if (!charge(sizeof(Page))) return nullptr;
      page = std::make_unique<Page>();
    }
    return &(*page)[offset % kPerPage];
  }

 private:
  static constexpr std::uint64_t kPerPage = 32;
  using Page = std::array<Size, kPerPage>;

  bool charge(std::uint64_t bytes) {
    if (!budget_.charge(bytes)) return false;
    charged_ += bytes;
    return true;
  }

  Budget& budget_;
  std::uint64_t charged_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

/// Names hold nothing.
bool holds(const Value& value) {
  return is_node(value) && !value.is(Tag::kGlobal);
}

/// Nodes of a stored graph hold those before them, so that a model of some layers unfolds to any number.
/// torch compares them by identity (torch/fx/node.py), so nothing gets through them.
bool is_graph_part(const Value& value) {
  return value.is(Tag::kObject) && value.object().callable.is(Tag::kGlobal) &&
         value.object().callable.global().module.starts_with("torch.fx.");
}

class Measure {
 public:
  Measure(const Document& document, Budget& budget) : table_(document.bytes().size(), budget) {}

  /// Depth first, so that what a node holds is measured before it is. False when the budget has run out.
  bool run(const Value& root) {
    push(root);
    while (paid_ && !stack_.empty()) {
      const Value node = stack_.back();
      Size& size = *table_.at(node);  // there since it was pushed
      if (size.progress == Progress::kUnseen) {
        size.progress = Progress::kOpen;
        visit_children(node, [&](const Value& child) { push(child); });
        continue;
      }
      stack_.pop_back();
      if (size.progress == Progress::kOpen) finish(node, size);
    }
    return paid_;
  }

  const Oversize& result() const { return result_; }

 private:
  void push(const Value& value) {
    if (!holds(value)) return;
    const Size* size = table_.at(value);
    paid_ = paid_ && size != nullptr;
    if (paid_ && size->progress == Progress::kUnseen) stack_.push_back(value);
  }

  void finish(const Value& node, Size& size) {
    std::uint64_t values = 1;
    std::uint16_t levels = 0;
    visit_children(node, [&](const Value& child) {
      const Size* held = holds(child) ? table_.at(child) : nullptr;
      // One that is still open holds this node: the way around ends here.
      const bool known = held != nullptr && held->progress == Progress::kDone;
      values = std::min<std::uint64_t>(values + (known && !is_graph_part(child) ? held->values : 1),
                                       kMostUnfolded + 1);
      if (known) levels = std::max(levels, held->levels);
    });
    if (levels <= kMostLevels) ++levels;
    size = {static_cast<std::uint32_t>(values), levels, Progress::kDone};
    if (values > kMostUnfolded && !result_.unfolds) result_.unfolds = offset_of(node);
    if (levels > kMostLevels && !result_.nested) result_.nested = offset_of(node);
  }

  SizeTable table_;
  std::vector<Value> stack_;
  bool paid_ = true;
  Oversize result_;
};

}  // namespace

std::optional<Oversize> measure(const Document& document, Budget& budget) {
  Measure measured(document, budget);
  bool complete = measured.run(document.root());
  for (const Value& call : document.calls()) complete = complete && measured.run(call);
  if (!complete) return std::nullopt;
  return measured.result();
}

}  // namespace cachetool::pickle
