#include "verify/scan/pickle_scan.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "pickle/policy.h"
#include "pickle/policy_nested.h"
#include "pickle/sym_expr.h"
#include "verify/scan/content.h"
#include "verify/scan/pickle_contents.h"

namespace cachetool::verify {
namespace {

using pickle::Deviation;
using pickle::Document;

constexpr std::size_t kShownText = 60;
/// Of one pickle, before the worst are chosen.
constexpr std::uint32_t kJudgedFindings = 10'000;

enum class Trailing : bool { kMalformed, kExpected };

ScanVerdict verdict_of(pickle::Verdict verdict) {
  return verdict == pickle::Verdict::kDangerous ? ScanVerdict::kDangerous : ScanVerdict::kUnknown;
}

bool names_danger(const Document& document) {
  const auto globals = document.globals();
  return std::any_of(globals.begin(), globals.end(), [](const pickle::Value& value) {
    return pickle::classify_global(value.global().module, value.global().name) == pickle::Verdict::kDangerous;
  });
}

bool calls_anything(const Document& document) {
  return !document.calls().empty() || names_danger(document);
}

std::string shown(std::string_view text) {
  return text.size() <= kShownText ? std::string(text) : std::string(text.substr(0, kShownText)) + "…";
}

/// Where `inner` lies in `outer`; nowhere when an escape made it to be decoded to another place.
std::optional<std::uint64_t> offset_in(std::string_view outer, std::string_view inner) {
  const std::less_equal<const char*> not_after;
  const bool inside = not_after(outer.data(), inner.data()) &&
                      not_after(inner.data() + inner.size(), outer.data() + outer.size());
  if (!inside) return std::nullopt;
  return static_cast<std::uint64_t>(inner.data() - outer.data());
}

void check_expression(ScanState& state, const Piece& piece, const ExpressionText& expression) {
  ++state.scan().expressions;
  const auto inside = offset_in(piece.bytes, expression.text);
  const std::uint64_t begin = inside.value_or(expression.holder);
  const auto find = [&](std::string reason, std::uint64_t offset) {
    state.find(piece, ScanVerdict::kDangerous, ScanSubject::kExpression, std::string(expression.field),
               std::move(reason), offset);
  };
  if (expression.is_other)
    return find("isn't text: torch would evaluate it all the same and never stores it", begin);
  const auto parsed = pickle::SymExpr::parse(expression.text);
  if (parsed) return;
  const Error& error = parsed.error();
  find(fmt::format("is evaluated by torch and is no expression of sizes: {} in \"{}\"", error.message,
                   shown(expression.text)),
       begin + (inside ? error.offset.value_or(0) : 0));
}

void add_nested(ScanState& state, const Piece& piece, const std::shared_ptr<const OpenPickle>& open,
                NestedBytes nested) {
  const auto inside = offset_in(piece.bytes, nested.bytes);
  const std::uint64_t at = piece.base + inside.value_or(nested.holder);
  if (!nested.decoded.empty()) {
    state.expanded(std::min<std::uint64_t>(nested.decoded.size(), state.expansion_left()));
    Piece decoded = state.unpacked(piece, std::move(nested.decoded), fmt::format("text@{}", at));
    decoded.origin = Origin::kValue;
    return state.add(std::move(decoded));
  }
  Piece inner;
  inner.bytes = nested.bytes;
  inner.keeps = open;
  inner.budget = piece.budget;
  inner.place = inside ? piece.place : deeper(piece.place, fmt::format("text@{}", at));
  inner.base = inside ? at : 0;
  inner.depth = piece.depth + 1;
  inner.origin = nested.origin;
  inner.expect = nested.expect;
  inner.source = pickle::PickleSource::kInsidePickle;
  state.add(std::move(inner));
}

void note_findings(ScanState& state, const Piece& piece, const pickle::PolicyReport& report) {
  for (const pickle::PolicyFinding& finding : report.findings) {
    if (finding.subject == "limit") {
      state.unscanned(piece, finding.reason, piece.bytes.size());
    } else {
      state.find(piece, verdict_of(finding.verdict), ScanSubject::kName, finding.subject, finding.reason,
                 finding.offset);
    }
  }
  if (report.total_findings == report.findings.size()) return;
  state.scan().total_findings += report.total_findings - report.findings.size();
  state.scan().verdict = std::max(state.scan().verdict, verdict_of(report.verdict));
}

void note_deviations(ScanState& state, const Piece& piece, const Document& document, Trailing trailing) {
  for (const Deviation& deviation : document.deviations()) {
    if (deviation.kind == Deviation::Kind::kTrailingBytes && trailing == Trailing::kExpected) continue;
    state.find(piece, ScanVerdict::kMalformed, ScanSubject::kPickle,
               std::string(pickle::deviation_name(deviation.kind)), deviation.detail, deviation.offset);
  }
}

void note_error(ScanState& state, const Piece& piece, const Error& error) {
  const std::uint64_t offset = error.offset.value_or(0);
  if (error.code == ErrorCode::kLimitMemory && state.limits().max_memory != 0)
    return state.unscanned(piece, error.message,
                           piece.bytes.size() - std::min<std::uint64_t>(offset, piece.bytes.size()));
  state.find(piece, ScanVerdict::kMalformed, ScanSubject::kPickle, "broken", error.message, offset);
}

/// Judges a pickle that was decoded, whole or not. What it holds is `piece`'s.
void judge(ScanState& state, const Piece& piece, const std::shared_ptr<const OpenPickle>& open,
           Trailing trailing) {
  const Document& document = open->document();
  ++state.scan().pickles;
  state.scan().verdict = std::max(state.scan().verdict, ScanVerdict::kData);
  if (open->error()) note_error(state, piece, *open->error());
  pickle::PolicyLimits limits;
  limits.nested = pickle::NestedPickles::kLeft;
  limits.source = piece.source;
  limits.max_findings = kJudgedFindings;
  note_findings(state, piece, pickle::judge(document, *piece.budget, limits));
  note_deviations(state, piece, document, trailing);
  PickleContents contents = contents_of(document, *piece.budget);
  if (!contents.complete)
    state.unscanned(piece, "the memory for looking into it is used up", piece.bytes.size());
  for (const ExpressionText& expression : contents.expressions) check_expression(state, piece, expression);
  for (const CodeField& code : contents.code) state.code(code.what, code.bytes);
  for (NestedBytes& nested : contents.nested) add_nested(state, piece, open, std::move(nested));
}

/// What follows a pickle may be another one, or anything else.
void add_rest(ScanState& state, const Piece& piece, std::string_view rest) {
  if (rest.empty()) return;
  Piece behind = ScanState::within(piece, rest);
  behind.origin = Origin::kValue;
  state.add(std::move(behind));
}

}  // namespace

bool scan_pickle(ScanState& state, const Piece& piece) {
  const auto open = std::make_shared<const OpenPickle>(piece.bytes, piece);
  const Document& document = open->document();
  // PROTO with FRAME behind it is no accident.
  const bool framed = piece.bytes.size() > 2 && piece.bytes[1] >= 4 && piece.bytes[2] == '\x95';
  const bool certain =
      piece.expect == Expect::kPickle || piece.origin == Origin::kFile || framed || !open->error();
  if (!certain && document.globals().empty() && document.calls().empty()) return false;
  judge(state, piece, open, Trailing::kMalformed);
  if (!open->error()) add_rest(state, piece, piece.bytes.substr(document.end()));
  return true;
}

bool scan_text_pickle(ScanState& state, const Piece& piece) {
  const auto open = std::make_shared<const OpenPickle>(piece.bytes, piece);
  const Document& document = open->document();
  const bool acts = calls_anything(document);
  const bool whole = !open->error() && (document.trailing_bytes() == 0 || !document.globals().empty());
  if (!acts && !whole) return false;
  judge(state, piece, open, Trailing::kMalformed);
  if (!open->error()) add_rest(state, piece, piece.bytes.substr(document.end()));
  return true;
}

void scan_torch_stream(ScanState& state, const Piece& piece) {
  std::string_view rest = piece.bytes;
  std::vector<std::shared_ptr<const OpenPickle>> opened;
  for (std::size_t i = 0; i < pickle::kLegacyPickles; ++i) {
    Piece part = ScanState::within(piece, rest);
    part.depth = piece.depth;
    part.source = pickle::PickleSource::kTorchStream;
    opened.push_back(std::make_shared<const OpenPickle>(rest, part));
    judge(state, part, opened.back(), Trailing::kExpected);
    if (opened.back()->error()) return;
    rest.remove_prefix(opened.back()->document().end());
  }
  const Document& object = opened[pickle::kLegacyObject]->document();
  const bool applied = piece.expect == Expect::kTorchStream;
  if (applied && !object.root().is(pickle::Tag::kPersistent)) {
    state.find(piece, ScanVerdict::kUnknown, ScanSubject::kPickle, "torch.save stream",
               "holds something else than a tensor's storage", 0);
  }
  std::vector<std::string_view> storages;
  if (!pickle::find_storages(rest, object, opened.back()->document(), storages)) {
    state.find(piece, applied ? ScanVerdict::kUnknown : ScanVerdict::kMalformed, ScanSubject::kPickle,
               "torch.save stream", "has storages that aren't all there", piece.bytes.size() - rest.size());
  }
  for (const std::string_view storage : storages) add_rest(state, piece, storage);
  if (storages.empty()) {
    add_rest(state, piece, rest);
  } else {
    add_rest(state, piece,
             piece.bytes.substr(static_cast<std::size_t>(storages.back().data() + storages.back().size() -
                                                         piece.bytes.data())));
  }
}

}  // namespace cachetool::verify
