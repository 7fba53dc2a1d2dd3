// The key directory: made at first run, kept readable for its owner only, rotated without a gap.
#include <sys/stat.h>

#include <algorithm>

#include "base/disk.h"
#include "capsule/signing.h"

namespace relay::capsule {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPemBytes = 4096;
constexpr std::string_view kPrivateFile = "signing.key";
constexpr std::string_view kPublicFile = "signing.pub";

Result<void> check_private(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return fail(from_errno(errno, fmt::format("stat {}", path.string())));
  if ((status.st_mode & 077) == 0) return {};
  Error error =
      denied(fmt::format("{} can be read by others, so it may no longer be secret: make a new one with "
                         "'relay keys rotate' after 'chmod 600 {}'",
                         path.string(), path.string()));
  error.blame = Blame::environment;
  return fail(std::move(error));
}

Result<SigningKey> load_key(const fs::path& directory) {
  const fs::path path = directory / kPrivateFile;
  RELAY_CHECK(check_private(path));
  RELAY_TRY(const std::string pem, load_file(path, kPemBytes));
  auto key = SigningKey::parse_pem(pem);
  if (!key) return fail(invalid(fmt::format("{}: {}", path.string(), key.error().message)));
  return key;
}

Result<void> save_key(const fs::path& directory, const SigningKey& key) {
  RELAY_CHECK(replace_file(directory / kPrivateFile, key.private_pem(), 0600));
  return replace_file(directory / kPublicFile, key.public_key().pem(), 0600);
}

// Two programs that start at once agree: the first file stays, both load it.
Result<bool> make_first_key(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory / kPrivateFile, error)) return false;
  RELAY_TRY(const SigningKey key, SigningKey::generate());
  return create_file(directory / kPrivateFile, key.private_pem(), 0600);
}

Result<void> refresh_public(const fs::path& directory, const SigningKey& key) {
  const auto present = load_file(directory / kPublicFile, kPemBytes);
  if (present && *present == key.public_key().pem()) return {};
  return replace_file(directory / kPublicFile, key.public_key().pem(), 0600);
}

bool is_retired_file(const fs::path& path) {
  return path.filename().string().starts_with("old-") && path.extension() == ".pub";
}

// A file that is not a key is left out, not a reason to refuse the start: it cannot make anything verify.
Result<std::vector<PublicKey>> load_retired(const fs::path& directory) {
  std::vector<PublicKey> keys;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) {
    if (!is_retired_file(item.path())) continue;
    RELAY_TRY(const std::string pem, load_file(item.path(), kPemBytes));
    if (auto key = PublicKey::parse_pem(pem)) keys.push_back(std::move(*key));
  }
  if (error) return fail(from_errno(error.value(), fmt::format("read directory {}", directory.string())));
  std::ranges::sort(keys, {}, &PublicKey::fingerprint);
  return keys;
}

}  // namespace

Result<KeyRing> KeyRing::open(const fs::path& directory) {
  RELAY_CHECK(make_directory(directory));
  RELAY_TRY(const bool is_new, make_first_key(directory));
  RELAY_TRY(SigningKey key, load_key(directory));
  RELAY_CHECK(refresh_public(directory, key));
  KeyRing ring(std::move(key));
  ring.directory_ = directory;
  ring.is_new_ = is_new;
  RELAY_TRY(ring.retired_, load_retired(directory));
  return ring;
}

Result<KeyRing> KeyRing::in_memory() {
  RELAY_TRY(SigningKey key, SigningKey::generate());
  return KeyRing(std::move(key));
}

const PublicKey* KeyRing::find(std::string_view fingerprint) const {
  if (current_.public_key().fingerprint() == fingerprint) return &current_.public_key();
  const auto found = std::ranges::find(retired_, fingerprint, &PublicKey::fingerprint);
  return found == retired_.end() ? nullptr : &*found;
}

Result<void> KeyRing::rotate() {
  RELAY_TRY(SigningKey next, SigningKey::generate());
  const PublicKey old = current_.public_key();
  if (!directory_.empty()) {
    RELAY_CHECK(replace_file(directory_ / fmt::format("old-{}.pub", old.fingerprint()), old.pem(), 0600));
    RELAY_CHECK(save_key(directory_, next));
  }
  retired_.push_back(old);
  current_ = std::move(next);
  return {};
}

}  // namespace relay::capsule
