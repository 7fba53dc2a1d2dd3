// Why packages do not work in a sandbox: npm's and esbuild's complaints, turned into one sentence that names
// the package and the reason. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::packages {

/// Whether the proxy of the cage could connect to the hosts that it was asked for.
enum class ProxySaw : std::uint8_t { hosts, dead_hosts };

/// From npm's stderr: "npm cannot find 'x@^9' in the registry (E404)". A host that does not answer is an
/// error of the proxy for npm, so the proxy is asked.
std::string diagnose_npm(std::string_view log, ProxySaw proxy = ProxySaw::hosts);

/// From esbuild's stderr: "'get-port' needs the Node.js built-in module 'net', which a sandbox does not
/// have".
std::string diagnose_esbuild(std::string_view log);

/// The modules that our own entry file asked for and that do not exist.
std::set<std::string> missing_entries(std::string_view log, std::string_view work);

/// The packages that the complaints come from.
std::set<std::string> complaining_packages(std::string_view log);

/// Why a package is native code, or nothing. `files` are the names in its directory.
std::string native_reason(const json::object& package_json, const std::vector<std::string>& files);

}  // namespace relay::packages
