// Readers of foreign bytes; the first byte chooses one.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "container/cubin.h"
#include "container/elf.h"
#include "container/elf_dynamic.h"
#include "container/frame.h"
#include "container/json.h"
#include "container/loader_cache.h"
#include "container/python_literal.h"
#include "container/x86_code.h"
#include "container/zip.h"

namespace {

using namespace cachetool;
using namespace cachetool::container;

/// Visits every node once, as a reader of the tree would.
std::size_t count(const Tree& tree) {
  std::vector<Node> open{tree.root()};
  std::size_t nodes = 0;
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    ++nodes;
    static_cast<void>(node.text());
    if (node.is(NodeKind::kFloat)) static_cast<void>(node.as_float());
    if (const auto first = node.first()) open.push_back(*first);
    if (const auto next = node.next()) open.push_back(*next);
  }
  return nodes;
}

void json(std::string_view text) {
  TreeLimits limits;
  limits.max_nodes = 10'000;
  for (const NonFinite mode : {NonFinite::kRejected, NonFinite::kAllowed}) {
    const auto tree = read_json(text, limits, mode);
    if (tree && count(*tree) > limits.max_nodes) std::abort();
  }
}

void literal(std::string_view text) {
  TreeLimits limits;
  limits.max_nodes = 10'000;
  const auto tree = read_python_literal(text, limits);
  if (tree && count(*tree) > limits.max_nodes) std::abort();
  const auto string = read_python_string(text, 0);
  if (string && (string->end > text.size() || string->text.size() > text.size() * 4)) std::abort();
}

void elf(std::string_view bytes) {
  const auto file = read_elf(bytes);
  if (file && file->whole && file->expected_size > bytes.size()) std::abort();
  const auto lies_in = [&](std::string_view part) {
    return part.empty() ||
           (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
  };
  if (const auto dynamic = read_elf_dynamic(bytes)) {
    for (const ImportedSymbol& symbol : dynamic->imports)
      if (!lies_in(symbol.name) || !lies_in(symbol.version) || !lies_in(symbol.library)) std::abort();
    for (const ExportedSymbol& symbol : dynamic->exports)
      if (!lies_in(symbol.name) || !lies_in(symbol.version)) std::abort();
  }
  if (const auto cache = read_loader_cache(bytes)) {
    for (const LoaderCacheEntry& entry : *cache)
      if (!lies_in(entry.soname) || !lies_in(entry.path)) std::abort();
  }
  if (const auto cubin = read_cubin(bytes)) {
    for (const CubinKernel& kernel : cubin->kernels)
      if (!lies_in(kernel.name) || cubin->find(kernel.name) == nullptr) std::abort();
  }
  if (const auto code = read_x86_code(bytes)) {
    for (const FeatureUse& use : code->uses)
      if (use.offset >= bytes.size() || !lies_in(use.function)) std::abort();
    if (code->undecoded_bytes > bytes.size()) std::abort();
  }
}

/// Also with the right CRC, which a fuzzer would hardly find.
void frame(std::string_view bytes) {
  std::string sealed(4, '\0');
  const std::uint32_t crc = crc32(bytes);
  for (int i = 0; i < 4; ++i)
    sealed[static_cast<std::size_t>(i)] = static_cast<char>((crc >> (24 - 8 * i)) & 0xff);
  sealed += bytes;
  for (const std::string_view input : {bytes, std::string_view(sealed)}) {
    if (const auto cache = read_mega_cache(input)) {
      for (const auto& group : cache->groups) {
        for (const auto& item : group.items) {
          if (item.offset + item.content.size() > input.size()) std::abort();
        }
      }
    }
    static_cast<void>(read_standalone(input));
  }
}

void zip(std::string_view bytes) {
  ZipLimits limits;
  limits.max_members = 100;
  limits.max_member_bytes = 1 << 20;
  const auto members = list_zip(bytes, limits);
  if (!members) return;
  for (const ZipMember& member : *members) {
    if (member.offset && *member.offset + member.size > bytes.size()) std::abort();
  }
  if (!members->empty()) static_cast<void>(read_zip_member(bytes, members->front().name, limits));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      json(bytes);
      break;
    case 1:
      literal(bytes);
      break;
    case 2:
      elf(bytes);
      break;
    case 3:
      frame(bytes);
      break;
    default:
      zip(bytes);
  }
  return 0;
}
