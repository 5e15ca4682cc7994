#include "change/write_whole.h"

namespace cachetool::change {

Status write_whole(FileSystem& fs, const Directory& dir, const Name& name, std::string_view bytes,
                   Replace replace) {
  auto temp = fs.create_temp(dir);
  if (!temp) return tl::unexpected(std::move(temp.error()));
  Status written = fs.write(*temp->file, bytes).and_then([&] { return fs.sync(*temp->file); }).and_then([&] {
    return fs.rename(dir, temp->name, dir, name, replace);
  });
  if (!written) {
    // What can't be removed either is found by the next recovery.
    static_cast<void>(fs.unlink(dir, temp->name));
    return written;
  }
  return fs.sync(dir);
}

}  // namespace cachetool::change
