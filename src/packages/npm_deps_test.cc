#include "packages/npm_deps.h"

#include <sys/stat.h>

#include "packages/npm_fixture.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

// A stand-in for npm: "installs" packages from a directory of the test and writes down that it was called.
constexpr std::string_view kFakeNpm = R"(#!/bin/sh
echo "$@" >> "$npm_config_calls"
if grep -q '"missing"' package.json; then
  echo "npm error code E404" >&2
  echo "npm error 404 Not Found - GET https://user:hunter2@registry.corp.example/missing" >&2
  echo "npm error 404  'missing@*' is not in this registry." >&2
  exit 1
fi
if grep -q '"slow"' package.json; then sleep 1.3; fi
cp -r "$npm_config_packages" node_modules
)";

class NpmDeps : public NpmFixture {
 protected:
  void SetUp() override {
    NpmFixture::SetUp();
    put("npm", kFakeNpm);
    ::chmod((scratch.path() / "npm").c_str(), 0755);
    put("packages/pure/package.json", R"({"name":"pure","version":"1.0.0","main":"main.js"})");
    put("packages/pure/main.js",
        "function pure(x) { return x + 1 }\nmodule.exports = pure; module.exports.twice = x => 2 * x;");
    put("packages/pure/sub.js", "exports.sub = 'sub';");
    put("packages/modern/package.json",
        R"({"name":"modern","type":"module","exports":{".":{"import":"./i.js"}}})");
    put("packages/modern/i.js",
        "import pure from 'pure'; export const answer = pure(41); export default class Modern {}; export * "
        "from './more.js';");
    put("packages/modern/more.js", "export const more = [];");
    put("packages/uses-path/package.json", R"({"name":"uses-path"})");
    put("packages/uses-path/index.js",
        "const p = require('path'); exports.join = (...a) => p.join(...a); try { require('net') } catch (e) "
        "{ exports.net = e.code }");
    put("packages/needs-net/package.json", R"({"name":"needs-net","type":"module","main":"i.js"})");
    put("packages/needs-net/i.js", "import net from 'node:net'; export const s = () => net.connect(1);");
    put("packages/native/package.json", R"({"name":"native","main":"i.js"})");
    put("packages/native/binding.gyp", "{}");
    put("packages/native/i.js", "module.exports = require('./build/Release/native.node');");
    put("packages/leaky/package.json", R"({"name":"leaky","main":"i.js"})");
    put("secret.json", R"({"password":"x"})");
    put("packages/leaky/i.js",
        fmt::format("module.exports = require('{}');", (scratch.path() / "secret.json").string()));
  }

  void put(const fs::path& name, std::string_view bytes) {
    fs::create_directories((scratch.path() / name).parent_path());
    std::ofstream(scratch.path() / name) << bytes;
  }
  NpmOptions options() {
    Environment environment{{"PATH", "/usr/bin:/bin"},
                            {"HOME", "/nonexistent"},
                            {"npm_config_calls", (scratch.path() / "calls").string()},
                            {"npm_config_packages", (scratch.path() / "packages").string()}};
    return {.cache = scratch.path() / "deps",
            .npm = (scratch.path() / "npm").string(),
            .esbuild = esbuild_of_test(),
            .environment = environment,
            .names_finder = names_finder_of_test()};
  }
  std::size_t npm_calls() {
    std::ifstream file(scratch.path() / "calls");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  Result<capsule::DepsLayer> resolve(NpmResolver& resolver, NpmRequest request) {
    return run(resolver.resolve(effects(), std::move(request), {}));
  }
  Result<capsule::DepsLayer> resolve(NpmRequest request) {
    NpmResolver resolver(options(), pool, clock);
    return resolve(resolver, std::move(request));
  }
  static NpmRequest wanting(std::initializer_list<const char*> names, std::set<std::string> subpaths = {}) {
    NpmRequest request{.subpaths = std::move(subpaths)};
    for (const char* name : names) request.dependencies.emplace(name, "*");
    return request;
  }
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
  put("packages/again/package.json", R"({"name":"again"})");
  put("packages/again/index.js",
      "__exportStar(require('./lib'), exports); exports.own = 1; const f = {}; f.no = 1;\n"
      "function __exportStar(from, to) { for (const name in from) to[name] = from[name] }");
  put("packages/again/lib/index.js", "module.exports = require('pure/sub.js');");
  const auto layer = resolve(wanting({"again"}));
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(evaluate(*layer,
                     R"(import * as all from "./again.mjs"; console.log(Object.keys(all).join(), all.sub))"),
            "default,own,sub sub\n");
}

TEST_F(NpmDeps, AFinderOfNamesThatCannotRunIsAFailure) {
  NpmOptions broken = options();
  broken.names_finder = scratch.path() / "not-there.mjs";
  NpmResolver resolver(broken, pool, clock);
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
  fs::remove(scratch.path() / "npm");  // from here on npm cannot even be started
  const auto again = resolve(wanting({"pure"}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sha256, first->sha256);
  const auto other_entry = resolve(wanting({"pure"}, {"pure/sub.js"}));
  ASSERT_TRUE(other_entry) << "another entry point of what is installed: " << other_entry.error().message;
  EXPECT_FALSE(resolve(wanting({"modern"}))) << "what is not installed needs npm";
}

TEST_F(NpmDeps, OneResolverAnswersFromMemory) {
  NpmResolver resolver(options(), pool, clock);
  EXPECT_FALSE(resolver.find(wanting({"pure"})));
  const auto first = resolve(resolver, wanting({"pure"}));
  ASSERT_TRUE(first);
  fs::remove_all(scratch.path() / "deps");
  const auto found = resolver.find(wanting({"pure"}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, first->bytes);
}

TEST_F(NpmDeps, CallersWithOneRequestShareTheWork) {
  NpmResolver resolver(options(), pool, clock);
  auto both = [this](NpmResolver& shared) -> io::Task<bool> {
    std::optional<Result<capsule::DepsLayer>> one;
    std::optional<Result<capsule::DepsLayer>> two;
    RELAY_CO_CHECK(
        co_await io::both(io::store_result(shared.resolve(effects(), wanting({"pure"}), {}), one),
                          io::store_result(shared.resolve(effects(), wanting({"pure"}), {}), two)));
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
  std::ifstream file(scratch.path() / "calls");
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
  EXPECT_NE(layer.error().message.find("not part of any package"), std::string::npos)
      << layer.error().message;
}

TEST_F(NpmDeps, SlowBuildsReportProgress) {
  put("packages/slow/package.json", R"({"name":"slow"})");
  put("packages/slow/index.js", "");
  NpmResolver resolver(options(), pool, clock);
  std::vector<std::string> phases;
  const Progress progress = [&](std::string_view phase, std::chrono::milliseconds) {
    phases.emplace_back(phase);
  };
  ASSERT_TRUE(run(resolver.resolve(effects(), wanting({"slow"}), progress)));
  ASSERT_FALSE(phases.empty());
  EXPECT_EQ(phases.front(), "npm install");
}

TEST_F(NpmDeps, WithSourcemapsTheLayerHasTheMap) {
  NpmOptions mapped = options();
  mapped.sourcemaps = Sourcemaps::on;
  NpmResolver resolver(mapped, pool, clock);
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
  NpmResolver resolver(without, pool, clock);
  const auto layer = resolve(resolver, wanting({"pure"}));
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
  EXPECT_NE(layer.error().message.find("npm-that-is-not-there"), std::string::npos);
}

}  // namespace
}  // namespace relay::packages
