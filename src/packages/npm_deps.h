// NpmResolver: npm packages as a layer that guest code can import. Loop thread only; slow work is in children
// and the pool.
//
//   request ── key ──▶ layer in memory ─▶ layer on disk ─▶ installed before? ─▶ npm install ─▶ esbuild ─▶
//   names of CommonJS packages ─▶ bytecode ─▶ layer
//
// npm is the user's own, in a cage that reaches the registries of the user's settings and nothing else;
// scripts never run. esbuild and the compiler of bundles have cages without a network. What it installed is
// kept by the exact request, so that asking again, also with other entry points, does not touch npm. A
// package that needs compiled code or a Node built-in that guests do not have fails with
// DepsResolutionFailed.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/limits.h"
#include "io/single_flight.h"
#include "io/thread_pool.h"
#include "packages/install_rules.h"
#include "packages/js_bundle.h"
#include "packages/layer_cache.h"
#include "packages/npm_request.h"
#include "packages/tool_run.h"
#include "packages/tool_settings.h"

namespace relay::packages {

struct NpmOptions {
  std::filesystem::path cache;  // ".relay/deps"
  std::string npm = "npm";
  std::string esbuild = "esbuild";
  std::vector<std::string> hosts;  // npm.hosts: further hosts that a registry sends downloads from
  Sourcemaps sourcemaps = Sourcemaps::off;
  std::string node = "node";           // runs the two scripts: where npm is, node is
  std::filesystem::path names_finder;  // runtime/commonjs-names.mjs
  std::filesystem::path compiler;      // runtime/compile-bundle.mjs; empty: layers hold source only
  std::filesystem::path engine;        // runtime/quickjs.wasm: bytecode is for exactly this one
  std::chrono::seconds install_timeout = limits::kInstallTimeout;
  std::chrono::seconds bundle_timeout = limits::kBundleTimeout;  // of each step after npm
};

class NpmResolver {
 public:
  NpmResolver(NpmOptions options, ToolRunner& tools, io::ThreadPool& pool, const Clock& clock);

  /// The answer when it is in memory: costs a hash and a look-up.
  std::optional<capsule::DepsLayer> find(const NpmRequest& request);

  /// Several callers with one request share the work. The rules hold where npm has to run.
  io::Task<capsule::DepsLayer> resolve(EffectsPtr effects, NpmRequest request, InstallRules rules,
                                       Progress progress);

  /// Drops layers and installed packages that are old or too much, and what crashes left behind. Blocking.
  Result<void> prune();

 private:
  struct Work;
  /// Where node and npm really are, behind links and version managers' shims.
  struct Programs {
    std::string node;
    std::string npm;  // npm-cli.js
  };
  io::Task<capsule::DepsLayer> load_or_build(EffectsPtr effects, NpmRequest request, InstallRules rules,
                                             std::string key, Progress progress);
  io::Task<std::filesystem::path> install(EffectsPtr effects, const NpmRequest& request, InstallRules rules,
                                          Progress progress);
  io::Task<void> run_npm(EffectsPtr effects, const NpmRequest& request,
                         const std::filesystem::path& directory, Progress progress);
  io::Task<ToolCall> npm_call(EffectsPtr effects, const NpmRequest& request,
                              const std::filesystem::path& directory, const std::filesystem::path& settings);
  io::Task<std::string> find_node(EffectsPtr effects);
  io::Task<Programs> find_npm(EffectsPtr effects);
  io::Task<void> check_rules(EffectsPtr effects, const NpmRequest& request, const InstallRules& rules);
  io::Task<ToolSettings> load_settings(EffectsPtr effects);
  [[nodiscard]] bool is_installed(const NpmRequest& request) const;
  io::Task<capsule::DepsLayer> bundle(EffectsPtr effects, const NpmRequest& request,
                                      const std::filesystem::path& directory, const std::string& key,
                                      Progress progress);
  io::Task<void> run_esbuild(EffectsPtr effects, Work& work, Progress progress);
  io::Task<void> find_commonjs_names(EffectsPtr effects, Work& work, Progress progress);
  io::Task<void> compile(EffectsPtr effects, Work& work, Progress progress);
  Result<ToolCall> esbuild_call(const std::filesystem::path& directory, std::vector<std::string> args) const;
  [[nodiscard]] std::string layer_key(const NpmRequest& request) const;

  NpmOptions options_;
  ToolRunner& tools_;
  std::string node_;                  // where it is, once it was asked
  std::optional<Programs> programs_;  // the same of npm
  std::atomic<int> installing_ = 0;   // how many npm run now: their cache stays
  std::string engine_id_;             // of the engine that bytecode is for; empty without a compiler
  io::ThreadPool& pool_;
  const Clock& clock_;
  LayerCache layers_;
  io::SingleFlight<capsule::DepsLayer> flights_;
  io::SingleFlight<std::filesystem::path> installs_;
};

/// esbuild's program, from what usually is there: a path given by the user, the harness's node_modules, PATH.
std::string find_esbuild(const std::filesystem::path& node_modules, const Environment& environment);

}  // namespace relay::packages
