#include "config/config_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "base/fd.h"
#include "config/attestation.h"
#include "config/embedded.h"
#include "config/state_directory.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

// Two edits at once would lose one of them.
Result<Fd> lock_directory(const fs::path& directory) {
  Fd lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.is_open()) return fail(from_errno(errno, "open " + directory.string()));
  if (::flock(lock.get(), LOCK_EX) != 0) return fail(from_errno(errno, "lock " + directory.string()));
  return lock;
}

Result<std::string> read_text(const fs::path& file) {
  return read_config_text(file);
}

Result<void> write_all(const Fd& file, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0) return fail(from_errno(errno, "write " + path.string()));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file.get()) == 0 ? Result<void>{} : fail(from_errno(errno, "sync " + path.string()));
}

// The old file's mode and, where we may, its owner.
Result<void> take_mode(const Fd& file, const fs::path& target) {
  struct stat old{};
  const bool is_there = ::stat(target.c_str(), &old) == 0;
  if (::fchmod(file.get(), is_there ? old.st_mode & 07777 : 0644) != 0)
    return fail(from_errno(errno, "chmod " + target.string()));
  if (is_there && ::fchown(file.get(), old.st_uid, old.st_gid) != 0 && errno != EPERM)
    return fail(from_errno(errno, "chown " + target.string()));
  return {};
}

Result<void> replace_text(const fs::path& target, std::string_view text) {
  std::string beside = target.string() + ".XXXXXX";
  const Fd file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file.is_open()) return fail(from_errno(errno, "write beside " + target.string()));
  Result<void> done = take_mode(file, target);
  if (done) done = write_all(file, text, target);
  if (done && ::rename(beside.c_str(), target.c_str()) != 0)
    done = fail(from_errno(errno, "replace " + target.string()));
  if (!done) ::unlink(beside.c_str());
  return done;
}

std::vector<ConfigProblem> problems_of(ConfigSources sources, const fs::path& file, const std::string& text) {
  sources.file = file;
  sources.text = text;
  return load_config(sources).problems;
}

// By what they say: the number of an entry changes when one before it goes.
void sort_out(const std::vector<ConfigProblem>& before, std::vector<ConfigProblem> after,
              EditOutcome& outcome) {
  for (ConfigProblem& problem : after) {
    const bool was_there =
        std::ranges::any_of(before, [&](const ConfigProblem& old) { return old.what == problem.what; });
    (was_there ? outcome.remaining : outcome.introduced).push_back(std::move(problem));
  }
}

// The link as well as the file behind it.
bool is_ours(const fs::path& file) {
  struct stat link{};
  struct stat target{};
  if (::lstat(file.c_str(), &link) != 0 || ::stat(file.c_str(), &target) != 0) return false;
  const auto trusted = [](uid_t owner) { return owner == 0 || owner == ::geteuid(); };
  return trusted(link.st_uid) && trusted(target.st_uid);
}

}  // namespace

fs::path find_config_file(const fs::path& directory, const fs::path& home) {
  std::error_code ignored;
  const fs::path last = fs::weakly_canonical(home, ignored);
  for (fs::path here = directory;; here = here.parent_path()) {
    fs::path file = here / "relay.config.json";
    if (fs::exists(file, ignored) && (here == directory || is_ours(file))) return file;
    if (here == last || !here.has_relative_path()) return {};
  }
}

fs::path config_file_of(const ConfigSources& sources) {
  const fs::path named = fs::absolute(sources.file.empty() ? fs::path("relay.config.json") : sources.file);
  std::error_code error;
  const fs::path real = fs::canonical(named, error);
  return error ? named : real;
}

Result<EditOutcome> edit_config(const ConfigSources& sources,
                                const std::function<Result<void>(ConfigDocument&)>& edit) {
  EditOutcome outcome;
  outcome.file = config_file_of(sources);
  RELAY_TRY(const Fd lock, lock_directory(outcome.file.parent_path()));
  std::error_code ignored;
  outcome.is_new = !fs::exists(outcome.file, ignored);
  RELAY_TRY(const std::string old_text,
            outcome.is_new ? Result<std::string>(embedded::config_template()) : read_text(outcome.file));
  auto document = ConfigDocument::parse(old_text);
  if (!document) return fail(invalid(fmt::format("{}: {}", outcome.file.string(), document.error().message)));
  RELAY_CHECK(edit(*document));
  sort_out(problems_of(sources, outcome.file, old_text), problems_of(sources, outcome.file, document->text()),
           outcome);
  if (!outcome.introduced.empty()) return outcome;
  // Before the file is there: a running Relay that sees it must already know that it is ours.
  const auto attest = [&]() -> Result<void> {
    RELAY_TRY(const fs::path state, find_state_directory(sources, outcome.file.parent_path()));
    return attest_config(state, document->text());
  };
  if (const auto attested = attest(); !attested) outcome.unattested = attested.error().message;
  RELAY_CHECK(replace_text(outcome.file, document->text()));
  return outcome;
}

}  // namespace relay::config
