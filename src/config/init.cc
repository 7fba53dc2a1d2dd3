#include "config/init.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/fd.h"
#include "config/embedded.h"
#include "config/state_directory.h"

namespace relay::config {

Result<std::filesystem::path> write_initial_config(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "relay.config.json";
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.is_open() && errno == EEXIST)
    return fail({ErrorKind::conflict, Blame::peer,
                 fmt::format("{} already exists and is left as it is; `relay check-config` checks it",
                             path.string())});
  if (!file.is_open()) return fail(from_errno(errno, "write " + path.string()));
  const std::string_view text = embedded::config_template();
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail(from_errno(errno, "write " + path.string()));
  RELAY_CHECK(fill_project_directory(directory / ".relay"));  // "$schema" points there
  return path;
}

}  // namespace relay::config
