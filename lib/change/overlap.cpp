#include "change/overlap.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "store/paths.h"

namespace cachetool::change {
namespace {

/// A path and the request that names it.
struct Claim {
  std::string_view path;
  std::size_t request;
};

/// Orders a directory directly before everything in it: '/' counts as the smallest byte.
bool goes_before(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    return rank(x) < rank(y);
  });
}

/// Which requests belong together; the smallest index of a group stands for it.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::size_t find(std::size_t request) {
    while (parent_[request] != request) request = parent_[request] = parent_[parent_[request]];
    return request;
  }
  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({find(a), find(b)});
    parent_[high] = low;
  }

 private:
  std::vector<std::size_t> parent_;
};

void join_into(UnitRequest& first, UnitRequest&& other) {
  if (other.action == Action::kQuarantine) first.action = Action::kQuarantine;
  if ((", " + first.reason + ", ").find(", " + other.reason + ", ") == std::string::npos) {
    first.reason += (first.reason.empty() ? "" : ", ") + other.reason;
  }
  std::move(other.locks.begin(), other.locks.end(), std::back_inserter(first.locks));
}

}  // namespace

std::vector<UnitRequest> join_overlapping(std::vector<UnitRequest> requests) {
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const std::string& path : requests[i].paths) claims.push_back({path, i});
  }
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.path == b.path ? a.request < b.request : goes_before(a.path, b.path);
  });

  Groups groups(requests.size());
  std::vector<Claim> outermost;
  for (const Claim& claim : claims) {
    if (!outermost.empty() && !outermost.back().path.empty() &&
        store::is_within(outermost.back().path, claim.path)) {
      groups.join(outermost.back().request, claim.request);
    } else {
      outermost.push_back(claim);
    }
  }

  std::vector<std::vector<std::string>> paths(requests.size());
  for (const Claim& claim : outermost) paths[groups.find(claim.request)].emplace_back(claim.path);
  std::vector<UnitRequest> joined;
  std::vector<std::size_t> place(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t group = groups.find(i);
    if (group == i) {
      place[i] = joined.size();
      joined.push_back(std::move(requests[i]));
      joined.back().paths = std::move(paths[i]);
    } else {
      join_into(joined[place[group]], std::move(requests[i]));
    }
  }
  return joined;
}

}  // namespace cachetool::change
