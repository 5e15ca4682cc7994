#include "pickle/document.h"

#include "pickle/arena.h"
#include "pickle/machine.h"

namespace cachetool::pickle {

Document::Document() = default;
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Status Machine::fill(Document& document, Budget& budget) {
  Machine machine(document, budget);
  Status status = machine.run();
  document.arena_->seal();
  return status;
}

Expected<Document> Document::decoded(Document document, Budget& budget) {
  Status status = Machine::fill(document, budget);
  if (status) return document;
  budget.release(document.arena_->charged());
  return tl::unexpected<Error>(std::move(status.error()));
}

Expected<Document> parse(std::string_view bytes, Budget& budget) {
  Document document;
  document.bytes_ = bytes;
  return Document::decoded(std::move(document), budget);
}

Expected<Document> parse_owned(std::string bytes, Budget& budget) {
  Document document;
  document.owned_ = std::make_unique<std::string>(std::move(bytes));
  document.bytes_ = *document.owned_;
  return Document::decoded(std::move(document), budget);
}

PartialDocument parse_partly(std::string_view bytes, Budget& budget) {
  PartialDocument result;
  result.document.bytes_ = bytes;
  Status status = Machine::fill(result.document, budget);
  if (!status) result.error = std::move(status.error());
  return result;
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
