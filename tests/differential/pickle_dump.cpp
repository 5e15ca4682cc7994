// Decodes pickles for compare.py: reads length-prefixed pickles from standard input until it ends and answers
// each with a length-prefixed line of tokens (see `Writer`), or `E <code> <offset> <message>`.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "pickle/children.h"
#include "pickle/document.h"
#include "pickle/numbers.h"

namespace {

using namespace cachetool;
using namespace cachetool::pickle;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// One token for a scalar; compare.py writes the same.
std::string scalar(const Value& value) {
  switch (value.tag()) {
    case Tag::kNone:
      return "N";
    case Tag::kBool:
      return value.as_bool() ? "T" : "F";
    case Tag::kInt:
      return fmt::format("i{}", value.as_int());
    case Tag::kBigInt:
      return "I" + hex(value.bytes());
    case Tag::kFloat:
      return value.as_float() != value.as_float()
                 ? "fnan"
                 : fmt::format("f{:016x}", std::bit_cast<std::uint64_t>(value.as_float()));
    case Tag::kString:
      return "s" + hex(value.bytes());
    case Tag::kBytes:
      return "b" + hex(value.bytes());
    case Tag::kByteArray:
      return "a" + hex(value.bytes());
    case Tag::kBuffer:
      return "m" + hex(value.bytes());
    case Tag::kGlobal:
      return "g" + hex(value.global().module) + "." + hex(value.global().name);
    default:
      return {};
  }
}

/// Members of sets have no order, so they are written as a sorted list of these, without identities.
std::string member(const Value& value, int depth) {
  if (depth > 20) return "...";
  if (value.is(Tag::kTuple) || value.is(Tag::kFrozenSet)) {
    std::vector<std::string> parts;
    for (const Value& item : items_of(value)) parts.push_back(member(item, depth + 1));
    if (value.is(Tag::kFrozenSet)) std::sort(parts.begin(), parts.end());
    return fmt::format("{}({})", value.is(Tag::kTuple) ? "t" : "z", fmt::join(parts, ","));
  }
  const std::string token = scalar(value);
  return token.empty() ? (value.is(Tag::kPersistent) ? "P" : "O") : token;
}

/// The graph below a value in prefix notation; a node that was written before is `R<its number>`.
class Writer {
 public:
  std::string write(const Value& root) {
    open_.push_back(root);
    while (!open_.empty() && tokens_.size() < kMaxTokens) {
      const Value value = open_.back();
      open_.pop_back();
      visit(value);
    }
    return fmt::format("{}", fmt::join(tokens_, " "));
  }

 private:
  static constexpr std::size_t kMaxTokens = 400'000;

  void visit(const Value& value) {
    const std::string token = scalar(value);
    if (!token.empty()) {
      tokens_.push_back(token);
      return;
    }
    if (value.is(Tag::kFrozenSet) || value.is(Tag::kSet)) {
      std::vector<std::string> parts;
      for (const Value& item : items_of(value)) parts.push_back(member(item, 0));
      std::sort(parts.begin(), parts.end());
      tokens_.push_back(
          fmt::format("{}{}({})", value.is(Tag::kSet) ? "S" : "z", parts.size(), fmt::join(parts, ",")));
      return;
    }
    const auto [at, added] = numbers_.emplace(value.address(), numbers_.size());
    if (!added) {
      tokens_.push_back(fmt::format("R{}", at->second));
      return;
    }
    std::vector<Value> children;
    visit_children(value, [&](const Value& child) { children.push_back(child); });
    switch (value.tag()) {
      case Tag::kList:
        tokens_.push_back(fmt::format("L{}", children.size()));
        break;
      case Tag::kTuple:
        tokens_.push_back(fmt::format("t{}", children.size()));
        break;
      case Tag::kDict:
        tokens_.push_back(fmt::format("d{}", children.size() / 2));
        break;
      case Tag::kPersistent:
        tokens_.push_back("P");
        break;
      default: {
        const ObjectNode& object = value.object();
        tokens_.push_back(
            fmt::format("O{},{},{}", object.states.size, object.appended.size, object.items.size));
        if (object.kwargs.is(Tag::kDict)) {  // Python makes a new dict of them
          tokens_.push_back(fmt::format("k{}", object.kwargs.dict().size));
          children.erase(children.begin() + 2);
          std::vector<Value> pairs;
          for (const Pair& pair : object.kwargs.dict().pairs())
            pairs.insert(pairs.end(), {pair.key, pair.value});
          children.insert(children.begin() + 2, pairs.begin(), pairs.end());
        } else {
          tokens_.push_back("k0");
          children.erase(children.begin() + 2);
        }
        // Neither does it keep the tuple of arguments.
        const auto args = object.args.tuple().items();
        tokens_.push_back(fmt::format("n{}", args.size()));
        children.erase(children.begin() + 1);
        children.insert(children.begin() + 1, args.begin(), args.end());
      }
    }
    open_.insert(open_.end(), children.rbegin(), children.rend());
  }

  std::unordered_map<const void*, std::size_t> numbers_;
  std::vector<Value> open_;
  std::vector<std::string> tokens_;
};

std::string answer(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  const auto document = parse(bytes, budget);
  if (!document) {
    const Error& error = document.error();
    return fmt::format("E {} {} {}", code_name(error.code), error.offset.value_or(0), error.message);
  }
  std::map<std::string, std::pair<std::size_t, std::size_t>> mutations;
  std::size_t calls = 0;
  for (const Value& call : document->calls()) {
    const ObjectNode& object = call.object();
    if (object.construction != Construction::kMutation) {
      ++calls;
    } else if (object.callable.is(Tag::kGlobal)) {
      auto& [states, appended] = mutations[scalar(object.callable)];
      states += object.states.size;
      appended += object.appended.size;
    }
  }
  std::string text = fmt::format("V {} {} {}", document->end(), calls, Writer().write(document->root()));
  for (const auto& [global, counts] : mutations) {
    if (counts.first + counts.second > 0)
      text += fmt::format(" |{} {} {}", global, counts.first, counts.second);
  }
  text += " #";
  for (const Deviation& deviation : document->deviations())
    text += fmt::format(" {}", deviation_name(deviation.kind));
  return text;
}

bool read_exactly(char* to, std::size_t size) {
  return std::fread(to, 1, size, stdin) == size;
}

}  // namespace

int main() {
  std::uint32_t size = 0;
  while (read_exactly(reinterpret_cast<char*>(&size), sizeof size)) {
    std::string bytes(size, '\0');
    if (!read_exactly(bytes.data(), size)) return 1;
    const std::string text = answer(bytes);
    const auto length = static_cast<std::uint32_t>(text.size());
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
