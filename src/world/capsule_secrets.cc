#include "world/capsule_secrets.h"

#include <algorithm>

#include "policy/redaction.h"
#include "policy/secret_shapes.h"

namespace relay::world {
namespace {

bool has_secret_shape(std::string_view text) {
  return policy::SecretScanner(text).next().has_value();
}

bool has_secret_setting(const capsule::EntryPoint& entry) {
  return std::ranges::any_of(entry.env, [](const auto& setting) {
    return !setting.second.empty() &&
           (policy::is_secret_name(setting.first) || has_secret_shape(setting.second));
  });
}

bool has_secret_argument(const capsule::EntryPoint& entry) {
  return policy::redact_arguments(entry.path, entry.argv) != entry.argv;
}

}  // namespace

bool holds_secret(const capsule::Capsule& capsule, const secrets::Redactor& known) {
  const std::string& code = *capsule.layers.front();
  return known.holds_secret(capsule.text) || known.holds_secret(code) || has_secret_shape(code) ||
         has_secret_setting(capsule.manifest.entry) || has_secret_argument(capsule.manifest.entry);
}

}  // namespace relay::world
