#include "torch/saved_tensors.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "pickle/children.h"
#include "pickle/node_set.h"
#include "pickle/policy_nested.h"
#include "torch/saved_values.h"

namespace cachetool::torch {
namespace {

using pickle::Document;
using pickle::Tag;
using pickle::Value;

// ("storage", class, key, location, number of elements, view or None)
struct StorageId {
  std::string_view dtype;  // empty: bytes
  std::string_view key;
  std::string_view location;
  std::uint64_t bytes = 0;
};

Expected<StorageId> storage_id(const Value& id) {
  if (!pickle::is_storage_id(id)) return fail(ErrorCode::kMalformed, "a persistent id names no storage");
  const auto parts = pickle::items_of(id);
  const auto dtype = storage_class_dtype(parts[1].global());
  if (!dtype || parts[4].as_int() < 0) return fail(ErrorCode::kMalformed, "a persistent id names no storage");
  if (parts.size() > 5 && !parts[5].is_none())
    return fail(ErrorCode::kUnsupported, "a storage is a view of another one");
  StorageId result{*dtype, parts[2].bytes(), parts[3].bytes(), 0};
  const std::uint64_t element = dtype->empty() ? 1 : dtype_size(*dtype);
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(parts[4].as_int()), element, &result.bytes))
    return fail(ErrorCode::kMalformed, "a storage is larger than any can be");
  return result;
}

// Storages by key. A key may be named many times, also with another class: the bytes stay the same.
class Storages final : public StorageProvider {
 public:
  Expected<StorageView> storage(const pickle::PersistentNode& node) const override {
    const auto id = storage_id(node.id);
    if (!id) return tl::unexpected(id.error());
    const auto found = by_key_.find(id->key);
    if (found == by_key_.end())
      return fail(ErrorCode::kMalformed,
                  fmt::format("storage '{}' isn't there", escape_for_terminal(id->key)));
    if (found->second.size() != id->bytes)
      return fail(ErrorCode::kMalformed,
                  fmt::format("storage '{}' has {} bytes where {} were said", escape_for_terminal(id->key),
                              found->second.size(), id->bytes));
    StorageView view;
    view.dtype = id->dtype;
    view.location = id->location;
    view.bytes = found->second;
    return view;
  }

  bool add(std::string_view key, std::string_view bytes) { return by_key_.try_emplace(key, bytes).second; }

 private:
  std::unordered_map<std::string_view, std::string_view> by_key_;
};

template <class T>
tl::unexpected<Error> at(tl::expected<T, Error>& failed, std::uint64_t base, std::string_view where) {
  Error error = std::move(failed.error());
  if (!where.empty()) error.message = fmt::format("{}: {}", where, error.message);
  if (error.offset) *error.offset += base;
  return tl::unexpected<Error>(std::move(error));
}

// "archive/" in front of "archive/data.pkl"; nothing without such a member.
std::optional<std::string_view> folder_of(const container::ZipContents& archive) {
  constexpr std::string_view kPickle = "data.pkl";
  for (const container::ZipContent& member : archive.members) {
    if (!member.name.ends_with(kPickle)) continue;
    const std::string_view folder = member.name.substr(0, member.name.size() - kPickle.size());
    if (folder.empty() || folder.find('/') == folder.size() - 1) return folder;
  }
  return std::nullopt;
}

Status check_archive(std::string_view name, std::string_view content) {
  if (name == "constants.pkl")
    return fail(ErrorCode::kUnsupported, "a TorchScript archive, which isn't what torch.save writes");
  if (name != "byteorder" || content == "little") return {};
  if (content == "big") return fail(ErrorCode::kUnsupported, "the storages are big-endian");
  return fail(ErrorCode::kMalformed, "byteorder is neither little nor big");
}

// The sizes of the storages that a legacy stream's object names: what comes first counts, as for torch.
Expected<std::unordered_map<std::string_view, StorageId>> named_storages(const Document& object,
                                                                         Budget& budget) {
  std::unordered_map<std::string_view, StorageId> all;
  pickle::NodeSet seen(object.bytes().size());
  if (!budget.charge(object.bytes().size()))
    return fail(ErrorCode::kLimitMemory, "no memory for a walk over the pickle");
  std::vector<Value> open{object.root()};
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (!pickle::is_node(value) || !seen.insert(value)) continue;
    if (value.is(Tag::kPersistent)) {
      const auto id = storage_id(value.persistent().id);
      if (!id) return tl::unexpected(id.error());
      const auto [known, added] = all.try_emplace(id->key, *id);
      if (!added && known->second.bytes != id->bytes)
        return fail(ErrorCode::kMalformed,
                    fmt::format("storage '{}' has two sizes", escape_for_terminal(id->key)));
    }
    pickle::visit_children(value, [&](const Value& child) { open.push_back(child); });
  }
  return all;
}

// The storages behind the five pickles: for each key a count of elements and these.
Status find_storages(std::string_view rest, std::uint64_t base, const Document& object, const Document& keys,
                     Budget& budget, Storages& storages) {
  const auto named = named_storages(object, budget);
  if (!named) return tl::unexpected(named.error());
  if (!keys.root().is(Tag::kList))
    return fail(ErrorCode::kMalformed, "the keys of the storages are no list", {}, base);
  const std::uint64_t end = base + rest.size();
  for (const Value& key : keys.root().list().items()) {
    const auto found = key.is(Tag::kString) ? named->find(key.bytes()) : named->end();
    if (found == named->end())
      return fail(ErrorCode::kMalformed, "a storage follows that no value names", {}, end - rest.size());
    const StorageId& id = found->second;
    if (rest.size() < sizeof(std::uint64_t))
      return fail(ErrorCode::kTruncated, "the file ends before a storage", {}, end);
    std::uint64_t count = 0;
    for (std::size_t i = sizeof(count); i-- > 0;) count = count << 8 | static_cast<unsigned char>(rest[i]);
    rest.remove_prefix(sizeof(count));
    const std::uint64_t element = id.dtype.empty() ? 1 : dtype_size(id.dtype);
    if (count != id.bytes / element)
      return fail(ErrorCode::kMalformed, "a storage has another length than its value says", {},
                  end - rest.size());
    if (id.bytes > rest.size()) return fail(ErrorCode::kTruncated, "the file ends inside a storage", {}, end);
    if (!storages.add(id.key, rest.substr(0, id.bytes)))
      return fail(ErrorCode::kMalformed, "a storage comes twice", {}, end - rest.size());
    rest.remove_prefix(id.bytes);
  }
  if (!rest.empty())
    return fail(ErrorCode::kMalformed, "bytes follow the last storage", {}, end - rest.size());
  return {};
}

// The pickle at the front of `bytes`, alone: a document that saw the storages too would be walked at their
// size.
Expected<Document> parse_front(std::string_view bytes, Budget& budget) {
  std::uint64_t end = 0;
  {
    const auto whole = pickle::parse(bytes, budget);
    if (!whole) return tl::unexpected(whole.error());
    end = whole->end();
  }
  return pickle::parse(bytes.substr(0, end), budget);
}

// What the pickles in front of the object must be.
Status check_legacy(std::size_t position, const Value& value) {
  constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
  constexpr std::int64_t kProtocol = 1001;
  if (position == 0 && !(value.is(Tag::kBigInt) && value.bytes() == kMagic))
    return fail(ErrorCode::kMalformed, "torch.save's magic number is missing");
  if (position == 1 && !(value.is(Tag::kInt) && value.as_int() == kProtocol))
    return fail(ErrorCode::kUnsupported, "another protocol version of torch.save than 1001");
  if (position != 2) return {};
  if (!value.is(Tag::kDict)) return fail(ErrorCode::kMalformed, "the system that wrote it is no dict");
  const Value* little = pickle::find(value.dict(), "little_endian");
  if (little != nullptr && little->is(Tag::kBool) && !little->as_bool())
    return fail(ErrorCode::kUnsupported, "the storages are big-endian");
  return {};
}

}  // namespace

bool is_saved_archive(const container::ZipContents& archive) {
  return folder_of(archive).has_value();
}

Expected<SavedTensors> read_saved_archive(const container::ZipContents& archive, Budget& budget) {
  const auto folder = folder_of(archive);
  if (!folder) return fail(ErrorCode::kMalformed, "the archive has no data.pkl");
  Storages storages;
  const container::ZipContent* data = nullptr;
  for (const container::ZipContent& member : archive.members) {
    if (!member.name.starts_with(*folder)) continue;
    const std::string_view name = member.name.substr(folder->size());
    constexpr std::string_view kData = "data/";
    if (name == "data.pkl") data = &member;
    if (name.starts_with(kData)) storages.add(name.substr(kData.size()), member.bytes);
    if (const auto done = check_archive(name, member.bytes); !done) return tl::unexpected(done.error());
  }
  SavedTensors saved;
  auto document = pickle::parse(data->bytes, budget);
  if (!document) return at(document, 0, data->name);
  if (auto done = refuse_code(*document, budget); !done) return at(done, 0, data->name);
  auto values = saved_values(*document, budget, storages);
  if (!values) return at(values, 0, data->name);
  saved.values = std::move(*values);
  saved.documents.push_back(std::move(*document));
  return saved;
}

bool starts_as_legacy_save(std::string_view bytes) {
  return pickle::payload_of(bytes) == pickle::Payload::kLegacyStream;
}

Expected<SavedTensors> read_legacy_save(std::string_view bytes, Budget& budget) {
  SavedTensors saved;
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < pickle::kLegacyPickles; ++i) {
    auto document = parse_front(bytes.substr(base), budget);
    if (!document) return at(document, base, {});
    if (auto done = refuse_code(*document, budget); !done) return at(done, base, {});
    if (const auto done = check_legacy(i, document->root()); !done) {
      Error error = done.error();
      error.offset = base;
      return tl::unexpected<Error>(std::move(error));
    }
    base += document->end();
    saved.documents.push_back(std::move(*document));
  }
  Storages storages;
  const Document& object = saved.documents[pickle::kLegacyObject];
  const Document& keys = saved.documents[pickle::kLegacyPickles - 1];
  if (const auto done = find_storages(bytes.substr(base), base, object, keys, budget, storages); !done)
    return tl::unexpected(done.error());
  auto values = saved_values(object, budget, storages);
  if (!values) return tl::unexpected(values.error());
  saved.values = std::move(*values);
  return saved;
}

}  // namespace cachetool::torch
