#include "packages/npm_deps.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "base/disk.h"
#include "packages/npm_fixture.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

// A stand-in for npm: "installs" packages from its own directory and writes down that it was called, in the
// cache that it is given.
constexpr std::string_view kFakeNpm = R"(
const fs = require("node:fs"), path = require("node:path");
const args = process.argv.slice(2);
const value = (name) => args.find((arg) => arg.startsWith(`--${name}=`)).slice(name.length + 3);
fs.appendFileSync(path.join(value("cache"), "calls"), args.join(" ") + "\n");
fs.writeFileSync(path.join(value("cache"), "npmrc"), fs.readFileSync(value("userconfig")));
fs.writeFileSync(path.join(value("cache"), "environment"), JSON.stringify(process.env));
const wanted = fs.readFileSync("package.json", "utf8");
if (wanted.includes('"missing"')) {
  console.error("npm error code E404");
  console.error("npm error 404 Not Found - GET https://user:hunter2@registry.corp.example/missing");
  console.error("npm error 404  'missing@*' is not in this registry.");
  process.exit(1);
}
const install = () => fs.cpSync(path.join(__dirname, "../packages"), "node_modules", { recursive: true });
if (wanted.includes('"slow"')) setTimeout(install, 1300);
else install();
)";

class NpmDeps : public NpmFixture {
 protected:
  void SetUp() override {
    NpmFixture::SetUp();
    put("npm/bin/npm-cli.js", kFakeNpm);
    ::chmod((scratch.path() / "npm/bin/npm-cli.js").c_str(), 0755);
    put("npm/packages/pure/package.json", R"({"name":"pure","version":"1.0.0","main":"main.js"})");
    put("npm/packages/pure/main.js",
        "function pure(x) { return x + 1 }\nmodule.exports = pure; module.exports.twice = x => 2 * x;");
    put("npm/packages/pure/sub.js", "exports.sub = 'sub';");
    put("npm/packages/modern/package.json",
        R"({"name":"modern","type":"module","exports":{".":{"import":"./i.js"}}})");
    put("npm/packages/modern/i.js",
        "import pure from 'pure'; export const answer = pure(41); export default class Modern {}; export * "
        "from './more.js';");
    put("npm/packages/modern/more.js", "export const more = [];");
    put("npm/packages/uses-path/package.json", R"({"name":"uses-path"})");
    put("npm/packages/uses-path/index.js",
        "const p = require('path'); exports.join = (...a) => p.join(...a); try { require('net') } catch (e) "
        "{ exports.net = e.code }");
    put("npm/packages/needs-net/package.json", R"({"name":"needs-net","type":"module","main":"i.js"})");
    put("npm/packages/needs-net/i.js", "import net from 'node:net'; export const s = () => net.connect(1);");
    put("npm/packages/native/package.json", R"({"name":"native","main":"i.js"})");
    put("npm/packages/native/binding.gyp", "{}");
    put("npm/packages/native/i.js", "module.exports = require('./build/Release/native.node');");
    put("npm/packages/leaky/package.json", R"({"name":"leaky","main":"i.js"})");
    put("secret.json", R"({"password":"x"})");
    put("npm/packages/leaky/i.js",
        fmt::format("module.exports = require('{}');", (scratch.path() / "secret.json").string()));
  }

  void put(const fs::path& name, std::string_view bytes) {
    fs::create_directories((scratch.path() / name).parent_path());
    std::ofstream(scratch.path() / name) << bytes;
  }
  NpmOptions options() {
    return {.cache = scratch.path() / "deps",
            .npm = (scratch.path() / "npm/bin/npm-cli.js").string(),
            .esbuild = esbuild_of_test(),
            .names_finder = make_names_finder(scratch.path())};
  }
  std::string kept(const char* name) {
    return load_file(scratch.path() / "deps/npm-cache" / name, 1 * limits::kMiB).value_or("");
  }
  std::size_t npm_calls() { return static_cast<std::size_t>(std::ranges::count(kept("calls"), '\n')); }
  Result<capsule::DepsLayer> resolve(NpmResolver& resolver, NpmRequest request) {
    return run(resolver.resolve(effects(), std::move(request), rules, {}));
  }
  Result<capsule::DepsLayer> resolve(NpmRequest request) {
    NpmResolver resolver(options(), tools, pool, clock);
    return resolve(resolver, std::move(request));
  }
  static NpmRequest wanting(std::initializer_list<const char*> names, std::set<std::string> subpaths = {}) {
    NpmRequest request{.subpaths = std::move(subpaths)};
    for (const char* name : names) request.dependencies.emplace(name, "*");
    return request;
  }

  ToolRunner tools{tools_of_test({{"PATH", std::getenv("PATH")},
                                  {"HOME", "/nonexistent"},
                                  {"LANG", "C.UTF-8"},
                                  {"AWS_SECRET_ACCESS_KEY", "s3cret"},
                                  {"npm_config_git", "evil-git"},
                                  {"npm_config_globalconfig", "/nonexistent"},
                                  {"npm_config_registry", "http://registry.example:4873/npm/"}}),
                   clock};
  InstallRules rules;
};

TEST_F(NpmDeps, BothImportAndRequireReachPackages) {
  const auto layer = resolve(wanting({"pure", "modern"}, {"pure/sub.js"}));
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(evaluate(*layer, R"(
    import pure, { twice } from "./pure.mjs"; import Modern, { answer, more } from "./modern.mjs"; import { sub } from "./pure+sub.js.mjs";
    const require = globalThis[Symbol.for("relay.deps")];
    console.log(pure(1), twice(4), answer, typeof Modern, more.length, sub, require("pure") === pure, require("modern").answer);
    try { require("other") } catch (error) { console.log(error.code) })"),
            "2 8 42 function 0 sub true 42\nMODULE_NOT_FOUND\n");
}

TEST_F(NpmDeps, NamesOfCommonJsPackagesAreThoseThatNodeFinds) {
  put("npm/packages/again/package.json", R"({"name":"again"})");
  put("npm/packages/again/index.js",
      "__exportStar(require('./lib'), exports); exports.own = 1; const f = {}; f.no = 1;\n"
      "function __exportStar(from, to) { for (const name in from) to[name] = from[name] }");
  put("npm/packages/again/lib/index.js", "module.exports = require('pure/sub.js');");
  const auto layer = resolve(wanting({"again"}));
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(evaluate(*layer,
                     R"(import * as all from "./again.mjs"; console.log(Object.keys(all).join(), all.sub))"),
            "default,own,sub sub\n");
}

TEST_F(NpmDeps, AFinderOfNamesThatCannotRunIsAFailure) {
  NpmOptions broken = options();
  broken.names_finder = scratch.path() / "not-there.mjs";
  NpmResolver resolver(broken, tools, pool, clock);
  const auto layer = resolve(resolver, wanting({"pure"}));
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
  EXPECT_TRUE(
      layer.error().message.starts_with("node could not find the names that CommonJS packages export"))
      << layer.error().message;
}

TEST_F(NpmDeps, BuiltinsOfTheGuestStayOutsideAndOptionalOnesMayBeMissing) {
  const auto layer = resolve(wanting({"uses-path"}));
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(
      evaluate(*layer,
               R"(import { join, net } from "./uses-path.mjs"; console.log(join("a", "..", "b"), net))"),
      "b MODULE_NOT_FOUND\n");
}

TEST_F(NpmDeps, ASecondRunDoesNotTouchNpm) {
  const auto first = resolve(wanting({"pure"}));
  ASSERT_TRUE(first);
  EXPECT_EQ(npm_calls(), 1U);
  fs::remove(scratch.path() / "npm/bin/npm-cli.js");  // from here on npm cannot even be started
  const auto again = resolve(wanting({"pure"}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sha256, first->sha256);
  const auto other_entry = resolve(wanting({"pure"}, {"pure/sub.js"}));
  ASSERT_TRUE(other_entry) << "another entry point of what is installed: " << other_entry.error().message;
  EXPECT_FALSE(resolve(wanting({"modern"}))) << "what is not installed needs npm";
}

TEST_F(NpmDeps, OneResolverAnswersFromMemory) {
  NpmResolver resolver(options(), tools, pool, clock);
  EXPECT_FALSE(resolver.find(wanting({"pure"})));
  const auto first = resolve(resolver, wanting({"pure"}));
  ASSERT_TRUE(first);
  fs::remove_all(scratch.path() / "deps");
  const auto found = resolver.find(wanting({"pure"}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, first->bytes);
}

TEST_F(NpmDeps, CallersWithOneRequestShareTheWork) {
  NpmResolver resolver(options(), tools, pool, clock);
  auto both = [this](NpmResolver& shared) -> io::Task<bool> {
    std::optional<Result<capsule::DepsLayer>> one;
    std::optional<Result<capsule::DepsLayer>> two;
    RELAY_CO_CHECK(
        co_await io::both(io::store_result(shared.resolve(effects(), wanting({"pure"}), {}, {}), one),
                          io::store_result(shared.resolve(effects(), wanting({"pure"}), {}, {}), two)));
    co_return *one && *two && (*one)->bytes == (*two)->bytes;
  };
  const auto same = run(both(resolver));
  ASSERT_TRUE(same);
  EXPECT_TRUE(*same);
  EXPECT_EQ(npm_calls(), 1U);
}

TEST_F(NpmDeps, ADamagedLayerIsBuiltAgain) {
  const auto first = resolve(wanting({"pure"}));
  ASSERT_TRUE(first);
  for (const auto& item : fs::recursive_directory_iterator(scratch.path() / "deps" / "layers"))
    if (item.path().extension() == ".zip") std::ofstream(item.path(), std::ios::app) << "x";
  const auto again = resolve(wanting({"pure"}));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sha256, first->sha256) << "and the same input gives the same bytes";
}

TEST_F(NpmDeps, ScriptsAreOffAndALockfileMeansCi) {
  ASSERT_TRUE(resolve(wanting({"pure"})));
  NpmRequest locked = wanting({"pure"});
  locked.lockfile = R"({"lockfileVersion":3,"packages":{"node_modules/pure":{"version":"1.0.0"}}})";
  ASSERT_TRUE(resolve(locked));
  std::istringstream file(kept("calls"));
  std::string first, second;
  std::getline(file, first);
  std::getline(file, second);
  EXPECT_TRUE(first.starts_with("install --ignore-scripts ")) << first;
  EXPECT_TRUE(second.starts_with("ci --ignore-scripts ")) << second;
}

TEST_F(NpmDeps, AStringThatIsNoSubpathDoesNoHarm) {
  const auto layer = resolve(wanting({"pure"}, {"pure/sub.js", "pure/not-there"}));
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(evaluate(*layer, R"(import { sub } from "./pure+sub.js.mjs"; console.log(sub))"), "sub\n");
}

TEST_F(NpmDeps, SaysWhyAPackageCannotRun) {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"needs-net", "'needs-net' needs the Node.js built-in module 'net', which a sandbox does not have"},
      {"native", "'native' is a native addon (it is built with node-gyp), which a sandbox cannot run"},
      {"absent", "there is no module 'absent' in the installed packages"},
  };
  for (const auto& [name, message] : cases) {
    const auto layer = resolve(wanting({name}));
    ASSERT_FALSE(layer) << name;
    EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
    EXPECT_EQ(layer.error().message, message);
  }
}

TEST_F(NpmDeps, NpmsLogIsShownWithoutSecrets) {
  const auto layer = resolve(wanting({"missing"}));
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
  EXPECT_TRUE(layer.error().message.starts_with("npm cannot find 'missing@*' in the registry\n"))
      << layer.error().message;
  EXPECT_EQ(layer.error().message.find("hunter2"), std::string::npos);
  EXPECT_EQ(layer.error().message.find("corp.example"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(scratch.path() / "deps" / "npm")) << "a failed installation leaves nothing";
}

TEST_F(NpmDeps, APackageCannotSmuggleFilesOfThisMachineIntoABundle) {
  const auto layer = resolve(wanting({"leaky"}));
  ASSERT_FALSE(layer);
  EXPECT_NE(layer.error().message.find("which is not installed"), std::string::npos) << layer.error().message;
}

TEST_F(NpmDeps, SlowBuildsReportProgress) {
  put("npm/packages/slow/package.json", R"({"name":"slow"})");
  put("npm/packages/slow/index.js", "");
  NpmResolver resolver(options(), tools, pool, clock);
  std::vector<std::string> phases;
  const Progress progress = [&](std::string_view phase, std::chrono::milliseconds) {
    phases.emplace_back(phase);
  };
  ASSERT_TRUE(run(resolver.resolve(effects(), wanting({"slow"}), {}, progress)));
  ASSERT_FALSE(phases.empty());
  EXPECT_EQ(phases.front(), "npm install");
}

TEST_F(NpmDeps, WithSourcemapsTheLayerHasTheMap) {
  NpmOptions mapped = options();
  mapped.sourcemaps = Sourcemaps::on;
  NpmResolver resolver(mapped, tools, pool, clock);
  const auto layer = resolve(resolver, wanting({"pure"}));
  ASSERT_TRUE(layer) << layer.error().message;
  const auto reader = archive::ZipReader::open(*layer->bytes);
  const archive::ZipEntry* map = reader->find("deps/bundle.mjs.map");
  ASSERT_NE(map, nullptr);
  EXPECT_NE(reader->read(*map)->find("node_modules/pure/main.js"), std::string::npos);
}

TEST_F(NpmDeps, AMissingNpmIsNamed) {
  NpmOptions without = options();
  without.npm = "npm-that-is-not-there";
  NpmResolver resolver(without, tools, pool, clock);
  const auto layer = resolve(resolver, wanting({"pure"}));
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
  EXPECT_NE(layer.error().message.find("npm-that-is-not-there"), std::string::npos);
}

TEST_F(NpmDeps, NpmGetsTheRegistryOfTheUserAndNothingElse) {
  ASSERT_TRUE(resolve(wanting({"pure"})));
  EXPECT_EQ(kept("npmrc"), "registry=\"http://registry.example:4873/npm/\"\n");
  const std::string environment = kept("environment");
  for (const char* hidden : {"s3cret", "AWS_SECRET_ACCESS_KEY", "evil-git", "npm_config", "/nonexistent"})
    EXPECT_EQ(environment.find(hidden), std::string::npos) << hidden << environment;
  EXPECT_NE(environment.find(R"("HTTPS_PROXY":"http://127.0.0.1:)"), std::string::npos) << environment;
  EXPECT_NE(environment.find(R"("LANG":"C.UTF-8")"), std::string::npos) << environment;
  for (const auto& item : fs::directory_iterator(scratch.path() / "deps/npm"))
    EXPECT_FALSE(item.path().filename().string().starts_with(".tmp-settings")) << "credentials stay behind";
}

TEST_F(NpmDeps, ACallWhosePolicyLacksTheRegistryIsRefusedBeforeNpmRuns) {
  rules.allowed = {*policy::parse_host_pattern("api.example")};
  const auto refused = resolve(wanting({"pure"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::denied);
  EXPECT_NE(refused.error().message.find("Add \"registry.example:4873\""), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(npm_calls(), 0U);
  rules.allowed->push_back(*policy::parse_host_pattern("registry.example"));
  ASSERT_TRUE(resolve(wanting({"pure"})));
  EXPECT_EQ(npm_calls(), 1U);
  rules.allowed->clear();
  EXPECT_TRUE(resolve(wanting({"pure"}))) << "what is there needs no network";
}

TEST_F(NpmDeps, ARegistryThatPolicyDeniesIsNotAsked) {
  rules.denied = {*policy::parse_host_pattern("*.example")};
  const auto refused = resolve(wanting({"pure"}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("deniedDomains"), std::string::npos) << refused.error().message;
  EXPECT_EQ(npm_calls(), 0U);
}

}  // namespace
}  // namespace relay::packages
