// ConfinedDir: a directory of the host, and the only way in.
//
// Every open is one openat2(2) from the directory's descriptor with RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS
// and RESOLVE_NO_SYMLINKS: the kernel itself refuses "..", /proc links and symbolic links, whoever changes
// the tree meanwhile. Where a mount follows links, `resolve` reads them one by one and gives the link-free
// path that they lead to; rules are asked about that path, and it is opened link-free again. So what was
// checked is what is opened, without realpath and without a race: a directory that turns into a link in
// between is ELOOP, never an escape. Where files are hidden (hidden_files.h) a path is opened part by part,
// and each part is looked at after it was opened; what is hidden is ENOENT. All functions are safe from any
// thread.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "vfs/file_error.h"
#include "vfs/file_info.h"
#include "vfs/hidden_files.h"

namespace relay::vfs {

class ConfinedDir {
 public:
  /// Fails with ENOSYS where the kernel has no openat2: without it there is no wall, so there is no mount.
  static FileResult<ConfinedDir> open(const std::string& host_path,
                                      std::shared_ptr<const HiddenFiles> hidden = nullptr);

  /// Paths are relative and clean; "" is the directory itself. Opens close on exec and never block.
  [[nodiscard]] FileResult<Fd> open_at(std::string_view path, int flags, unsigned mode = 0) const;
  [[nodiscard]] FileResult<Fd> open_dir(std::string_view path) const;  // readable, for listing
  /// A regular file; directories are EISDIR, devices, pipes and sockets EACCES.
  [[nodiscard]] FileResult<Fd> open_file(std::string_view path, int flags, unsigned mode = 0) const;

  /// Says whether a link may be followed, by the link's own place.
  using LinkCheck = std::function<FileResult<>(std::string_view link)>;
  /// Where path leads when links are followed beneath this directory; EXDEV when one leads out.
  /// The last part may be missing. With LastLink::keep the last part is not followed.
  [[nodiscard]] FileResult<std::string> resolve(std::string_view path, LastLink last,
                                                const LinkCheck& may_follow = {}) const;

  [[nodiscard]] int descriptor() const { return fd_.get(); }
  /// Null: nothing is hidden.
  [[nodiscard]] const HiddenFiles* hidden() const { return hidden_.get(); }
  [[nodiscard]] bool hides_entry(const Fd& directory, const std::string& name) const {
    return hidden_ && hidden_->hides_entry(directory, name.c_str());
  }

 private:
  ConfinedDir(Fd fd, std::shared_ptr<const HiddenFiles> hidden)
      : fd_(std::move(fd)), hidden_(std::move(hidden)) {}
  [[nodiscard]] FileResult<Fd> open_by_parts(std::string_view path, int flags, unsigned mode) const;
  Fd fd_;
  std::shared_ptr<const HiddenFiles> hidden_;
};

FileStat make_stat(const struct ::stat& status);
FileType type_of_mode(unsigned mode);

}  // namespace relay::vfs
