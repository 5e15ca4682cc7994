#include "base/interner.h"

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace cachetool {

struct Interner::Impl {
  mutable std::shared_mutex mutex;
  std::deque<std::string> texts;  // a deque, so that views into it stay valid
  std::unordered_map<std::string_view, std::uint32_t> ids;

  std::uint32_t add(std::string_view text) {
    const auto id = static_cast<std::uint32_t>(texts.size());
    texts.emplace_back(text);
    ids.emplace(texts.back(), id);
    return id;
  }
};

Interner::Interner() : impl_(std::make_unique<Impl>()) {
  impl_->add("");
}
Interner::~Interner() = default;

std::uint32_t Interner::intern(std::string_view text) {
  {
    const std::shared_lock lock(impl_->mutex);
    const auto found = impl_->ids.find(text);
    if (found != impl_->ids.end()) return found->second;
  }
  const std::unique_lock lock(impl_->mutex);
  const auto found = impl_->ids.find(text);
  return found != impl_->ids.end() ? found->second : impl_->add(text);
}

std::string_view Interner::text(std::uint32_t id) const {
  const std::shared_lock lock(impl_->mutex);
  return id < impl_->texts.size() ? std::string_view(impl_->texts[id]) : std::string_view();
}

}  // namespace cachetool
