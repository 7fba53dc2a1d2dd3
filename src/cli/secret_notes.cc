#include "cli/secret_notes.h"

#include <fmt/format.h>

#include "cli/mcp_command.h"
#include "config/environment.h"
#include "secrets/secrets.h"
#include "upstream/spec_references.h"

namespace relay::cli {

std::vector<config::ConfigProblem> find_unprotected_secrets(const config::Config& config) {
  const secrets::ResolveSecrets resolve = secrets::make_secret_resolver(
      config::process_environment(), config.root, secrets::SecretStore(mcp_state(config) / "secrets.json"));
  std::vector<config::ConfigProblem> notes;
  for (std::size_t i = 0; i < config.mcps.size(); ++i)
    for (const std::string& place : secrets::find_unprotected(upstream::texts_of(config.mcps[i]), resolve))
      notes.push_back(
          {fmt::format("$.mcps[{}].{}", i, place),
           fmt::format("its secret has fewer than {} bytes, so it is not removed from answers and "
                       "logs; use a longer one",
                       limits::kSecretBytesMin)});
  return notes;
}

}  // namespace relay::cli
