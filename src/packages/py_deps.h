// PyResolver: Python wheels as a layer that guest code can import. Loop thread only.
//
// `pip download` of the user's own pip resolves and fetches, wheels only, for the guest's interpreter instead
// of this machine's; nothing is built and nothing of it is run. pip is in a cage that reaches the indexes of
// the user's settings and nothing else. Packages of the Pyodide distribution (numpy and the like) come from a
// mirror, bound to the hashes of its lock file. The wheels are unpacked into the layer here, at build time,
// so that a guest only has to put /site-packages on its path. Limits: environment markers in requirements are
// evaluated by the pip that runs here.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "io/single_flight.h"
#include "io/thread_pool.h"
#include "packages/install_rules.h"
#include "packages/layer_cache.h"
#include "packages/py_request.h"
#include "packages/pyodide_lock.h"
#include "packages/tool_run.h"
#include "packages/tool_settings.h"

namespace relay::packages {

/// Fetches one wheel under the run's network policy; relay's guarded client in the program, anything in a
/// test.
using WheelFetcher = std::function<io::Task<std::string>(std::string url)>;

struct PyOptions {
  std::filesystem::path cache;     // ".relay/deps"
  std::string python = "python3";  // that has pip
  std::vector<std::string> hosts;  // pip.hosts: further hosts that an index sends downloads from
  PyodideLock lock;                // of the runtime that guests use
  std::string mirror;              // directory or address of the distribution's wheels; empty: none
};

class PyResolver {
 public:
  PyResolver(PyOptions options, ToolRunner& tools, io::ThreadPool& pool, const Clock& clock);

  std::optional<capsule::DepsLayer> find(const PyRequest& request);
  /// The rules hold where pip has to run.
  io::Task<capsule::DepsLayer> resolve(EffectsPtr effects, PyRequest request, InstallRules rules,
                                       WheelFetcher fetch, Progress progress);

  /// Drops layers that are old or too much, and what crashes left behind. Blocking.
  Result<void> prune();

 private:
  /// Where the interpreter really is, behind links and version managers' shims, and where its pip is.
  struct Python {
    std::string program;
    std::string prefix;
    std::string base_prefix;  // another one in a virtual environment
    std::string pip;          // the directory that pip is imported from
  };
  io::Task<capsule::DepsLayer> load_or_build(EffectsPtr effects, PyRequest request, InstallRules rules,
                                             std::string key, WheelFetcher fetch, Progress progress);
  io::Task<Python> find_python(EffectsPtr effects);
  io::Task<ToolSettings> load_settings(EffectsPtr effects);
  io::Task<launch::CageSpec> make_cage(EffectsPtr effects, const ToolSettings& settings);
  io::Task<void> check_rules(EffectsPtr effects, const PyRequest& request, const InstallRules& rules);
  io::Task<ToolCall> pip_call(EffectsPtr effects, const PyRequest& request,
                              const std::filesystem::path& work);
  io::Task<capsule::DepsLayer> build(EffectsPtr effects, const PyRequest& request, const std::string& key,
                                     const std::filesystem::path& work, WheelFetcher fetch,
                                     Progress progress);
  io::Task<void> fetch_wheels(const PyRequest& request, const std::filesystem::path& wheels,
                              const WheelFetcher& fetch);
  io::Task<void> run_pip(EffectsPtr effects, const PyRequest& request, const std::filesystem::path& work,
                         Progress progress);
  [[nodiscard]] std::vector<std::string> pip_args(const std::filesystem::path& work) const;
  [[nodiscard]] std::string key_of(const PyRequest& request) const;

  PyOptions options_;
  ToolRunner& tools_;
  std::optional<Python> python_;  // once it was asked
  io::ThreadPool& pool_;
  const Clock& clock_;
  LayerCache layers_;
  io::SingleFlight<capsule::DepsLayer> flights_;
};

/// From pip's stderr: "pip finds no wheel for 'x' that fits ...". Pure.
std::string diagnose_pip(std::string_view log, const PythonPlatform& platform,
                         ProxySaw proxy = ProxySaw::hosts);

}  // namespace relay::packages
