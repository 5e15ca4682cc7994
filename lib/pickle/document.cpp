#include "pickle/document.h"

#include "pickle/arena.h"
#include "pickle/machine.h"

namespace cachetool::pickle {

Document::Document() = default;
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Expected<Document> Machine::decode(Document document, Budget& budget) {
  Machine machine(document, budget);
  Status status = machine.run();
  document.arena_->seal();
  if (status) return document;
  machine.account_.release(document.arena_->charged());
  return tl::unexpected<Error>(std::move(status.error()));
}

Expected<Document> parse(std::string_view bytes, Budget& budget) {
  Document document;
  document.bytes_ = bytes;
  return Machine::decode(std::move(document), budget);
}

Expected<Document> parse_owned(std::string bytes, Budget& budget) {
  Document document;
  document.owned_ = std::make_unique<std::string>(std::move(bytes));
  document.bytes_ = *document.owned_;
  return Machine::decode(std::move(document), budget);
}

std::string_view deviation_name(Deviation::Kind kind) {
  switch (kind) {
    case Deviation::Kind::kSecondProto:
      return "second-proto";
    case Deviation::Kind::kNestedFrame:
      return "nested-frame";
    case Deviation::Kind::kArgumentAcrossFrame:
      return "argument-across-frame";
    case Deviation::Kind::kFrameBeyondEnd:
      return "frame-beyond-end";
    case Deviation::Kind::kStackLeftovers:
      return "stack-leftovers";
    case Deviation::Kind::kSparsePut:
      return "sparse-put";
    case Deviation::Kind::kMissingProto:
      return "missing-proto";
    case Deviation::Kind::kDroppedCall:
      return "dropped-call";
    case Deviation::Kind::kForeignTarget:
      return "foreign-target";
    case Deviation::Kind::kTrailingBytes:
      return "trailing-bytes";
  }
  return "unknown";
}

}  // namespace cachetool::pickle
