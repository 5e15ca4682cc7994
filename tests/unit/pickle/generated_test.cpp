// Valid pickles of random values decode to those values and stay under the default budget.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <memory>

#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

/// A value as the test knows it.
struct Model {
  Tag tag = Tag::kNone;
  std::int64_t number = 0;
  std::string text;
  std::vector<Model> items;  ///< of a dict: keys (distinct integers) and values in turn
};

Model make_model(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 3 ? 6 : 9);
  Model model;
  switch (kind) {
    case 0:
      return model;
    case 1:
      model.tag = Tag::kBool;
      model.number = *rc::gen::inRange(0, 2);
      return model;
    case 2:
      model.tag = Tag::kInt;
      model.number = *rc::gen::arbitrary<std::int64_t>();
      return model;
    case 3:
      model.tag = Tag::kFloat;
      model.number = std::bit_cast<std::int64_t>(static_cast<double>(*rc::gen::arbitrary<int>()) / 4);
      return model;
    case 4:
      model.tag = Tag::kString;
      model.text = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
      return model;
    case 5:
      model.tag = Tag::kBytes;
      model.text = *rc::gen::arbitrary<std::string>();
      return model;
    case 6:
      model.tag = Tag::kList;
      break;
    case 7:
      model.tag = Tag::kTuple;
      break;
    default:
      model.tag = Tag::kDict;
      break;
  }
  const int count = *rc::gen::inRange(0, 14);
  for (int i = 0; i < count; ++i) {
    if (model.tag == Tag::kDict) {
      Model key;
      key.tag = Tag::kInt;
      key.number = i * 1000;
      model.items.push_back(key);
    }
    model.items.push_back(make_model(depth + 1));
  }
  return model;
}

/// The pickle of `model`, by any of the ways that the protocols have.
void write(const Model& model, std::string& out) {
  const bool other_way = *rc::gen::inRange(0, 2) == 1;
  const auto write_items = [&] {
    for (const Model& item : model.items) write(item, out);
  };
  switch (model.tag) {
    case Tag::kBool:
      out += other_way ? (model.number ? "I01\n" : "I00\n") : (model.number ? "\x88" : "\x89");
      return;
    case Tag::kInt:
      if (other_way) {
        out += "L" + std::to_string(model.number) + "L\n";
      } else {
        out += "\x8a\x08" + little(static_cast<std::uint64_t>(model.number), 8);
      }
      return;
    case Tag::kFloat: {
      std::string bytes = little(static_cast<std::uint64_t>(model.number), 8);
      out += "G" + std::string(bytes.rbegin(), bytes.rend());
      return;
    }
    case Tag::kString:
      out += other_way ? "V" + model.text + "\n" : "X" + little(model.text.size(), 4) + model.text;
      return;
    case Tag::kBytes:
      out += "B" + little(model.text.size(), 4) + model.text;
      return;
    case Tag::kList:
      out += other_way ? "(" : "](";
      write_items();
      out += other_way ? "l" : "e";
      return;
    case Tag::kTuple:
      out += "(";
      write_items();
      out += "t";
      return;
    case Tag::kDict:
      out += other_way ? "(" : "}(";
      write_items();
      out += other_way ? "d" : "u";
      return;
    default:
      out += "N";
      return;
  }
}

bool equals(const Value& value, const Model& model) {
  if (!value.is(model.tag)) return false;
  const auto all_equal = [&](std::span<const Value> items) {
    if (items.size() != model.items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!equals(items[i], model.items[i])) return false;
    }
    return true;
  };
  switch (model.tag) {
    case Tag::kBool:
      return value.as_bool() == (model.number != 0);
    case Tag::kInt:
      return value.as_int() == model.number;
    case Tag::kFloat:
      return std::bit_cast<std::int64_t>(value.as_float()) == model.number;
    case Tag::kString:
    case Tag::kBytes:
      return value.bytes() == model.text;
    case Tag::kList:
    case Tag::kTuple:
      return all_equal(items_of(value));
    case Tag::kDict: {
      std::vector<Value> items;
      for (const Pair& pair : value.dict().pairs()) items.insert(items.end(), {pair.key, pair.value});
      return all_equal(items);
    }
    default:
      return true;
  }
}

}  // namespace

TEST_SUITE("pickle/generated") {
  TEST_CASE("valid pickles decode to what they were made from") {
    CHECK(rc::check("decode(write(m)) == m", [] {
      const Model model = make_model(0);
      std::string bytes = "\x80\x04";
      write(model, bytes);
      bytes += ".";
      const auto document = decode(bytes);
      RC_ASSERT(document.has_value());
      RC_ASSERT(document->deviations().empty());
      RC_ASSERT(equals(document->root(), model));
      RC_ASSERT(document->peak_memory() <= bytes.size() * 64 + (4 << 20));
    }));
  }
}
