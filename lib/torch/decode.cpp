#include "torch/decode.h"

#include <utility>

#include <fmt/format.h>

#include "torch/entry_readers.h"
#include "torch/plain.h"

namespace cachetool::torch {

namespace {

Expected<Decoded> decode_document(pickle::Document document, Budget& budget) {
  Decoded decoded{std::move(document), OtherEntry{}, {}};
  const pickle::Value& object = decoded.object();
  const pickle::GlobalNode* cls = class_of(object);
  if (cls == nullptr) return decoded;

  Reading reading(budget, decoded.notes);
  const Path path;
  if (is_output_code_class(*cls)) {
    decoded.entry = read_output_code(reading, path, object);
  } else if (const auto entry_class = aot_entry_class(*cls)) {
    decoded.entry = read_aot_entry(reading, path, object, *entry_class);
  } else {
    decoded.entry = OtherEntry{cls->module, cls->name};
  }
  if (reading.error()) return tl::unexpected(*reading.error());
  return decoded;
}

}  // namespace

const pickle::Value& Decoded::object() const {
  const pickle::Value& root = document.root();
  const auto items = root.is(pickle::Tag::kTuple) ? sequence_items(root) : std::nullopt;
  if (!items || items->empty()) return root;
  const pickle::GlobalNode* cls = class_of(items->front());
  return cls != nullptr && aot_entry_class(*cls) ? items->front() : root;
}

const OutputCode* Decoded::output_code() const {
  return std::get_if<OutputCode>(&entry);
}

const CompiledFxGraph* Decoded::fx_graph() const {
  const OutputCode* code = output_code();
  return code != nullptr ? std::get_if<CompiledFxGraph>(code) : nullptr;
}

const AotAutogradEntry* Decoded::aot_entry() const {
  return std::get_if<AotAutogradEntry>(&entry);
}

std::string Decoded::class_name() const {
  const pickle::GlobalNode* cls = class_of(object());
  return cls != nullptr ? fmt::format("{}.{}", cls->module, cls->name) : std::string();
}

Expected<Decoded> decode_entry(std::string_view bytes, Budget& budget) {
  auto document = pickle::parse(bytes, budget);
  if (!document) return tl::unexpected(document.error());
  return decode_document(std::move(*document), budget);
}

Expected<Decoded> decode_entry_owned(std::string bytes, Budget& budget) {
  auto document = pickle::parse_owned(std::move(bytes), budget);
  if (!document) return tl::unexpected(document.error());
  return decode_document(std::move(*document), budget);
}

}  // namespace cachetool::torch
