#include "cli/package_block.h"

namespace relay::cli {
namespace {

// "lodash@^4", "@scope/name@1", "lodash".
json::object npm_block(const std::vector<std::string>& packages) {
  json::object dependencies;
  for (const std::string& package : packages) {
    const std::size_t at = package.find('@', 1);
    dependencies[package.substr(0, at)] = at == std::string::npos ? "*" : package.substr(at + 1);
  }
  return {{"dependencies", std::move(dependencies)}};
}

}  // namespace

json::object package_block(const CommandOptions& options, capsule::Language language) {
  if (language == capsule::Language::js) return npm_block(options.npm_packages);
  const std::vector<std::string>& requirements = options.pip_requirements;
  const std::vector<std::string>& wheels = options.wheel_urls;
  return {{"requirements", json::array(requirements.begin(), requirements.end())},
          {"wheelUrls", json::array(wheels.begin(), wheels.end())}};
}

}  // namespace relay::cli
