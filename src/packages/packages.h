// Packages: the dependencies of a run, whichever language it is in. The door for whoever runs code.
//
// What the configuration gives to every run and what a call asks for are merged (for one name the call wins),
// resolved once, and answered from memory after that.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "authority/recorded.h"
#include "packages/npm_deps.h"
#include "packages/py_deps.h"

namespace relay::packages {

struct PackageOptions {
  ToolOptions tools;
  NpmOptions npm;
  PyOptions py;
  json::object configured_npm;  // the configuration's "npm" block
  json::object configured_pip;  // the configuration's "pip" block
};

class Packages {
 public:
  /// Fails when a configured block is not understood.
  static Result<std::unique_ptr<Packages>> make(PackageOptions options, io::ThreadPool& pool,
                                                const Clock& clock);

  /// `requested` is the call's "npm" or "pip" member, `code` the source, whose imports name further entry
  /// points. Nothing when there are no dependencies at all. `fetch` gets wheels by address, under the run's
  /// own network policy; `rules` are what that policy says about installing. Processes that this starts are
  /// effects of the recorded call.
  io::Task<std::optional<capsule::DepsLayer>> resolve(const authority::Recorded& recorded,
                                                      capsule::Language language,
                                                      const json::object& requested, std::string_view code,
                                                      InstallRules rules, WheelFetcher fetch,
                                                      Progress progress);

  /// Drops layers and installations that are old or too much. Blocking.
  Result<void> prune();

 private:
  Packages(PackageOptions options, io::ThreadPool& pool, const Clock& clock);
  io::Task<std::optional<capsule::DepsLayer>> resolve_npm(EffectsPtr effects, const json::object& requested,
                                                          std::string_view code, InstallRules rules,
                                                          Progress progress);
  io::Task<std::optional<capsule::DepsLayer>> resolve_py(EffectsPtr effects, const json::object& requested,
                                                         InstallRules rules, WheelFetcher fetch,
                                                         Progress progress);

  ToolRunner tools_;
  NpmResolver npm_;
  PyResolver py_;
  NpmRequest npm_for_all_;
  PyRequest py_for_all_;
};

}  // namespace relay::packages
