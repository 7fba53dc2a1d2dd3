#include "launch/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace relay::launch {
namespace {

// Directories and languages. XDG_RUNTIME_DIR is left out: sockets of the user's session live there.
constexpr std::string_view kHarmless[] = {
    "PATH", "HOME",    "LANG",  "LANGUAGE",        "TERM",          "TMPDIR",         "TZ",
    "USER", "LOGNAME", "SHELL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"};

// What npx, uvx, pip, git and programs in Node or Python need behind a company's proxy, certificate and
// registry. docs/upstream.md lists them; a test compares.
constexpr std::string_view kNetwork[] = {"NODE_EXTRA_CA_CERTS",
                                         "SSL_CERT_FILE",
                                         "SSL_CERT_DIR",
                                         "REQUESTS_CA_BUNDLE",
                                         "CURL_CA_BUNDLE",
                                         "GIT_SSL_CAINFO",
                                         "PIP_CERT",
                                         "http_proxy",
                                         "https_proxy",
                                         "no_proxy",
                                         "all_proxy",
                                         "HTTP_PROXY",
                                         "HTTPS_PROXY",
                                         "NO_PROXY",
                                         "ALL_PROXY",
                                         "npm_config_registry",
                                         "npm_config_cafile",
                                         "npm_config_proxy",
                                         "npm_config_https_proxy",
                                         "npm_config_noproxy",
                                         "NPM_CONFIG_REGISTRY",
                                         "NPM_CONFIG_CAFILE",
                                         "NPM_CONFIG_USERCONFIG",
                                         "npm_config_userconfig",
                                         "PIP_INDEX_URL",
                                         "PIP_EXTRA_INDEX_URL",
                                         "PIP_CONFIG_FILE",
                                         "UV_INDEX_URL",
                                         "UV_DEFAULT_INDEX",
                                         "UV_NATIVE_TLS"};

bool is_network(std::string_view name) {
  return std::ranges::find(kNetwork, name) != std::end(kNetwork);
}

bool is_harmless(std::string_view name) {
  return name.starts_with("LC_") || std::ranges::find(kHarmless, name) != std::end(kHarmless);
}

}  // namespace

Environment our_environment() {
  Environment environment;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Environment make_child_environment(const Environment& ours, const Environment& own, NetworkSettings network) {
  Environment environment = own;
  for (const auto& [name, value] : ours)
    if (is_harmless(name) || (network == NetworkSettings::passed && is_network(name)))
      environment.emplace(name, value);  // what the entry says stays
  return environment;
}

}  // namespace relay::launch
