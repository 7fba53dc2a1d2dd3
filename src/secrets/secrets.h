// Secrets: values that the configuration only names. ${env:NAME} is a variable of our environment,
// ${file:PATH} the text of a file, ${secret:NAME} a value that `relay mcp secret set` keeps in secrets.json,
// readable by the user alone. Resolving blocks (small files). An error names what is missing, never a value.
// Nothing here is logged.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "secrets/redactor.h"

namespace relay::secrets {

/// Gives the value of ${env:...}, ${file:...} and ${secret:...} in a text. Fails with the name of what is
/// missing, never with a value.
using ResolveSecrets = std::function<Result<std::string>(std::string_view text)>;

/// A piece of a text with references: plain, or "${env:NAME}" with its braces.
struct TextPiece {
  std::string text;
  bool is_reference = false;
};

/// Cuts a text at its references. "${" without a known kind after it is plain text; a reference that does not
/// end is an error.
Result<std::vector<TextPiece>> split_references(std::string_view text);

/// What references stood for. Variables that describe this machine and no secret (HOME, PATH, LANG, ...) are
/// not among the values: removing a home directory from every text would help nobody.
struct ResolvedTexts {
  std::map<std::string, std::string> texts;  // under their keys
  std::vector<std::string> secrets;          // each value on its own
};

/// All texts of a map, such as headers, with their references replaced; the error names the key.
Result<ResolvedTexts> resolve_texts(const std::map<std::string, std::string>& texts,
                                    const ResolveSecrets& resolve);
/// The same, and the redactor has learned every value before anybody can use it.
Result<std::map<std::string, std::string>> resolve_all(const std::map<std::string, std::string>& texts,
                                                       const ResolveSecrets& resolve, Redactor& redactor);
/// The keys whose text names a secret that is too short to be learned. Texts that do not resolve are left
/// out: their server does not start.
std::vector<std::string> find_unprotected(const std::map<std::string, std::string>& texts,
                                          const ResolveSecrets& resolve);

/// The file behind ${secret:NAME}: {"NAME":"value"}, mode 0600, replaced as a whole. Blocking; small.
class SecretStore {
 public:
  explicit SecretStore(std::filesystem::path file) : file_(std::move(file)) {}

  /// Letters, digits, '_', '-', '.'; at most 128.
  Result<void> set(const std::string& name, std::string_view value);
  /// False when there was none of that name.
  Result<bool> remove(const std::string& name);
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] Result<std::string> find(const std::string& name) const;

 private:
  using Values = std::map<std::string, std::string>;
  [[nodiscard]] Result<Values> load() const;
  [[nodiscard]] Result<void> save(const Values& values) const;
  std::filesystem::path file_;
};

/// Where values come from. `environment` is ours; paths in ${file:...} are relative to `base`, "~/" is the
/// home directory.
ResolveSecrets make_secret_resolver(std::map<std::string, std::string> environment,
                                    std::filesystem::path base, SecretStore store);

}  // namespace relay::secrets
