#include "commands/text_argument.h"

#include <utility>

#include "store/environment.h"
#include "store/paths.h"

namespace cachetool::commands {
namespace {

constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;

Expected<std::string> read_text(Context& context, const std::string& path) {
  const std::string absolute = store::absolute_path(context.environment, path);
  auto name = Name::parse(store::name_of(absolute));
  if (!name) return tl::unexpected(std::move(name.error()));
  auto directory = context.files.open_root("/" + std::string(store::directory_of(absolute)));
  if (!directory) return tl::unexpected(std::move(directory.error()));
  std::string text;
  auto read = read_file(context.files, **directory, *name, kLongest, text);
  if (!read) return tl::unexpected(std::move(read.error()));
  return text;
}

}  // namespace

Expected<std::string> text_argument(Context& context, const std::string& argument) {
  if (!argument.starts_with('@')) return argument;
  auto text = read_text(context, argument.substr(1));
  if (!text) {
    text.error().path = argument.substr(1);
    return text;
  }
  if (text->ends_with('\n')) text->pop_back();
  return text;
}

}  // namespace cachetool::commands
