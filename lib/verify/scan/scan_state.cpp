#include "verify/scan/scan_state.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace cachetool::verify {
namespace {

constexpr std::size_t kMaxLabel = 200;
/// How often a byte may be looked at: honest files nest a few levels.
constexpr std::uint64_t kWorkPerByte = 32;
constexpr std::uint64_t kWorkAlways = std::uint64_t{16} << 20;

}  // namespace

std::string deeper(const std::string& place, std::string_view label) {
  std::string result = place;
  if (!result.empty()) result += '!';
  return result.append(label.substr(0, kMaxLabel));
}

void ScanState::find(const Piece& piece, ScanVerdict verdict, ScanSubject subject, std::string name,
                     std::string reason, std::uint64_t offset) {
  scan_.verdict = std::max(scan_.verdict, verdict);
  ++scan_.total_findings;
  ScanFinding finding{verdict, subject, std::move(name), std::move(reason), piece.place, piece.base + offset};
  if (scan_.findings.size() < limits_.max_findings) return scan_.findings.push_back(std::move(finding));
  // What is worst is kept, however many lesser ones come first.
  const auto mildest = std::min_element(scan_.findings.begin(), scan_.findings.end(),
                                        [](const auto& a, const auto& b) { return a.verdict < b.verdict; });
  if (mildest != scan_.findings.end() && mildest->verdict < verdict) *mildest = std::move(finding);
}

void ScanState::unscanned(const Piece& piece, std::string reason, std::uint64_t bytes) {
  scan_.verdict = std::max(scan_.verdict, ScanVerdict::kUnscanned);
  if (scan_.unscanned.size() >= limits_.max_findings) return;
  scan_.unscanned.push_back({piece.place, piece.base, bytes, std::move(reason)});
}

void ScanState::code(std::string_view what, std::uint64_t bytes) {
  const auto known = std::find_if(scan_.code.begin(), scan_.code.end(),
                                  [&](const CodeItem& item) { return item.what == what; });
  CodeItem& item = known != scan_.code.end() ? *known : scan_.code.emplace_back(CodeItem{what, 0, 0});
  ++item.count;
  item.bytes += bytes;
}

void ScanState::add(Piece piece) {
  const std::uint64_t work = (scan_.bytes + scan_.expanded_bytes) * kWorkPerByte + kWorkAlways;
  if (piece.depth > limits_.max_depth) {
    unscanned(piece, fmt::format("lies more than {} levels deep", limits_.max_depth), piece.bytes.size());
  } else if (pieces_ == limits_.max_pieces) {
    unscanned(piece, fmt::format("more than {} things in one file", limits_.max_pieces), piece.bytes.size());
    ++pieces_;
  } else if (work_ + piece.bytes.size() > work) {
    unscanned(piece, "things in this file overlap too often", piece.bytes.size());
  } else if (pieces_ < limits_.max_pieces) {
    ++pieces_;
    work_ += piece.bytes.size();
    fresh_.push_back(std::move(piece));
  }
}

bool ScanState::next(Piece& piece) {
  std::move(fresh_.rbegin(), fresh_.rend(), std::back_inserter(stack_));
  fresh_.clear();
  if (stack_.empty()) return false;
  piece = std::move(stack_.back());
  stack_.pop_back();
  return true;
}

Piece ScanState::within(const Piece& parent, std::string_view bytes) {
  Piece piece;
  piece.bytes = bytes;
  piece.keeps = parent.keeps;
  piece.budget = parent.budget;
  piece.place = parent.place;
  piece.base = parent.base + static_cast<std::uint64_t>(bytes.data() - parent.bytes.data());
  piece.depth = parent.depth + 1;
  piece.origin = parent.origin;
  piece.source = parent.source;
  return piece;
}

Piece ScanState::unpacked(const Piece& parent, std::string bytes, std::string_view label) const {
  const auto owned = std::make_shared<const std::string>(std::move(bytes));
  Piece piece;
  piece.bytes = *owned;
  piece.keeps = owned;
  piece.budget = budget(owned->size());
  piece.place = deeper(parent.place, label);
  piece.depth = parent.depth + 1;
  piece.origin = parent.origin == Origin::kText ? Origin::kValue : parent.origin;
  piece.source = parent.source;
  return piece;
}

std::shared_ptr<Budget> ScanState::budget(std::uint64_t bytes) const {
  return std::make_shared<Budget>(limits_.max_memory == 0 ? Budget::for_input(bytes)
                                                          : Budget(limits_.max_memory));
}

}  // namespace cachetool::verify
