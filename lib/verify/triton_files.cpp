#include "verify/triton_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "store/classify.h"
#include "store/paths.h"
#include "store/triton_location.h"
#include "verify/damage.h"
#include "verify/json_document.h"
#include "verify/structure_checks.h"
#include "verify/triton_checks.h"

namespace cachetool::verify {
namespace {

using container::Node;
using container::NodeKind;
using Family = torch::ReleaseFamily;

constexpr std::size_t kHashDigits = 64;

struct TritonRelease {
  std::string_view version;  // up to the second dot
  Family first;
  Family last;
};
constexpr std::array kTritonReleases{
    TritonRelease{"3.0", Family::k2_4, Family::k2_4},   TritonRelease{"3.1", Family::k2_5, Family::k2_5},
    TritonRelease{"3.2", Family::k2_6, Family::k2_6},   TritonRelease{"3.3", Family::k2_7, Family::k2_7},
    TritonRelease{"3.4", Family::k2_8, Family::k2_8},   TritonRelease{"3.5", Family::k2_9, Family::k2_9},
    TritonRelease{"3.6", Family::k2_10, Family::k2_11}, TritonRelease{"3.7", Family::k2_12, Family::k2_13},
    TritonRelease{"3.8", Family::k2_14, Family::k2_14}, TritonRelease{"3.9", Family::k2_15, Family::k2_15},
};

std::string_view directory_name(const FileInput& input) {
  return store::name_of(input.inventory().directory_of(input.id()).path);
}

/// RFC 4648 base64 in its URL-safe form, without padding.
std::string to_base64_url(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const std::uint8_t byte : bytes) {
    bits = (bits << 8 | byte) & 0xffffffU;
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63U];
  return text;
}

bool is_text(const std::optional<Node>& node) {
  return node && node->is(NodeKind::kString);
}

/// What Triton needs of the metadata before it can use a kernel: the first that is missing. triton/compiler/
/// compiler.py: CompiledKernel, 3.2 to 3.8; backends/nvidia/compiler.py: pack_metadata.
std::string_view missing_member(const Node& root) {
  const auto target = root.find("target");
  if (!target || !target->is(NodeKind::kMap)) return "target";
  for (const std::string_view name : {"backend", "arch", "warp_size"})
    if (!target->find(name)) return name;
  if (!is_text(root.find("name"))) return "name";
  for (const std::string_view name : {"shared", "num_warps", "num_ctas"}) {
    const auto member = root.find(name);
    if (!member || !member->is(NodeKind::kInteger)) return name;
  }
  return {};
}

/// Compute capability of target.arch: 90, or "sm_90" and such.
std::optional<std::uint32_t> architecture_of(const Node& target) {
  const auto arch = target.find("arch");
  if (!arch || !arch->is(NodeKind::kInteger)) return {};
  const std::int64_t number = arch->as_integer();
  if (number <= 0 || number > 0xffff) return {};
  return static_cast<std::uint32_t>(number);
}

void judge_metadata_place(const FileInput& input, FileReport& report, const TritonMetadataFacts& facts) {
  const std::string_view directory = directory_name(input);
  if (!store::is_triton_directory_name(directory)) {
    report.not_checkable(checks::kTritonHash, "the file doesn't lie in a kernel's directory");
  } else if (facts.hash.empty()) {
    report.not_checkable(checks::kTritonHash, "the metadata has no hash");
  } else if (const auto name = triton_directory_name(facts.hash, directory); name != directory) {
    report.found(checks::kTritonHash, {.message = fmt::format("the hash in it stands for {}", name),
                                       .repair = whole_directory(input)});
  } else {
    report.fine(checks::kTritonHash);
  }
}

/// One pair of `configs_timings`.
bool is_timed_config(const Node& pair) {
  if (!pair.is(NodeKind::kList) || pair.size() != 2) return false;
  const auto config = pair.first();
  const auto timing = config->next();
  const auto kwargs = config->is(NodeKind::kMap) ? config->find("kwargs") : std::nullopt;
  if (!kwargs || !kwargs->is(NodeKind::kMap)) return false;
  const auto is_number = [](const Node& node) {
    return node.is(NodeKind::kInteger) || node.is(NodeKind::kFloat) || node.is(NodeKind::kBigInteger);
  };
  if (!timing->is(NodeKind::kList)) return is_number(*timing);
  for (auto item = timing->first(); item; item = item->next())
    if (!is_number(*item)) return false;
  return timing->size() > 0;
}

}  // namespace

ReleaseRange releases_of_triton(std::string_view version) {
  for (const TritonRelease& release : kTritonReleases) {
    const bool fits = version.starts_with(release.version) && (version.size() == release.version.size() ||
                                                               !is_digit(version[release.version.size()]));
    if (fits) return {release.first, release.last};
  }
  return {};
}

std::string triton_directory_name(std::string_view hash, std::string_view like) {
  if (!store::is_hex(hash, kHashDigits)) return {};
  const std::string bytes = from_hex(hash);
  const std::span<const std::uint8_t> digest{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                             bytes.size()};
  switch (like.size()) {
    case kHashDigits:
      return std::string(hash);
    case 43:
      return to_base64_url(digest);
    case 52: {
      std::string name = to_base32(digest);
      for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
      return name;
    }
    default:
      return {};
  }
}

Expected<Facts> check_triton_metadata(FileInput& input, FileReport& report) {
  const ReleaseRange place = triton_releases(directory_name(input));
  report.set_release(place.first, place.last);
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  if (!root.is(NodeKind::kMap)) {
    report_shape(input, report, "not an object");
    return Facts{};
  }
  if (const auto missing = missing_member(root); !missing.empty()) {
    report_shape(input, report, fmt::format("no usable member \"{}\"", missing));
    return Facts{};
  }
  report.fine(checks::kFileShape);
  TritonMetadataFacts facts;
  facts.kernel = root.find("name")->text();
  if (const auto hash = root.find("hash")) facts.hash = hash->text();
  const auto warps = root.find("num_warps");
  if (warps && warps->is(NodeKind::kInteger)) facts.num_warps = warps->as_integer();
  const Node target = *root.find("target");
  facts.backend = target.find("backend")->text();
  facts.architecture = architecture_of(target);
  ReleaseRange range = place;
  if (const auto version = root.find("triton_version")) range = releases_of_triton(version->text());
  facts.first = range.first;
  facts.last = range.last;
  report.set_release(range.first, range.last);
  judge_metadata_place(input, report, facts);
  return facts;
}

Expected<Facts> check_triton_group(FileInput& input, FileReport& report) {
  const ReleaseRange range = triton_releases(directory_name(input));
  report.set_release(range.first, range.last);
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  const auto children = root.find("child_paths");
  // Triton's remote cache writes names alone.
  const bool names_only = children && children->is(NodeKind::kList);
  if (!root.is(NodeKind::kMap) || !children || !(children->is(NodeKind::kMap) || names_only)) {
    report_shape(input, report, "no object with \"child_paths\"");
    return Facts{};
  }
  TritonGroupFacts facts;
  for (auto name = children->first(); name; name = name->next()) {
    std::string path;
    std::string child(name->text());
    bool usable = name->is(NodeKind::kString);
    if (!names_only) {
      name = name->next();
      usable = name->is(NodeKind::kString);
      path = name->text();
    }
    if (!usable) {
      report_shape(input, report, "a child without a path");
      return Facts{};
    }
    facts.children.emplace_back(std::move(child), std::move(path));
  }
  report.fine(checks::kFileShape);
  return facts;
}

Expected<Facts> check_triton_text(FileInput& input, FileReport& report) {
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  if (input.depth() == Depth::kQuick) return Facts{};
  const auto text = input.whole();
  if (!text) return tl::unexpected(text.error());
  if (const auto bad = find_invalid_utf8(*text, Surrogates::kRejected); bad != std::string_view::npos) {
    report.found(checks::kFileEncoding,
                 {.message = "not UTF-8; Triton raises when it takes the kernel from here",
                  .offset = bad,
                  .repair = whole_directory(input)});
    return Facts{};
  }
  report.fine(checks::kFileEncoding);
  // Printers of all stages end their last line.
  if (!text->ends_with('\n')) {
    report_damage(input, report, checks::kFileTruncated, "the text ends in the middle of a line",
                  text->size());
  } else {
    report.fine(checks::kFileTruncated);
  }
  return TritonTextFacts{store::located_module(*text)};
}

Expected<Facts> check_triton_autotune(FileInput& input, FileReport& report) {
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  const auto timings = root.find("configs_timings");
  if (!timings || !timings->is(NodeKind::kList) || timings->size() == 0) {
    report_shape(input, report, "no list \"configs_timings\" with measured configurations");
    return Facts{};
  }
  for (auto pair = timings->first(); pair; pair = pair->next()) {
    if (is_timed_config(*pair)) continue;
    report_shape(input, report, "an item of \"configs_timings\" is no pair of configuration and time");
    return Facts{};
  }
  report.fine(checks::kFileShape);
  return Facts{};
}

}  // namespace cachetool::verify
