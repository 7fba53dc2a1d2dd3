// What run_js asks of npm, as a value: checked, keyed, compared. Pure.
//
// A request may name packages of the registry and ranges of versions, nothing else: file:, git, http and link
// specifiers would let a client read this machine's files or make npm talk to hosts of its choice. The same
// goes for a lockfile, whose "resolved" addresses are dropped; its integrity hashes stay and still bind what
// is installed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::packages {

struct NpmRequest {
  std::map<std::string, std::string> dependencies;  // name -> range
  std::string lockfile;                             // the text of a package-lock.json, or empty
  std::set<std::string> subpaths;  // "csv-parse/sync": further entry points that the code imports

  [[nodiscard]] bool empty() const { return dependencies.empty(); }
};

/// From the `npm` member of a call or of the configuration: {"dependencies": {}, "lockfile": ""}.
Result<NpmRequest> parse_npm_request(const json::object& npm);

/// What a call asks for on top of what the configuration grants to every run; for one name the call's range
/// wins.
NpmRequest merge(const NpmRequest& configured, const NpmRequest& called);

bool is_package_name(std::string_view name);
bool is_registry_range(std::string_view range);

/// Every quoted "name/..." in the source, for the names among the dependencies. Finding one too many does no
/// harm: a subpath that does not exist is dropped before bundling.
std::set<std::string> find_subpaths(std::string_view code, const NpmRequest& request);

std::string package_json(const NpmRequest& request);
/// The lockfile that npm gets: registry packages only, without addresses, rooted at this request.
Result<std::string> clean_lockfile(const NpmRequest& request);

/// The name of an installation: equal requests have equal keys.
std::string install_key(const NpmRequest& request);

/// Every package of a lockfile came from a registry: a link, a git repository, a file or a directory is an
/// error that names it. Pure.
Result<void> check_sources(const json::object& lockfile);

}  // namespace relay::packages
