#include "config/attestation.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/json.h"
#include "base/random.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kFileBytes = 4096;

fs::path key_path(const fs::path& state) {
  return state / "attestation.key";
}

// Two commands at once agree on the key of the first.
Result<std::string> open_key(const fs::path& state) {
  RELAY_CHECK(make_directory(state));
  if (auto key = load_file(key_path(state), kFileBytes)) return key;
  SystemRandom random;
  RELAY_CHECK(create_file(key_path(state), make_token(random, kKeyBytes)));
  return load_file(key_path(state), kFileBytes);
}

std::string mac_of(std::string_view key, std::string_view nonce, std::string_view text) {
  std::string message("relay.config.json\0", 18);
  message += nonce;
  message += '\0';
  message += text;
  return to_hex(hmac_sha256(key, message));
}

}  // namespace

Result<void> attest_config(const fs::path& state, std::string_view text) {
  RELAY_TRY(const std::string key, open_key(state));
  SystemRandom random;
  const std::string nonce = make_token(random, 16);
  const json::object attestation{{"nonce", nonce}, {"mac", mac_of(key, nonce, text)}};
  return replace_file(state / "attestation.json", json::write(attestation) + "\n");
}

std::optional<Attestation> find_attestation(const fs::path& state) {
  const auto text = load_file(state / "attestation.json", kFileBytes);
  if (!text) return std::nullopt;
  const auto object = json::parse_object(*text, {.bytes = kFileBytes});
  if (!object) return std::nullopt;
  const auto nonce = json::find_string(*object, "nonce");
  const auto mac = json::find_string(*object, "mac");
  std::error_code error;
  const auto made = fs::last_write_time(state / "attestation.json", error);
  if (!nonce || !mac || error) return std::nullopt;
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - made);
  return Attestation{std::string(*nonce), std::string(*mac), age};
}

bool attests(const fs::path& state, const Attestation& attestation, std::string_view text) {
  const auto key = load_file(key_path(state), kFileBytes);
  if (!key || key->size() < kKeyBytes) return false;
  return equal_in_constant_time(mac_of(*key, attestation.nonce, text), attestation.mac);
}

}  // namespace relay::config
