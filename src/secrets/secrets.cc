#include "secrets/secrets.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/disk.h"
#include "base/json.h"
#include "base/limits.h"

namespace relay::secrets {
namespace {

constexpr std::size_t kNameBytes = 128;
constexpr std::size_t kStoreBytes = 8 * limits::kMiB;
constexpr std::array<std::string_view, 3> kKinds{"${env:", "${file:", "${secret:"};

std::string_view kind_at(std::string_view text) {
  for (const std::string_view kind : kKinds)
    if (text.starts_with(kind)) return kind;
  return {};
}

void append_plain(std::vector<TextPiece>& pieces, std::string_view text) {
  if (text.empty()) return;
  if (!pieces.empty() && !pieces.back().is_reference)
    pieces.back().text += text;
  else
    pieces.push_back({std::string(text), false});
}

// Variables that say where and how a user works.
bool names_no_secret(std::string_view reference) {
  constexpr std::array<std::string_view, 17> kPlain = {
      "HOME", "PATH", "USER",   "LOGNAME",  "SHELL", "LANG",    "LANGUAGE", "TERM",  "TZ",
      "PWD",  "TMP",  "TMPDIR", "HOSTNAME", "TEMP",  "DISPLAY", "EDITOR",   "PAGER",
  };
  if (!reference.starts_with(kKinds[0])) return false;
  const std::string_view name = reference.substr(kKinds[0].size(), reference.size() - kKinds[0].size() - 1);
  return std::ranges::find(kPlain, name) != kPlain.end() || name.starts_with("LC_") ||
         name.starts_with("XDG_");
}

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= kNameBytes && std::ranges::all_of(name, allowed);
}

Result<std::string> from_environment(const std::map<std::string, std::string>& environment,
                                     const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end())
    return fail(invalid(fmt::format("the environment variable {} is not set", name)));
  return found->second;
}

// Editors end files with a newline that is no part of the secret.
Result<std::string> from_file(const std::filesystem::path& base, const std::string& home,
                              std::string_view name) {
  const std::filesystem::path path =
      name.starts_with("~/") ? std::filesystem::path(home) / name.substr(2) : base / name;
  auto text = load_file(path, limits::kSecretBytes);
  if (!text)
    return fail(
        invalid(fmt::format("the secret file {} cannot be read: {}", path.string(), text.error().message)));
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text;
}

}  // namespace

Result<std::vector<TextPiece>> split_references(std::string_view text) {
  std::vector<TextPiece> pieces;
  while (!text.empty()) {
    const std::size_t start = text.find("${");
    append_plain(pieces, text.substr(0, start));
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    if (kind_at(text).empty()) {
      append_plain(pieces, text.substr(0, 2));
      text.remove_prefix(2);
      continue;
    }
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos)
      return fail(
          invalid(fmt::format("a reference that begins with {} does not end with }}", kind_at(text))));
    pieces.push_back({std::string(text.substr(0, end + 1)), true});
    text.remove_prefix(end + 1);
  }
  return pieces;
}

namespace {

Result<std::string> resolve_text(std::string_view text, const ResolveSecrets& resolve,
                                 std::vector<std::string>& secrets) {
  RELAY_TRY(const std::vector<TextPiece> pieces, split_references(text));
  std::string whole;
  for (const TextPiece& piece : pieces) {
    if (!piece.is_reference) {
      whole += piece.text;
      continue;
    }
    if (!resolve) return fail(invalid(fmt::format("nothing is there to resolve {}", piece.text)));
    RELAY_TRY(const std::string value, resolve(piece.text));
    whole += value;
    if (!names_no_secret(piece.text)) secrets.push_back(value);
  }
  if (whole.find('\0') != std::string::npos) return fail(invalid("a resolved value holds a NUL byte"));
  return whole;
}

}  // namespace

Result<ResolvedTexts> resolve_texts(const std::map<std::string, std::string>& texts,
                                    const ResolveSecrets& resolve) {
  ResolvedTexts resolved;
  for (const auto& [key, text] : texts) {
    auto value = resolve_text(text, resolve, resolved.secrets);
    if (!value) return fail(invalid(fmt::format("{}: {}", key, value.error().message)));
    resolved.texts.emplace(key, std::move(*value));
  }
  return resolved;
}

Result<std::map<std::string, std::string>> resolve_all(const std::map<std::string, std::string>& texts,
                                                       const ResolveSecrets& resolve, Redactor& redactor) {
  RELAY_TRY(ResolvedTexts resolved, resolve_texts(texts, resolve));
  redactor.learn(resolved.secrets);
  return std::move(resolved.texts);
}

std::vector<std::string> find_unprotected(const std::map<std::string, std::string>& texts,
                                          const ResolveSecrets& resolve) {
  const auto is_short = [](const std::string& value) {
    return !value.empty() && value.size() < limits::kSecretBytesMin;
  };
  std::vector<std::string> keys;
  for (const auto& [key, text] : texts) {
    std::vector<std::string> secrets;
    if (resolve_text(text, resolve, secrets) && std::ranges::any_of(secrets, is_short)) keys.push_back(key);
  }
  return keys;
}

Result<SecretStore::Values> SecretStore::load() const {
  auto text = load_file(file_, kStoreBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return Values();
  if (!text) return fail(std::move(text.error()));
  RELAY_TRY(const json::object object, json::parse_object(*text, {.bytes = kStoreBytes}));
  Values values;
  for (const auto& [name, value] : object)
    if (value.is_string()) values.emplace(name, json::view(value.get_string()));
  return values;
}

Result<void> SecretStore::save(const Values& values) const {
  json::object object;
  for (const auto& [name, value] : values) object[name] = value;
  return replace_file(file_, json::write_pretty(json::value(object)) + "\n");
}

Result<void> SecretStore::set(const std::string& name, std::string_view value) {
  if (!is_name(name))
    return fail(invalid(
        fmt::format("a secret's name has letters, digits, '_', '-' and '.', at most {}", kNameBytes)));
  if (value.empty() || value.size() > limits::kSecretBytes)
    return fail(invalid(fmt::format("a secret has between 1 and {} bytes", limits::kSecretBytes)));
  if (value.find('\0') != std::string_view::npos)
    return fail(invalid("a secret cannot hold a NUL byte: no environment and no header takes it"));
  RELAY_TRY(Values values, load());
  values[name] = value;
  if (values.size() > limits::kSecrets)
    return fail(invalid(fmt::format("there are {} secrets already", limits::kSecrets)));
  return save(values);
}

Result<bool> SecretStore::remove(const std::string& name) {
  RELAY_TRY(Values values, load());
  if (values.erase(name) == 0) return false;
  RELAY_CHECK(save(values));
  return true;
}

Result<std::vector<std::string>> SecretStore::names() const {
  RELAY_TRY(const Values values, load());
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

Result<std::string> SecretStore::find(const std::string& name) const {
  RELAY_TRY(const Values values, load());
  const auto found = values.find(name);
  if (found == values.end())
    return fail(
        invalid(fmt::format("there is no secret {}; `relay mcp secret set {}` makes one", name, name)));
  return found->second;
}

ResolveSecrets make_secret_resolver(std::map<std::string, std::string> environment,
                                    std::filesystem::path base, SecretStore store) {
  auto resolve_one = [environment = std::move(environment), base = std::move(base),
                      store = std::move(store)](std::string_view reference) -> Result<std::string> {
    const std::string_view kind = kind_at(reference);
    const std::string name(reference.substr(kind.size(), reference.size() - kind.size() - 1));
    if (kind == kKinds[0]) return from_environment(environment, name);
    const auto home = environment.find("HOME");
    if (kind == kKinds[1]) return from_file(base, home == environment.end() ? "" : home->second, name);
    return store.find(name);
  };
  return [resolve_one = std::move(resolve_one)](std::string_view text) -> Result<std::string> {
    RELAY_TRY(const std::vector<TextPiece> pieces, split_references(text));
    std::string whole;
    for (const TextPiece& piece : pieces) {
      if (!piece.is_reference)
        whole += piece.text;
      else {
        RELAY_TRY(const std::string value, resolve_one(piece.text));
        whole += value;
      }
    }
    return whole;
  };
}

}  // namespace relay::secrets
