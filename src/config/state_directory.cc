#include "config/state_directory.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/disk.h"
#include "base/fd.h"
#include "base/limits.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytes = 32;  // of the readable part
constexpr std::size_t kHashDigits = 12;

std::string variable(const ConfigSources& sources, const std::string& name) {
  const auto found = sources.environment.find(name);
  return found == sources.environment.end() ? std::string() : found->second;
}

Error failed(std::string_view what, const fs::path& path) {
  return from_errno(errno, fmt::format("{} {}", what, path.string()));
}

bool is_there(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

void sync_tree(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(fs::symlink_status(path, ignored)))
    for (const auto& entry : fs::directory_iterator(path, ignored)) sync_tree(entry.path());
  const Fd opened(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (opened.is_open()) ::fsync(opened.get());
}

// Across two file systems nothing can be renamed: a copy is complete and synced under another name before it
// takes its place, and the original goes last.
Result<void> copy_across(const fs::path& from, const fs::path& to) {
  const fs::path beside = to.parent_path() / temporary_name(".moving-");
  std::error_code error;
  fs::copy(from, beside, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return fail(unavailable(fmt::format("cannot copy {}: {}", from.string(), error.message())));
  sync_tree(beside);
  if (::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0)
    return fail(failed("move to", to));
  RELAY_CHECK(sync_directory(to.parent_path()));
  fs::remove_all(from, error);
  return {};
}

// True when it was moved.
Result<bool> move_once(const fs::path& from, const fs::path& to) {
  if (!is_there(from) || is_there(to)) return false;
  RELAY_CHECK(make_directory(to.parent_path()));
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    RELAY_CHECK(sync_directory(to.parent_path()));
    return true;
  }
  if (errno == EEXIST || errno == ENOENT) return false;  // another Relay was faster
  if (errno != EXDEV) return fail(failed("move to", to));
  RELAY_CHECK(copy_across(from, to));
  return true;
}

// Older parts of the log first: a log whose newest part is gone is never mistaken for a whole one.
std::vector<std::string> audit_files(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (const std::string name = entry.path().filename().string(); name.starts_with("audit.jsonl."))
      names.push_back(name);
  std::ranges::sort(names);
  names.emplace_back("audit.jsonl");
  return names;
}

std::vector<std::string> names_to_move(const Config& config) {
  std::vector<std::string> names;
  const auto usual = [&](const fs::path& path, const char* name) { return path == config.state / name; };
  if (usual(config.audit.path, "audit.jsonl")) names = audit_files(config.project);
  if (usual(config.signing_key_path, "keys")) names.emplace_back("keys");
  if (usual(config.token_path, "token")) names.emplace_back("token");
  for (const char* name : {"secrets.json", "eras.json", "learned.json", "logs", "offers"})
    names.push_back(fmt::format("mcp/{}", name));
  return names;
}

}  // namespace

fs::path home_directory(const ConfigSources& sources) {
  if (fs::path home = variable(sources, "HOME"); home.is_absolute()) return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry && entry->pw_dir && fs::path(entry->pw_dir).is_absolute() ? fs::path(entry->pw_dir)
                                                                         : fs::path();
}

fs::path find_project_directory(const fs::path& root, const fs::path& state) {
  const fs::path project = root / ".relay";
  std::error_code ignored;
  const fs::path& written = fs::exists(project, ignored) ? project : root;
  return ::access(written.c_str(), W_OK | X_OK) == 0 ? project : state / "project";
}

std::string project_name(const fs::path& root) {
  std::error_code error;
  fs::path real = fs::canonical(root, error);
  if (error) real = fs::absolute(root).lexically_normal();
  std::string name;
  for (const char c : real.filename().string().substr(0, kNameBytes))
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '_';
  if (name.empty() || name.starts_with('.')) name.insert(0, "project");
  return fmt::format("{}-{}", name, sha256_hex(real.string()).substr(0, kHashDigits));
}

Result<fs::path> find_state_directory(const ConfigSources& sources, const fs::path& root) {
  if (!sources.state.empty()) return fs::absolute(sources.state).lexically_normal();
  if (const std::string told = variable(sources, "RELAY_STATE"); !told.empty())
    return fs::absolute(told).lexically_normal();
  fs::path base = variable(sources, "XDG_STATE_HOME");
  if (!base.is_absolute()) {
    base = home_directory(sources);
    if (base.empty())
      return fail(
          invalid("there is no home directory to keep keys and the audit log in; name a directory with "
                  "--state or RELAY_STATE"));
    base /= ".local/state";
  }
  return base / "relay" / project_name(root);
}

Result<std::vector<std::string>> open_state_directory(const Config& config) {
  if (auto made = make_directory(config.state); !made) {
    made.error().message += "; --state or RELAY_STATE names another directory";
    return fail(std::move(made).error());
  }
  if (::chmod(config.state.c_str(), 0700) != 0) return fail(failed("chmod", config.state));
  return migrate_state(config);
}

Result<std::vector<std::string>> migrate_state(const Config& config) {
  std::vector<std::string> moved;
  std::error_code ignored;
  if (fs::equivalent(config.state, config.project, ignored)) return moved;
  for (const std::string& name : names_to_move(config)) {
    RELAY_TRY(const bool was_moved, move_once(config.project / name, config.state / name));
    if (was_moved) moved.push_back(name);
  }
  return moved;
}

Result<void> fill_project_directory(const fs::path& project) {
  RELAY_CHECK(make_directory(project));
  RELAY_CHECK(create_file(project / ".gitignore", "*\n", 0644));
  const fs::path file = project / "config.schema.json";
  if (const auto present = load_file(file, limits::kConfigBytes); present && *present == config_schema_text())
    return {};
  return replace_file(file, config_schema_text(), 0644);
}

Result<void> open_project_directory(const Config& config) {
  RELAY_CHECK(fill_project_directory(config.project));
  return ::chmod(config.project.c_str(), 0700) == 0 ? Result<void>{} : fail(failed("chmod", config.project));
}

std::vector<fs::path> private_paths(const Config& config) {
  // Where there is no file yet, its name must not become one: the next start would read it.
  std::vector<fs::path> paths{config.file.empty() ? config.root / "relay.config.json" : config.file,
                              config.state,
                              config.audit.path,
                              config.signing_key_path,
                              config.token_path,
                              config.server.state_key_path};
  for (fs::path& path : paths)
    if (!path.has_filename()) path = path.parent_path();
  paths.push_back(config.audit.path.string() + ".*");  // its older parts
  paths.push_back(config.project);
  return paths;
}

}  // namespace relay::config
