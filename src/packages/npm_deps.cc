#include "packages/npm_deps.h"

#include "base/digest.h"
#include "base/disk.h"
#include "capsule/shelf.h"
#include "packages/js_diagnosis.h"
#include "packages/log_excerpt.h"
#include "packages/npm_settings.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommonjsNames = "commonjs.json";
constexpr std::string_view kComplete = ".relay-complete";
constexpr std::size_t kBundleBytes = 64 * limits::kMiB;
constexpr std::size_t kSourceBytes = 4 * limits::kMiB;

// A package of the registry may depend on a git repository, an address, a file or a directory. Preparing a
// repository runs npm inside it, with the repository's own settings, in spite of --ignore-scripts. So only
// the registry is allowed; a version of npm without these options finds no git program either. To npm a
// download from a further host of the registry is such an address, too: with npm.hosts the cage alone says
// which addresses there are.
std::vector<std::string> npm_args(const NpmRequest& request, const NpmOptions& options) {
  return {request.lockfile.empty() ? "install" : "ci",
          "--ignore-scripts",
          "--allow-git=none",
          options.hosts.empty() ? "--allow-remote=none" : "--allow-remote=all",
          "--allow-file=none",
          "--allow-directory=none",
          "--git=relay-allows-no-git",
          "--no-audit",
          "--no-fund",
          "--omit=dev",
          "--no-update-notifier",
          "--no-progress",
          "--loglevel=error",
          "--install-strategy=hoisted",
          "--logs-max=0"};
}

std::vector<std::string> private_paths(const ToolRunner& tools, const NpmOptions& options,
                                       const fs::path& directory) {
  std::vector<std::string> paths{directory.string(), options.cache.string()};
  if (std::string home = variable(tools.environment(), "HOME"); !home.empty())
    paths.push_back(std::move(home));
  return paths;
}

Error with_log(std::string_view sentence, std::string_view log, const std::vector<std::string>& paths) {
  const std::string excerpt = last_lines(redact_log(log, paths), 8);
  return dependency_error(excerpt.empty() ? std::string(sentence) : fmt::format("{}\n{}", sentence, excerpt));
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error))
    names.push_back(item.path().filename().string());
  return names;
}

std::string native_reason_of(const fs::path& installed, const std::string& package) {
  const fs::path directory = installed / "node_modules" / package;
  const auto text = load_file(directory / "package.json", kSourceBytes);
  const auto facts = text ? json::parse_object(*text) : fail(not_found(package));
  return facts ? native_reason(*facts, names_in(directory)) : "";
}

// A package that was asked for, or that complained, and is native: that is the reason people understand.
std::string native_sentence(const fs::path& installed, const std::set<std::string>& packages) {
  for (const std::string& package : packages)
    if (const std::string reason = native_reason_of(installed, package); !reason.empty())
      return fmt::format("'{}' is a native addon ({}), which a sandbox cannot run", package, reason);
  return "";
}

// Loaders of compiled code that found their way into a bundle would fail at run time, far from the cause.
std::set<std::string> packages_that_load_native(const BundleInputs& inputs) {
  std::set<std::string> packages;
  for (const auto& [input, imports] : inputs.imports)
    for (const std::string& imported : imports)
      if (const std::string loader = package_of(imported);
          loader == "bindings" || loader == "node-gyp-build" || loader == "@mapbox/node-pre-gyp")
        if (const std::string package = package_of(input); package != loader) packages.insert(package);
  return packages;
}

std::set<std::string> specifiers_of(const NpmRequest& request) {
  std::set<std::string> specifiers = request.subpaths;
  for (const auto& [name, range] : request.dependencies) specifiers.insert(name);
  return specifiers;
}

// What npm wrote down about the installation. A package from anywhere but a registry is refused, whichever
// options this version of npm has.
Result<void> check_installed(const fs::path& directory) {
  const auto text = load_file(directory / "node_modules" / ".package-lock.json", kBundleBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return {};  // nothing was installed
  if (!text) return fail(text.error());
  RELAY_TRY(const json::object lock, json::parse_object(*text));
  return check_sources(lock);
}

// What is there without its mark was left by a crash; with it, another process was faster.
Result<void> place_installation(const fs::path& temporary, const fs::path& directory, Result<void> done) {
  std::error_code error;
  const bool taken = fs::exists(directory / kComplete, error);
  if (done && !taken) {
    if (fs::exists(directory, error)) capsule::discard_directory(directory);
    if (::rename(temporary.c_str(), directory.c_str()) == 0) return done;
    done = fail(from_errno(errno, "rename an installation into place"));
  }
  capsule::discard_directory(temporary);
  return done;
}

Result<void> write_entries(const fs::path& work, const std::set<std::string>& specifiers) {
  RELAY_CHECK(make_directory(work));
  RELAY_CHECK(replace_file(work / "entry.cjs", bundle_entry(specifiers)));
  std::size_t index = 0;
  for (const std::string& specifier : specifiers)
    RELAY_CHECK(replace_file(work / fmt::format("names{}.mjs", index++), names_entry(specifier)));
  return {};
}

// The directory goes away with the installation: the settings in it may hold credentials.
struct SettingsDirectory {
  explicit SettingsDirectory(fs::path at) : path(std::move(at)) {}
  ~SettingsDirectory() { capsule::discard_directory(path); }
  SettingsDirectory(const SettingsDirectory&) = delete;
  SettingsDirectory& operator=(const SettingsDirectory&) = delete;
  fs::path path;
};

struct Counted {
  explicit Counted(std::atomic<int>& number) : count(number) { ++count; }
  ~Counted() { --count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::atomic<int>& count;
};

std::uint64_t bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(directory, error); at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (error) break;
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  }
  return bytes;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

// A program of a package needs what lies beside it.
std::string shown_for(const std::string& program) {
  constexpr std::string_view kModules = "/node_modules/";
  const std::size_t at = program.rfind(kModules);
  return at == std::string::npos ? program : program.substr(0, at + kModules.size() - 1);
}

std::string refused_sentence(const ToolOutcome& outcome, std::string_view key) {
  return fmt::format("{}. {} in the configuration adds hosts that the registry sends downloads from",
                     outcome.refused.front(), key);
}

json::array named_packages(const NpmRequest& request) {
  json::array names;
  for (const auto& [name, range] : request.dependencies)
    names.emplace_back(fmt::format("{}@{}", name, range));
  return names;
}

}  // namespace

// One bundling: where it happens and what is bundled. The directory goes away with it.
struct NpmResolver::Work {
  Work(fs::path at, const NpmRequest& request)
      : installed(std::move(at)),
        name(temporary_name(".tmp-work-")),
        specifiers(specifiers_of(request)),
        subpaths(request.subpaths) {}
  ~Work() { capsule::discard_directory(path()); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] fs::path path() const { return installed / name; }
  Result<void> read_inputs();
  Result<std::string> make_layer() const;
  Result<void> write_module() const;
  Result<std::map<std::string, std::set<std::string>>> export_names() const;

  fs::path installed;
  std::string name;
  std::set<std::string> specifiers;
  std::set<std::string> subpaths;
  BundleInputs inputs;  // after read_inputs
};

Result<void> NpmResolver::Work::read_inputs() {
  RELAY_TRY(const std::string metafile, load_file(path() / "meta.json", kBundleBytes));
  RELAY_TRY(inputs, read_metafile(metafile, name));
  const std::string native = native_sentence(installed, packages_that_load_native(inputs));
  if (!native.empty()) return fail(dependency_error(native));
  return {};
}

// esbuild knows the names of ES modules; those of CommonJS were written beside the bundle.
Result<std::map<std::string, std::set<std::string>>> NpmResolver::Work::export_names() const {
  RELAY_TRY(const std::string metafile, load_file(path() / "names.json", kBundleBytes));
  RELAY_TRY(const auto exported, read_export_names(metafile, name));
  std::map<std::string, std::set<std::string>> names;
  if (inputs.has_commonjs_roots()) {
    RELAY_TRY(const std::string found, load_file(path() / kCommonjsNames, kBundleBytes));
    RELAY_TRY(names, read_commonjs_names(found));
  }
  std::size_t index = 0;
  for (const std::string& specifier : specifiers) {
    std::set<std::string>& of_this = names[specifier];
    if (const auto found = exported.find(index++); found != exported.end())
      of_this.insert(found->second.begin(), found->second.end());
  }
  return names;
}

Result<std::string> NpmResolver::Work::make_layer() const {
  RELAY_TRY(const std::string code, load_file(path() / "bundle.cjs", kBundleBytes));
  const std::string sourcemap = load_file(path() / "bundle.cjs.map", kBundleBytes).value_or("");
  RELAY_TRY(const auto names, export_names());
  archive::ZipFiles files = make_layer_files(code, sourcemap, inputs.builtins, names);
  if (auto compiled = load_file(path() / "bundle.qbc", kBundleBytes))
    files.emplace("deps/bundle.mjs.qbc", std::move(*compiled));
  return pack_layer(files);
}

// The module as the layer will have it, for the compiler.
Result<void> NpmResolver::Work::write_module() const {
  RELAY_TRY(const std::string code, load_file(path() / "bundle.cjs", kBundleBytes));
  return replace_file(path() / "bundle.mjs", bundle_module(code, inputs.builtins));
}

NpmResolver::NpmResolver(NpmOptions options, ToolRunner& tools, io::ThreadPool& pool, const Clock& clock)
    : options_(std::move(options)),
      tools_(tools),
      pool_(pool),
      clock_(clock),
      layers_(options_.cache / "layers", clock) {
  if (options_.compiler.empty()) return;
  if (const auto engine = load_file(options_.engine, kBundleBytes)) engine_id_ = sha256_hex(*engine);
}

std::string NpmResolver::layer_key(const NpmRequest& request) const {
  std::string text = fmt::format("js layer 3\n{}\n{}\n{}\n", install_key(request),
                                 options_.sourcemaps == Sourcemaps::on ? "map" : "min", engine_id_);
  for (const std::string& subpath : request.subpaths) text += subpath + "\n";
  return sha256_hex(text);
}

std::optional<capsule::DepsLayer> NpmResolver::find(const NpmRequest& request) {
  return layers_.find(layer_key(request));
}

io::Task<capsule::DepsLayer> NpmResolver::resolve(EffectsPtr effects, NpmRequest request, InstallRules rules,
                                                  Progress progress) {
  std::string key = layer_key(request);
  if (auto found = layers_.find(key)) co_return std::move(*found);
  // Before the work is shared: what another call may install is not for a call that may not.
  if (!layers_.is_stored(key) && !is_installed(request))
    RELAY_CO_CHECK(co_await check_rules(effects, request, rules));
  auto work = [this, effects = std::move(effects), request = std::move(request), rules = std::move(rules),
               key, progress = std::move(progress)] {
    return load_or_build(effects, request, rules, key, progress);
  };
  co_return co_await flights_.run(key, std::move(work));
}

bool NpmResolver::is_installed(const NpmRequest& request) const {
  std::error_code error;
  return fs::exists(options_.cache / "npm" / install_key(request) / kComplete, error);
}

io::Task<void> NpmResolver::check_rules(EffectsPtr effects, const NpmRequest& request,
                                        const InstallRules& rules) {
  RELAY_CO_TRY(const ToolSettings settings, co_await load_settings(effects));
  RELAY_CO_TRY(const launch::CageSpec cage, make_tool_cage(settings, options_.hosts, tools_.environment()));
  const auto checked = check_install_hosts(rules, cage.hosts, "npm");
  if (!checked)
    effects->add({.tool = "process",
                  .tier = authority::Tier::stateful,
                  .target = {{"phase", "npm install"}, {"packages", named_packages(request)}},
                  .ending = authority::Ending::denied,
                  .rung = "network",
                  .reason = checked.error().message});
  co_return checked;
}

io::Task<std::string> NpmResolver::find_node(EffectsPtr effects) {
  if (!node_.empty()) co_return node_;
  RELAY_CO_TRY(const std::string program, tools_.find_program(options_.node));
  RELAY_CO_TRY(const std::string said, co_await tools_.ask(effects, program, {"-p", "process.execPath"}));
  node_ = real_path(said);
  co_return node_;
}

// npm on PATH is a link to npm-cli.js, or a program of a version manager that knows where it is.
io::Task<NpmResolver::Programs> NpmResolver::find_npm(EffectsPtr effects) {
  if (programs_) co_return *programs_;
  RELAY_CO_TRY(const std::string program, tools_.find_program(options_.npm));
  Programs found;
  RELAY_CO_TRY(found.node, co_await find_node(effects));
  found.npm = real_path(program);
  if (!found.npm.ends_with("/npm-cli.js")) {
    RELAY_CO_TRY(const std::string modules, co_await tools_.ask(effects, program, {"root", "-g"}));
    found.npm = real_path(modules + "/npm/bin/npm-cli.js");
  }
  std::error_code error;
  if (!fs::exists(found.npm, error))
    co_return fail(dependency_error(fmt::format(
        "'{}' is not npm, and does not say where npm is. Install npm, or put it on PATH.", options_.npm)));
  programs_ = found;
  co_return found;
}

io::Task<ToolSettings> NpmResolver::load_settings(EffectsPtr effects) {
  RELAY_CO_TRY(const Programs programs, co_await find_npm(effects));
  const Environment& environment = tools_.environment();
  NpmrcTexts texts;
  texts.user = load_file(user_npmrc(environment), limits::kToolSettingsBytes).value_or("");
  const std::string global = global_npmrc(environment, texts.user, programs.node);
  texts.global = load_file(global, limits::kToolSettingsBytes).value_or("");
  co_return make_npm_settings(environment, texts);
}

io::Task<capsule::DepsLayer> NpmResolver::load_or_build(EffectsPtr effects, NpmRequest request,
                                                        InstallRules rules, std::string key,
                                                        Progress progress) {
  auto stored = co_await pool_.run([this, key] { return layers_.load(key); });
  if (stored) co_return stored;
  auto installing = [this, effects, request, rules, progress] {
    return install(effects, request, rules, progress);
  };
  RELAY_CO_TRY(const fs::path directory, co_await installs_.run(install_key(request), installing));
  co_return co_await bundle(effects, request, directory, key, progress);
}

io::Task<fs::path> NpmResolver::install(EffectsPtr effects, const NpmRequest& request, InstallRules rules,
                                        Progress progress) {
  const fs::path shelf = options_.cache / "npm";
  const fs::path directory = shelf / install_key(request);
  std::error_code error;
  if (fs::exists(directory / kComplete, error)) {
    capsule::set_used(directory / kComplete, clock_.wall());
    co_return directory;
  }
  RELAY_CO_CHECK(co_await check_rules(effects, request, rules));
  const fs::path temporary = shelf / temporary_name(".tmp-");
  auto done = co_await run_npm(effects, request, temporary, progress);
  if (done) done = write_new_file(temporary / kComplete, "");
  auto placing = [temporary, directory, done] { return place_installation(temporary, directory, done); };
  RELAY_CO_CHECK(co_await pool_.run(placing));
  co_return directory;
}

io::Task<void> NpmResolver::run_npm(EffectsPtr effects, const NpmRequest& request, const fs::path& directory,
                                    Progress progress) {
  RELAY_CO_CHECK(make_directory(directory));
  RELAY_CO_CHECK(write_new_file(directory / "package.json", package_json(request)));
  if (!request.lockfile.empty()) {
    RELAY_CO_TRY(const std::string lockfile, clean_lockfile(request));
    RELAY_CO_CHECK(write_new_file(directory / "package-lock.json", lockfile));
  }
  const SettingsDirectory settings(options_.cache / "npm" / temporary_name(".tmp-settings-"));
  const Counted running(installing_);
  RELAY_CO_TRY(ToolCall call, co_await npm_call(effects, request, directory, settings.path));
  RELAY_CO_TRY(const ToolOutcome outcome, co_await tools_.run(effects, std::move(call), std::move(progress)));
  if (outcome.status.clean()) co_return check_installed(directory);
  const std::string sentence = outcome.refused.empty() ? diagnose_npm(outcome.err, outcome.proxy)
                                                       : refused_sentence(outcome, "npm.hosts");
  co_return fail(with_log(sentence, outcome.err, private_paths(tools_, options_, directory)));
}

io::Task<ToolCall> NpmResolver::npm_call(EffectsPtr effects, const NpmRequest& request,
                                         const fs::path& directory, const fs::path& settings) {
  RELAY_CO_TRY(const Programs programs, co_await find_npm(effects));
  RELAY_CO_TRY(const ToolSettings made, co_await load_settings(effects));
  const fs::path downloads = options_.cache / "npm-cache";
  RELAY_CO_CHECK(make_directory(downloads));
  RELAY_CO_CHECK(make_directory(settings));
  RELAY_CO_CHECK(write_new_file(settings / "npmrc", made.text));
  ToolCall call{
      .program = programs.node, .args = npm_args(request, options_), .directory = directory.string()};
  call.args.insert(call.args.begin(), programs.npm);
  call.args.push_back("--cache=" + downloads.string());
  call.args.push_back("--userconfig=" + (settings / "npmrc").string());
  call.args.push_back("--globalconfig=" + (settings / "none").string());
  call.phase = "npm install";
  call.timeout = options_.install_timeout;
  call.packages = named_packages(request);
  RELAY_CO_TRY(call.cage, make_tool_cage(made, options_.hosts, tools_.environment()));
  call.cage.write = {directory.string(), downloads.string()};
  for (std::string& path : std::vector<std::string>{
           settings.string(), programs.node, fs::path(programs.npm).parent_path().parent_path().string()})
    add_once(call.cage.read, std::move(path));
  co_return call;
}

io::Task<capsule::DepsLayer> NpmResolver::bundle(EffectsPtr effects, const NpmRequest& request,
                                                 const fs::path& directory, const std::string& key,
                                                 Progress progress) {
  const auto work = std::make_shared<Work>(directory, request);
  RELAY_CO_CHECK(co_await run_esbuild(effects, *work, progress));
  RELAY_CO_CHECK(co_await pool_.run([work] { return work->read_inputs(); }));
  RELAY_CO_CHECK(co_await find_commonjs_names(effects, *work, progress));
  RELAY_CO_CHECK(co_await compile(effects, *work, progress));
  auto packing = [this, work, key]() -> Result<capsule::DepsLayer> {
    RELAY_TRY(std::string zip, work->make_layer());
    return layers_.save(key, std::move(zip));
  };
  co_return co_await with_progress(pool_.run(packing), "packing dependencies", progress);
}

io::Task<void> NpmResolver::find_commonjs_names(EffectsPtr effects, Work& work, Progress progress) {
  if (!work.inputs.has_commonjs_roots()) co_return Result<void>{};
  std::vector<std::string> args{options_.names_finder.string(), (work.path() / "meta.json").string(),
                                entry_path(work.name), (work.path() / kCommonjsNames).string()};
  RELAY_CO_TRY(const std::string node, co_await find_node(effects));
  ToolCall call{.program = node, .args = std::move(args), .directory = work.installed.string()};
  call.phase = "bundling dependencies";
  call.timeout = options_.bundle_timeout;
  call.cage.read = {options_.names_finder.parent_path().string(), work.installed.string(), node};
  call.cage.write = {work.path().string()};
  RELAY_CO_TRY(const ToolOutcome outcome, co_await tools_.run(effects, std::move(call), std::move(progress)));
  if (outcome.status.clean()) co_return Result<void>{};
  co_return fail(with_log("node could not find the names that CommonJS packages export", outcome.err,
                          private_paths(tools_, options_, work.installed)));
}

// Bytecode only saves time: without it the engine reads the source. Traces that a source map explains need
// the source.
io::Task<void> NpmResolver::compile(EffectsPtr effects, Work& work, Progress progress) {
  if (options_.compiler.empty() || options_.sourcemaps == Sourcemaps::on) co_return Result<void>{};
  RELAY_CO_CHECK(work.write_module());
  const fs::path made = work.path() / "bundle.qbc";
  std::vector<std::string> args{options_.compiler.string(), options_.engine.string(),
                                (work.path() / "bundle.mjs").string(), made.string()};
  const auto node = co_await find_node(effects);
  if (!node) co_return Result<void>{};
  ToolCall call{.program = *node, .args = std::move(args), .directory = work.path().string()};
  call.phase = "compiling dependencies";
  call.timeout = options_.bundle_timeout;
  call.cage.read = {options_.compiler.parent_path().string(), options_.engine.string(), *node};
  call.cage.write = {work.path().string()};
  const auto outcome = co_await tools_.run(effects, std::move(call), std::move(progress));
  std::error_code ignored;
  if (!outcome || !outcome->status.clean()) fs::remove(made, ignored);
  co_return Result<void>{};
}

Result<void> NpmResolver::prune() {
  const fs::path shelf = options_.cache / "npm";
  const fs::path downloads = options_.cache / "npm-cache";
  if (installing_ == 0 && bytes_below(downloads) > limits::kNpmCacheBytes)
    capsule::discard_directory(downloads);
  RELAY_CHECK(layers_.prune());
  return capsule::prune_shelf(shelf, kComplete, clock_.wall());
}

Result<ToolCall> NpmResolver::esbuild_call(const fs::path& directory, std::vector<std::string> args) const {
  RELAY_TRY(const std::string found, tools_.find_program(options_.esbuild));
  ToolCall call{.program = real_path(found), .args = std::move(args), .directory = directory.string()};
  call.phase = "bundling dependencies";
  call.timeout = options_.bundle_timeout;
  call.cage.read = {shown_for(call.program)};
  call.cage.write = {directory.string()};
  return call;
}

io::Task<void> NpmResolver::run_esbuild(EffectsPtr effects, Work& work, Progress progress) {
  RELAY_CO_CHECK(write_entries(work.path(), work.specifiers));
  RELAY_CO_TRY(ToolCall bundling, esbuild_call(work.installed, bundle_args(work.name, options_.sourcemaps)));
  RELAY_CO_TRY(ToolOutcome outcome, co_await tools_.run(effects, std::move(bundling), progress));
  if (!outcome.status.clean()) {
    // The source was searched for subpaths by looking at strings: those that are none are left out.
    std::size_t dropped = 0;
    for (const std::string& missing : missing_entries(outcome.err, work.name))
      if (work.subpaths.erase(missing) > 0) dropped += work.specifiers.erase(missing);
    if (dropped > 0) co_return co_await run_esbuild(effects, work, std::move(progress));
    std::set<std::string> suspects = complaining_packages(outcome.err);
    for (const std::string& specifier : work.specifiers) suspects.insert(specifier);
    const std::string native = native_sentence(work.installed, suspects);
    co_return fail(dependency_error(native.empty() ? diagnose_esbuild(outcome.err) : native));
  }
  RELAY_CO_TRY(ToolCall naming, esbuild_call(work.installed, names_args(work.name, work.specifiers.size())));
  RELAY_CO_TRY(outcome, co_await tools_.run(effects, std::move(naming), std::move(progress)));
  if (!outcome.status.clean()) co_return fail(dependency_error(diagnose_esbuild(outcome.err)));
  co_return Result<void>{};
}

std::string find_esbuild(const fs::path& node_modules, const Environment& environment) {
  std::error_code error;
  for (const char* candidate :
       {"@esbuild/linux-x64/bin/esbuild", "@esbuild/linux-arm64/bin/esbuild", "esbuild/bin/esbuild"})
    if (fs::exists(node_modules / candidate, error)) return (node_modules / candidate).string();
  const auto given = environment.find("ESBUILD_BINARY_PATH");
  return given == environment.end() ? "esbuild" : given->second;
}

}  // namespace relay::packages
