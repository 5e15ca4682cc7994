// The pickle machine on any bytes: it ends, stays within its budget, and what it made can be walked and
// dumped.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "pickle/children.h"
#include "pickle/document.h"
#include "pickle/dump.h"
#include "pickle/node_set.h"

namespace {

using namespace cachetool;
using namespace cachetool::pickle;

class NoSink final : public OutputSink {
 public:
  void write(std::string_view bytes) override { total_ += bytes.size(); }

 private:
  std::size_t total_ = 0;
};

/// Reads every byte that hangs below the root, so that a sanitizer sees a wild pointer.
std::size_t walk(const Document& document) {
  NodeSet seen(document.bytes().size());
  std::vector<Value> open{document.root()};
  std::size_t sum = 0;
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (is_node(value)) {
      if (offset_of(value) > document.end()) std::abort();
      if (!seen.insert(value)) continue;
    } else if (value.is(Tag::kString) || value.is(Tag::kBytes) || value.is(Tag::kBigInt)) {
      for (const char c : value.bytes()) sum += static_cast<unsigned char>(c);
    }
    visit_children(value, [&](const Value& child) { open.push_back(child); });
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Budget budget = Budget::for_input(size);
  auto document = parse(bytes, budget);
  if (budget.peak() > budget.limit()) std::abort();
  if (!document) {
    if (budget.used() != 0 || !document.error().offset || *document.error().offset > size) std::abort();
    return 0;
  }
  Document moved = std::move(*document);
  walk(moved);
  NoSink sink;
  dump(moved, sink, {.max_string = 20, .max_lines = 2000});
  Budget small(size / 2);
  const auto squeezed = parse(bytes, small);
  if (small.peak() > small.limit() || (!squeezed && squeezed.error().code == ErrorCode::kMalformed))
    std::abort();
  return 0;
}
