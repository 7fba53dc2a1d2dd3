#include "packages/js_bundle.h"

#include <gtest/gtest.h>

#include "packages/js_diagnosis.h"
#include "packages/log_excerpt.h"

namespace relay::packages {
namespace {

TEST(JsBundle, ReadsTheNamesOfCommonJsPackages) {
  const auto names = read_commonjs_names(R"({"a":["x","y"],"@b/c":[]})");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(*names, (std::map<std::string, std::set<std::string>>{{"@b/c", {}}, {"a", {"x", "y"}}}));
  EXPECT_FALSE(read_commonjs_names("not JSON"));
}

TEST(JsBundle, NamesThePackageOfAFile) {
  EXPECT_EQ(package_of("node_modules/lodash/lodash.js"), "lodash");
  EXPECT_EQ(package_of("node_modules/@a/b/lib/x.js"), "@a/b");
  EXPECT_EQ(package_of("node_modules/a/node_modules/b/x.js"), "b");
  EXPECT_EQ(package_of("entry.cjs"), "");
}

TEST(JsBundle, ABundleMustNotCarryFilesOfThisMachine) {
  for (const char* input : {"/etc/passwd", "../../secret.json", "node_modules/../../x.json", "other.js"}) {
    const std::string metafile = fmt::format(R"({{"inputs":{{"{}":{{"bytes":1,"imports":[]}}}}}})", input);
    const auto read = read_metafile(metafile, ".work");
    ASSERT_FALSE(read) << input;
    EXPECT_EQ(read.error().kind, ErrorKind::denied);
  }
}

TEST(JsBundle, ReadsWhatEsbuildSays) {
  const auto read = read_metafile(R"({"inputs":{
    ".work/entry.cjs":{"bytes":1,"format":"cjs","imports":[{"path":"node_modules/a/i.js","kind":"require-call","original":"a"}]},
    "node_modules/a/i.js":{"bytes":1,"format":"esm","imports":[{"path":"node_modules/b/i.js","original":"b"},{"path":"node:fs","external":true}]},
    "node_modules/b/i.js":{"bytes":1,"format":"cjs","imports":[{"path":"stream","external":true}]},
    "(disabled):node_modules/b/x.js":{"bytes":0,"imports":[]}}})",
                                  ".work");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->roots.at("a"), "node_modules/a/i.js");
  EXPECT_EQ(read->packages, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(read->builtins, (std::set<std::string>{"fs", "stream"}));
  EXPECT_TRUE(read->commonjs.contains("node_modules/b/i.js"));
  EXPECT_FALSE(read->commonjs.contains("node_modules/a/i.js"));
  EXPECT_FALSE(read->has_commonjs_roots()) << "b is CommonJS, and only a package needs it";
}

TEST(JsBundle, MakesOneModuleForEachSpecifier) {
  const archive::ZipFiles files = make_layer_files(
      "module.exports={};", "", {"fs"}, {{"@a/b", {"x", "delete", "default", "not-a-name"}}, {"c", {}}});
  EXPECT_EQ(files.at("deps/index.json"), R"({"@a/b":"/deps/@a+b.mjs","c":"/deps/c.mjs"})");
  EXPECT_NE(files.at("deps/bundle.mjs").find("import * as n0 from \"node:fs\";"), std::string::npos);
  const std::string& module = files.at("deps/@a+b.mjs");
  EXPECT_NE(module.find("export {v0 as delete, v1 as x};"), std::string::npos) << module;
  EXPECT_EQ(module.find("not-a-name"), std::string::npos);
  EXPECT_EQ(files.at("deps/c.mjs").find("export {"), std::string::npos);
}

constexpr std::string_view kEsbuildLog = R"(✘ [ERROR] Could not resolve "nope/x"

    .work/entry.cjs:1:56:
      1 │ require("nope/x")

✘ [ERROR] Could not resolve "node:net"

    node_modules/get-port/index.js:1:16:
      1 │ import net from 'node:net';

  The package "node:net" wasn't found on the file system but is built into node. Are you trying to bundle for node?

✘ [ERROR] No loader is configured for ".node" files: node_modules/nat/x.node

    node_modules/nat/index.js:1:16:
)";

TEST(JsDiagnosis, SaysWhichPackageAndWhy) {
  const std::string said = diagnose_esbuild(kEsbuildLog);
  EXPECT_NE(said.find("'get-port' needs the Node.js built-in module 'net', which a sandbox does not have"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("'nat' is a native addon"), std::string::npos) << said;
  EXPECT_NE(said.find("no module 'nope/x'"), std::string::npos) << said;
  EXPECT_EQ(missing_entries(kEsbuildLog, ".work"), (std::set<std::string>{"nope/x"}));
  EXPECT_EQ(complaining_packages(kEsbuildLog), (std::set<std::string>{"get-port", "nat"}));
}

TEST(JsDiagnosis, ReadsNpm) {
  EXPECT_EQ(diagnose_npm("npm error code E404\nnpm error 404  'zz@*' could not be found"),
            "npm cannot find 'zz@*' in the registry");
  EXPECT_EQ(
      diagnose_npm("npm error code ETARGET\nnpm error notarget No matching version found for lodash@99.\n"),
      "npm has no version for lodash@99");
  EXPECT_EQ(diagnose_npm("npm ERR! code ECONNREFUSED\n"), "npm cannot reach its registry (ECONNREFUSED)");
  EXPECT_EQ(diagnose_npm("boom"), "npm could not install the dependencies");
}

TEST(JsDiagnosis, KnowsNativePackages) {
  const json::object plain{{"name", "x"}};
  EXPECT_EQ(native_reason(plain, {"index.js"}), "");
  EXPECT_NE(native_reason(plain, {"binding.gyp"}), "");
  EXPECT_NE(native_reason(plain, {"prebuilds"}), "");
  EXPECT_NE(native_reason(plain, {"x.node"}), "");
  EXPECT_NE(native_reason({{"dependencies", {{"bindings", "1"}}}}, {}), "");
  EXPECT_NE(native_reason({{"scripts", {{"install", "node-gyp rebuild"}}}}, {}), "");
  EXPECT_NE(native_reason({{"optionalDependencies", {{"@img/sharp-linux-x64", "1"}}}}, {}), "");
}

TEST(LogExcerpt, HidesSecretsHostsAndPaths) {
  const std::string log = redact_log(
      "GET https://me:s3cret@npm.corp.example/lodash?token=abc "
      "failed\n//npm.corp.example/:_authToken=tok123\n"
      "Authorization: Bearer eyJhbGci\nat /home/me/.relay/deps/npm/x\n",
      {"/home/me", "/home/me/.relay/deps"});
  for (const char* secret : {"s3cret", "npm.corp.example/lodash", "tok123", "eyJhbGci", "/home/me", "abc"})
    EXPECT_EQ(log.find(secret), std::string::npos) << secret << "\n" << log;
  EXPECT_NE(log.find("<registry>/lodash failed"), std::string::npos) << log;
}

TEST(LogExcerpt, KeepsTheEnd) {
  EXPECT_EQ(last_lines("a\n\nb\n  c \n", 2), "b\nc");
  EXPECT_EQ(last_lines("", 2), "");
  EXPECT_EQ(last_lines("üü", 5, 3), "ü");
}

}  // namespace
}  // namespace relay::packages
