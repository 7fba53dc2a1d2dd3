#include "packages/py_deps.h"

#include <gmock/gmock.h>

#include "packages/wheel_fixture.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

class PyDeps : public IndexFixture {
 protected:
  PyOptions options() {
    PyOptions made{.cache = scratch.path() / "deps"};
    made.lock = lock;
    made.mirror = mirror;
    return made;
  }
  ToolRunner& tools() {
    const char* home = std::getenv("HOME");
    if (!runner)
      runner.emplace(tools_of_test({{"PATH", std::getenv("PATH")},
                                    {"HOME", home ? home : "/nonexistent"},
                                    {"PIP_INDEX_URL", address("simple/")},
                                    {"PIP_CONFIG_FILE", "/dev/null"},
                                    {"PIP_RETRIES", "0"}}),
                     clock);
    return *runner;
  }
  Result<capsule::DepsLayer> resolve(PyRequest request, WheelFetcher fetch = {}) {
    PyResolver resolver(options(), tools(), pool, clock);
    return run(resolver.resolve(effects(), std::move(request), rules, std::move(fetch), {}));
  }
  static std::vector<std::string> names_of(const capsule::DepsLayer& layer) {
    const auto reader = archive::ZipReader::open(*layer.bytes);
    std::vector<std::string> names;
    for (const archive::ZipEntry& entry : reader->entries())
      if (entry.name.ends_with(".py")) names.push_back(entry.name);
    return names;
  }
  PyodideLock lock;
  std::string mirror;
  std::optional<ToolRunner> runner;
  InstallRules rules;
};

TEST_F(PyDeps, ResolvesAndUnpacksWheels) {
  publish("alpha", "alpha-1.0-py3-none-any.whl", make_wheel("alpha", "1.0", "import beta\n", {"beta>=2"}));
  publish("beta", "beta-1.0-py3-none-any.whl", make_wheel("beta", "1.0", ""));
  publish("beta", "beta-2.1-py3-none-any.whl", make_wheel("beta", "2.1", "two = 2\n"));
  const auto layer = resolve({.requirements = {"Alpha==1.0"}});
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(names_of(*layer),
            (std::vector<std::string>{"site-packages/alpha/__init__.py", "site-packages/beta/__init__.py"}));
  const auto reader = archive::ZipReader::open(*layer->bytes);
  EXPECT_EQ(*reader->read(*reader->find("site-packages/beta/__init__.py")), "two = 2\n");
}

TEST_F(PyDeps, TakesWheelsForTheGuestsPlatformAndNotForThisMachine) {
  publish("gamma", "gamma-1.0-cp314-cp314-manylinux_2_17_x86_64.whl", make_wheel("gamma", "1.0", "x86\n"));
  const auto foreign = resolve({.requirements = {"gamma"}});
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().kind, ErrorKind::dependency);
  EXPECT_TRUE(foreign.error().message.starts_with("pip finds no wheel for 'gamma' that a sandbox can use"))
      << foreign.error().message;
  publish("delta", "delta-1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
          make_wheel("delta", "1.0", "wasm\n"));
  EXPECT_TRUE(resolve({.requirements = {"delta"}}));
}

TEST_F(PyDeps, SourceDistributionsAreNotTaken) {
  publish("source", "source-1.0.tar.gz", "anything");
  const auto layer = resolve({.requirements = {"source"}});
  ASSERT_FALSE(layer);
  EXPECT_NE(layer.error().message.find("source distributions"), std::string::npos) << layer.error().message;
}

// pip builds the metadata of such a source distribution with a program that its author wrote.
TEST_F(PyDeps, AWheelThatRequiresASourceDistributionByAddressRunsNothing) {
  const std::filesystem::path mark = scratch.path() / "ran";
  const std::string backend = fmt::format("open({}, 'w')\nraise SystemExit\n", json::quote(mark.string()));
  const std::filesystem::path source = scratch.path() / "evil-1.0";
  std::filesystem::create_directories(source);
  std::ofstream(source / "backend.py") << backend;
  std::ofstream(source / "pyproject.toml")
      << "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n";
  const std::string pack =
      fmt::format("tar -C {0} -czf {0}/evil-1.0.tar.gz evil-1.0", scratch.path().string());
  ASSERT_EQ(std::system(pack.c_str()), 0);
  publish("inviting", "inviting-1.0-py3-none-any.whl",
          make_wheel("inviting", "1.0", "", {"evil @ " + address("evil-1.0.tar.gz")}));
  const auto layer = resolve(PyRequest{.requirements = {"inviting"}});
  ASSERT_FALSE(layer);
  EXPECT_THAT(layer.error().message, testing::HasSubstr("only wheels"));
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(PyDeps, AWheelThatRequiresAFileOfThisMachineIsRefused) {
  const std::filesystem::path file = scratch.path() / "local-1.0-py3-none-any.whl";
  std::ofstream(file) << make_wheel("local", "1.0", "SECRET = 1\n");
  publish("borrowing", "borrowing-1.0-py3-none-any.whl",
          make_wheel("borrowing", "1.0", "", {"local @ file://" + file.string()}));
  const auto layer = resolve(PyRequest{.requirements = {"borrowing"}});
  ASSERT_FALSE(layer);
  EXPECT_THAT(layer.error().message, testing::HasSubstr("by address"));
}

TEST_F(PyDeps, AHashThatDiffersIsAnError) {
  const std::string wheel = make_wheel("alpha", "1.0", "");
  publish("alpha", "alpha-1.0-py3-none-any.whl", wheel);
  EXPECT_TRUE(resolve({.requirements = {"alpha==1.0 --hash=sha256:" + sha256_hex(wheel)}}));
  const auto layer = resolve({.requirements = {"alpha==1.0 --hash=sha256:" + sha256_hex("other")}});
  ASSERT_FALSE(layer);
  EXPECT_TRUE(layer.error().message.starts_with("a package does not have the hash that was asked for"))
      << layer.error().message;
}

TEST_F(PyDeps, ASecondRunDoesNotTouchPip) {
  publish("alpha", "alpha-1.0-py3-none-any.whl", make_wheel("alpha", "1.0", ""));
  const auto first = resolve({.requirements = {"alpha"}});
  ASSERT_TRUE(first);
  PyOptions without = options();
  without.python = "python-that-is-not-there";
  PyResolver resolver(without, tools(), pool, clock);
  const auto again = run(resolver.resolve(effects(), {.requirements = {"alpha"}}, {}, {}, {}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sha256, first->sha256);
  const auto other = run(resolver.resolve(effects(), {.requirements = {"beta"}}, {}, {}, {}));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("python-that-is-not-there"), std::string::npos);
}

TEST_F(PyDeps, WheelsByAddressComeThroughTheGivenFetcher) {
  const std::string wheel = make_wheel("direct", "3.0", "d = 1\n", {"alpha"});
  publish("alpha", "alpha-1.0-py3-none-any.whl", make_wheel("alpha", "1.0", ""));
  std::vector<std::string> fetched;
  const WheelFetcher fetch = [&](std::string url) -> io::Task<std::string> {
    fetched.push_back(std::move(url));
    co_return wheel;
  };
  const std::string url = "https://files.example.org/direct-3.0-py3-none-any.whl";
  const auto layer = resolve({.wheels = {*parse_wheel_url(url)}}, fetch);
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(fetched, std::vector<std::string>{url});
  EXPECT_EQ(names_of(*layer).size(), 2U) << "and what it requires comes from the index";
  const auto wrong = resolve({.wheels = {*parse_wheel_url(url + "#sha256=" + sha256_hex("other"))}}, fetch);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("does not have the hash"), std::string::npos);
}

TEST_F(PyDeps, PackagesOfTheDistributionComeFromTheMirrorWithTheirHash) {
  const std::string file = "numlike-2.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl";
  const std::string wheel = make_wheel("numlike", "2.0", "fast = True\n");
  fs::create_directories(scratch.path() / "mirror");
  std::ofstream(scratch.path() / "mirror" / file) << wheel;
  lock.packages.emplace("numlike", LockedPackage{"numlike", "2.0", file, sha256_hex(wheel), {}});
  publish("alpha", "alpha-1.0-py3-none-any.whl",
          make_wheel("alpha", "1.0", "import numlike\n", {"numlike>=1"}));
  for (const std::string& place : {(scratch.path() / "mirror").string(), address("mirror")}) {
    mirror = place;
    fs::remove_all(scratch.path() / "deps");
    EXPECT_TRUE(resolve({.requirements = {"numlike"}})) << place;
    const auto layer = resolve({.requirements = {"alpha"}});
    ASSERT_TRUE(layer) << place << layer.error().message;
    EXPECT_EQ(names_of(*layer).size(), 2U);
  }
  fs::remove_all(scratch.path() / "deps");
  std::ofstream(scratch.path() / "mirror" / file) << make_wheel("numlike", "2.0", "evil = True\n");
  const auto changed = resolve({.requirements = {"numlike"}});
  ASSERT_FALSE(changed);
  EXPECT_TRUE(changed.error().message.starts_with("a package does not have the hash"))
      << changed.error().message;
}

TEST_F(PyDeps, AnIndexThatIsDownIsSaidSo) {
  (void)run(server->stop());
  const auto layer = resolve({.requirements = {"alpha"}});
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
  EXPECT_TRUE(layer.error().message.starts_with("pip cannot reach its index")) << layer.error().message;
  EXPECT_EQ(layer.error().message.find(port), std::string::npos)
      << "the index's address is not shown: " << layer.error().message;
}

TEST_F(PyDeps, ACallWhosePolicyLacksTheIndexIsRefused) {
  publish("alpha", "alpha-1.0-py3-none-any.whl", make_wheel("alpha", "1.0", ""));
  rules.allowed = {*policy::parse_host_pattern("api.example")};
  const auto refused = resolve({.requirements = {"alpha"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::denied);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("Add \"127.0.0.1:" + port + "\""));
  rules.allowed->push_back(*policy::parse_host_pattern("127.0.0.1:" + port));
  EXPECT_TRUE(resolve({.requirements = {"alpha"}}));
}

TEST(PyRequest, TakesNamesWithVersions) {
  for (const char* good :
       {"requests", "requests==2.32.0", "a[b,c]>=1,<2", "a (>=1)", "a; python_version < '3.8'",
        "A.b_c-d~=1.0",
        "x==1.0 --hash=sha256:0123456789012345678901234567890123456789012345678901234567890123"})
    EXPECT_TRUE(is_requirement(good)) << good;
  for (const char* bad : {"", "-r x", "--index-url=http://x", "a @ http://x/a.whl", "./a.whl", "/etc/passwd",
                          "git+https://x", "a\n--index-url=x", "a --hash=md5:00", "a --global-option=x",
                          "a==1 --hash=sha256:00", "a==$(id)", "-e .", "a b"})
    EXPECT_FALSE(is_requirement(bad)) << bad;
  EXPECT_EQ(project_of("Foo.Bar_baz[x]>=1"), "foo-bar-baz");
}

TEST(PyRequest, TakesAddressesOfWheelsOnly) {
  const auto wheel = parse_wheel_url("https://x.org/a/b-1.0-py3-none-any.whl?x=1#sha256=" + sha256_hex(""));
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_EQ(wheel->file, "b-1.0-py3-none-any.whl");
  EXPECT_EQ(wheel->sha256, sha256_hex(""));
  for (const char* bad : {"file:///etc/b-1.0-py3-none-any.whl", "https://x/b-1.0.tar.gz", "https://x/b.whl",
                          "ftp://x/b-1.0-py3-none-any.whl", "https://x/b-1.0-py3-none-any.whl#egg=x"})
    EXPECT_FALSE(parse_wheel_url(bad)) << bad;
}

TEST(PyRequest, KeysDoNotDependOnTheOrder) {
  EXPECT_EQ(layer_key({.requirements = {"a", "b"}}, "p"), layer_key({.requirements = {"b", "a"}}, "p"));
  EXPECT_NE(layer_key({.requirements = {"a"}}, "p"), layer_key({.requirements = {"a"}}, "q"));
  EXPECT_EQ(merge({.requirements = {"a==1", "b"}}, {.requirements = {"A==2"}}).requirements,
            (std::vector<std::string>{"A==2", "b"}));
}

// "${NAME}" in a requirements file is a variable of the environment, and comes back in pip's error.
TEST(Wheel, NamesHaveOnlyPlainCharacters) {
  EXPECT_TRUE(parse_wheel_name("a_b-1.0+local!1-py3-none-any.whl"));
  for (const char* name :
       {"${HOME}-1.0-py3-none-any.whl", "a b-1.0-py3-none-any.whl", "a/b-1.0-py3-none-any.whl",
        "a-1.0-py3-none-any;x.whl", "a%62-1.0-py3-none-any.whl", "a\n-1.0-py3-none-any.whl"})
    EXPECT_FALSE(parse_wheel_name(name)) << name;
}

TEST(Wheel, RequirementsByAddressAreRefused) {
  EXPECT_TRUE(check_requirements("Name: x\nRequires-Dist: y>=1; python_version < '3'\n\nmail me @ home"));
  EXPECT_TRUE(check_requirements("Requires-Dist: y; extra == 'a@b'"));
  EXPECT_FALSE(check_requirements("Requires-Dist: y @ https://example.org/y.whl"));
  EXPECT_FALSE(check_requirements("requires-dist: y[z]@file:///etc/passwd ; extra == 'q'"));
}

TEST(Wheel, KnowsWhatFits) {
  const PythonPlatform platform;
  for (const char* good :
       {"a-1-py3-none-any.whl", "a-1-py2.py3-none-any.whl", "a-1-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
        "a-1-1-cp310-abi3-pyodide_2026_0_wasm32.whl"})
    EXPECT_TRUE(check_fits(*parse_wheel_name(good), platform)) << good;
  for (const char* bad :
       {"a-1-cp314-cp314-manylinux_2_17_x86_64.whl", "a-1-cp313-cp313-pyemscripten_2026_0_wasm32.whl",
        "a-1-py2-none-any.whl", "a-1-cp314-cp314-pyodide_2025_0_wasm32.whl"})
    EXPECT_FALSE(check_fits(*parse_wheel_name(bad), platform)) << bad;
  const auto sdist = parse_wheel_name("a-1.0.tar.gz");
  ASSERT_FALSE(sdist);
  EXPECT_NE(sdist.error().message.find("source distribution"), std::string::npos);
}

TEST(Wheel, PutsFilesWhereTheInterpreterLooks) {
  archive::ZipFiles files;
  const std::string wheel = *archive::write_zip({{"a/x.py", "1"},
                                                 {"a-1.data/purelib/b.py", "2"},
                                                 {"a-1.data/scripts/run", "3"},
                                                 {"a-1.dist-info/METADATA", "m"}},
                                                archive::ZipMethod::store);
  ASSERT_TRUE(add_wheel(files, wheel));
  EXPECT_EQ(files, (archive::ZipFiles{{"site-packages/a/x.py", "1"},
                                      {"site-packages/b.py", "2"},
                                      {"site-packages/a-1.dist-info/METADATA", "m"}}));
  EXPECT_FALSE(add_wheel(files, "not a zip"));
}

TEST(PyodideLock, SaysWhatOnlyAMirrorHas) {
  PyodideLock lock;
  lock.packages["numpy"] = {.project = "numpy", .version = "2", .file = "numpy-2-cp314-x.whl"};
  lock.packages["attrs"] = {.project = "attrs", .version = "1", .file = "attrs-1-py3-none-any.whl"};
  EXPECT_EQ(
      mirror_advice(lock, {"attrs", "NumPy>=2"}),
      "'NumPy' is a package of the Pyodide distribution: set pip.pyodideMirror to a directory or address "
      "that has numpy-2-cp314-x.whl");
  EXPECT_EQ(mirror_advice(lock, {"attrs==1", "other"}), "");
}

TEST(PyodideLock, BindsCompiledPackagesOnly) {
  const auto lock = parse_pyodide_lock(fmt::format(
      R"({{"info":{{"abi_version":"2026_0","arch":"wasm32","platform":"emscripten_5_0_3","python":"3.14.2"}},"packages":{{
    "numpy":{{"name":"numpy","version":"2.4.6","file_name":"numpy-2.4.6-cp314-cp314-pyemscripten_2026_0_wasm32.whl","sha256":"{0}","depends":[]}},
    "pure":{{"name":"pure","version":"1","file_name":"pure-1-py3-none-any.whl","sha256":"{0}","depends":["numpy"]}},
    "stdlib":{{"name":"stdlib","version":"1","file_name":"stdlib-1.zip","sha256":"{0}"}}}}}})",
      sha256_hex("")));
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(lock->platform.tag(), "cp314");
  EXPECT_EQ(lock->packages.size(), 2U);
  EXPECT_EQ(constraints_for(*lock, "/mirror"),
            "numpy @ file:///mirror/numpy-2.4.6-cp314-cp314-pyemscripten_2026_0_wasm32.whl#sha256=" +
                sha256_hex("") + "\n");
  EXPECT_FALSE(parse_pyodide_lock("{}"));
}

}  // namespace
}  // namespace relay::packages
