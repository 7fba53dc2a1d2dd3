#include "packages/tool_settings.h"

#include <gmock/gmock.h>

#include "packages/install_rules.h"
#include "packages/npm_settings.h"
#include "packages/pip_settings.h"
#include "packages/tool_run.h"

namespace relay::packages {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ToolSettings npm(const Environment& environment, const NpmrcTexts& texts = {}) {
  const auto made = make_npm_settings(environment, texts);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(ToolSettings{});
}

ToolSettings pip(const Environment& environment, const std::vector<std::string>& texts = {}) {
  const auto made = make_pip_settings(environment, texts);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(ToolSettings{});
}

TEST(NpmSettings, WithoutAnySettingTheRegistryIsNpmsOwn) {
  EXPECT_EQ(npm({}).text, "registry=\"https://registry.npmjs.org/\"\n");
  EXPECT_THAT(npm({}).hosts, ElementsAre("registry.npmjs.org:443"));
}

TEST(NpmSettings, KeepRegistriesCredentialsAndCertificatesOnly) {
  const ToolSettings made = npm({{"TOKEN", "t0ken"}, {"HOME", "/home/u"}}, {.user = R"(
; a comment
registry = https://npm.corp.example/repo/ ; and another
@team:registry="http://10.1.2.3:4873"
//npm.corp.example/repo/:_authToken=${TOKEN}
//npm.corp.example/repo/:keyfile='/home/u/key#1.pem'
cafile=~/ca.pem
ca[]="one"
ca[]="two"
strict-ssl=false
git=/tmp/evil
script-shell=/tmp/evil
node-options=--require /tmp/evil
ignore-scripts=false
//npm.corp.example/:tokenHelper=/tmp/evil
[section]
registry=https://other.example
)"});
  EXPECT_EQ(made.text,
            "//npm.corp.example/repo/:_authToken=\"t0ken\"\n"
            "//npm.corp.example/repo/:keyfile=\"/home/u/key#1.pem\"\n"
            "@team:registry=\"http://10.1.2.3:4873\"\n"
            "ca[]=\"one\"\nca[]=\"two\"\n"
            "cafile=\"/home/u/ca.pem\"\n"
            "registry=\"https://npm.corp.example/repo/\"\n"
            "strict-ssl=\"false\"\n");
  EXPECT_THAT(made.hosts, ElementsAre("10.1.2.3:4873", "npm.corp.example:443"));
  EXPECT_THAT(made.paths, ElementsAre("/home/u/key#1.pem", "/home/u/ca.pem"));
}

TEST(NpmSettings, VariablesWinOverTheUsersFileAndThatOverTheGlobalOne) {
  const NpmrcTexts texts{.user = "registry=http://user.example/\nstrict-ssl=false\n",
                         .global = "registry=http://global.example/\nstrict-ssl=true\ncafile=/etc/ca\n"};
  EXPECT_EQ(npm({{"NPM_CONFIG_REGISTRY", "http://variable.example/"}}, texts).text,
            "cafile=\"/etc/ca\"\nregistry=\"http://variable.example/\"\nstrict-ssl=\"false\"\n");
  EXPECT_THAT(npm({}, texts).hosts, ElementsAre("user.example:80"));
  EXPECT_EQ(
      npm({{"npm_config_//h.example/:_authToken", "x"}, {"npm_config_strict_ssl", "false"}}).text,
      "//h.example/:_authToken=\"x\"\nregistry=\"https://registry.npmjs.org/\"\nstrict-ssl=\"false\"\n");
}

TEST(NpmSettings, VariablesInAFileAreExpandedAsNpmDoes) {
  const auto token = [](const char* value) {
    const std::string text =
        npm({{"A", "a"}, {"EMPTY", ""}}, {.user = fmt::format("//h/:_auth={}\n", value)}).text;
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(token("${A}-${A}"), "//h/:_auth=\"a-a\"");
  EXPECT_EQ(token("${NONE}"), "//h/:_auth=\"${NONE}\"");
  EXPECT_EQ(token("x${NONE?}"), "//h/:_auth=\"x\"");
  EXPECT_EQ(token("x${EMPTY}"), "//h/:_auth=\"x\"");
  EXPECT_EQ(token("${A"), "//h/:_auth=\"${A\"");
}

TEST(NpmSettings, AValueCannotBecomeASecondLine) {
  const std::string text = npm({{"A", "x\nscript-shell=/tmp/evil"}}, {.user = "//h/:_auth=${A}\n"}).text;
  EXPECT_THAT(text, Not(HasSubstr("\nscript-shell")));
}

TEST(NpmSettings, ARegistryThatIsNoAddressIsNamed) {
  const auto made = make_npm_settings({{"npm_config_registry", "file:///tmp"}}, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("npm's setting registry"));
}

TEST(NpmSettings, FilesAreWhereNpmLooks) {
  EXPECT_EQ(user_npmrc({{"HOME", "/home/u"}}), "/home/u/.npmrc");
  EXPECT_EQ(user_npmrc({{"HOME", "/home/u"}, {"NPM_CONFIG_USERCONFIG", "~/other"}}), "/home/u/other");
  EXPECT_EQ(user_npmrc({}), "");
  EXPECT_EQ(global_npmrc({}, "", "/opt/node/bin/node"), "/opt/node/etc/npmrc");
  EXPECT_EQ(global_npmrc({{"npm_config_prefix", "/p"}}, "", "/usr/bin/node"), "/p/etc/npmrc");
  EXPECT_EQ(global_npmrc({{"HOME", "/h"}}, "prefix=~/.npm", "/usr/bin/node"), "/h/.npm/etc/npmrc");
  EXPECT_EQ(global_npmrc({{"npm_config_globalconfig", "/g"}}, "", "/usr/bin/node"), "/g");
}

TEST(PipSettings, WithoutAnySettingTheIndexIsPypi) {
  EXPECT_EQ(pip({}).text,
            "[global]\nno-cache-dir = true\nindex-url = https://pypi.org/simple\nretries = 1\n");
  EXPECT_THAT(pip({}).hosts, ElementsAre("pypi.org:443", "files.pythonhosted.org:443"));
}

TEST(PipSettings, KeepIndexesLinksAndCertificatesOnly) {
  const ToolSettings made =
      pip({{"HOME", "/home/u"}, {"PIP_FIND_LINKS", "/opt/wheels/ ~/w http://links.example/x"}}, {R"(
[global]
index_url = https://u:p@index.corp.example/simple
extra-index-url =
    https://one.example/simple
    http://10.0.0.5:8080/simple
trusted-host: 10.0.0.5
cert = /etc/corp.pem
timeout = 10
target = /tmp/evil
no-build-isolation = true
[install]
index-url = http://evil.example
)"});
  EXPECT_EQ(made.text,
            "[global]\nno-cache-dir = true\n"
            "index-url = https://u:p@index.corp.example/simple\n"
            "extra-index-url =\n    https://one.example/simple\n    http://10.0.0.5:8080/simple\n"
            "find-links =\n    /opt/wheels\n    /home/u/w\n    http://links.example/x\n"
            "trusted-host = 10.0.0.5\ncert = /etc/corp.pem\ntimeout = 10\nretries = 1\n");
  EXPECT_THAT(made.hosts,
              ElementsAre("index.corp.example:443", "one.example:443", "10.0.0.5:8080", "links.example:80"));
  EXPECT_THAT(made.paths, ElementsAre("/opt/wheels", "/home/u/w", "/etc/corp.pem"));
}

TEST(PipSettings, StrongerPlacesWin) {
  const std::vector<std::string> texts = {"[download]\nindex-url = http://a.example\n",
                                          "[global]\nindex-url = http://b.example\ntimeout = 1\n"};
  EXPECT_THAT(pip({}, texts).hosts, ElementsAre("a.example:80")) << "[download] before [global]";
  EXPECT_THAT(pip({{"PIP_INDEX_URL", "http://c.example"}}, texts).hosts, ElementsAre("c.example:80"));
  EXPECT_THAT(pip({{"PIP_DEFAULT_TIMEOUT", "7"}}, texts).text, HasSubstr("timeout = 7\n"));
}

TEST(PipSettings, OneRetryUnlessTheUserWantsMore) {
  EXPECT_THAT(pip({{"PIP_RETRIES", "9"}}).text, HasSubstr("retries = 9\n"));
}

TEST(PipSettings, NoIndexMeansNoHost) {
  const ToolSettings made = pip({{"PIP_NO_INDEX", "1"}, {"PIP_INDEX_URL", "http://a.example"}});
  EXPECT_THAT(made.hosts, IsEmpty());
  EXPECT_THAT(made.text, HasSubstr("no-index = 1\n"));
}

TEST(PipSettings, FilesAreWherePipLooks) {
  EXPECT_THAT(pip_config_files({{"HOME", "/h"}, {"PIP_CONFIG_FILE", "/x/pip.conf"}}, "/usr"),
              ElementsAre("/etc/xdg/pip/pip.conf", "/etc/pip.conf", "/h/.pip/pip.conf",
                          "/h/.config/pip/pip.conf", "/usr/pip.conf", "/x/pip.conf"));
  EXPECT_THAT(pip_config_files({{"HOME", "/h"}, {"PIP_CONFIG_FILE", "/dev/null"}}, "/usr"), IsEmpty());
}

TEST(ToolCage, ReachesRegistriesAndTheHostsOfTheConfiguration) {
  const ToolSettings settings{.text = "", .hosts = {"npm.corp.example:443"}, .paths = {"/ca.pem"}};
  const auto cage = make_tool_cage(settings, {"*.cdn.example", "files.corp.example:8443"},
                                   {{"HTTPS_PROXY", "http://proxy.example:3128"}});
  ASSERT_TRUE(cage) << cage.error().message;
  EXPECT_THAT(cage->hosts, ElementsAre("npm.corp.example:443", "*.cdn.example", "files.corp.example:8443"));
  EXPECT_THAT(cage->private_hosts, ElementsAre("npm.corp.example:443", "files.corp.example:8443"));
  EXPECT_THAT(cage->read, ElementsAre("/ca.pem"));
  EXPECT_EQ(cage->outside.for_tunnels->host, "proxy.example");
}

TEST(ToolCage, AProxyOfTheSettingsWinsOverTheEnvironments) {
  const ToolSettings settings =
      npm({}, {.user = "https-proxy=http://own.example:1\nnoproxy=a.example,b.example\n"});
  const auto cage = make_tool_cage(settings, {}, {{"HTTPS_PROXY", "http://proxy.example:3128"}});
  ASSERT_TRUE(cage);
  EXPECT_EQ(cage->outside.for_tunnels->host, "own.example");
  EXPECT_THAT(cage->outside.direct, ElementsAre("a.example", "b.example"));
  EXPECT_FALSE(make_tool_cage({}, {}, {{"HTTPS_PROXY", "socks5://proxy.example"}}));
}

TEST(InstallRules, NameTheHostAndWhatToAdd) {
  const std::vector<std::string> hosts = {"registry.npmjs.org:443"};
  InstallRules rules;
  EXPECT_TRUE(check_install_hosts(rules, hosts, "npm"));
  rules.allowed.emplace();
  const auto missing = check_install_hosts(rules, hosts, "npm");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::denied);
  EXPECT_THAT(missing.error().message, HasSubstr("Add \"registry.npmjs.org:443\""));
  rules.allowed->push_back(*policy::parse_host_pattern("*.npmjs.org"));
  EXPECT_TRUE(check_install_hosts(rules, hosts, "npm"));
  rules.denied.push_back(*policy::parse_host_pattern("registry.npmjs.org"));
  EXPECT_FALSE(check_install_hosts(rules, hosts, "npm")) << "deny beats allow";
  EXPECT_FALSE(check_install_hosts(rules, {"*.npmjs.org"}, "npm")) << "a pattern that contains a denied host";
}

TEST(ToolEnvironment, HasTheLanguageAndCertificatesAndNothingElse) {
  const Environment all{
      {"HOME", "/h"},         {"PATH", "/h/bin:/usr/bin"},    {"LANG", "C"},
      {"LC_TIME", "C"},       {"SSL_CERT_FILE", "/h/ca.pem"}, {"npm_config_registry", "r"},
      {"PIP_INDEX_URL", "i"}, {"HTTPS_PROXY", "p"},           {"AWS_SECRET_ACCESS_KEY", "s"},
      {"RELAY_TOKEN", "t"},   {"PYENV_VERSION", "3"},         {"NODE_OPTIONS", "--require x"},
      {"LD_PRELOAD", "x"}};
  EXPECT_EQ(tool_environment(all), (Environment{{"HOME", "/relay-home"},
                                                {"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                {"LANG", "C"},
                                                {"LC_TIME", "C"},
                                                {"SSL_CERT_FILE", "/h/ca.pem"}}));
  EXPECT_THAT(certificate_paths(all), ElementsAre("/h/ca.pem"));
  const Environment lookup = lookup_environment(all);
  EXPECT_TRUE(lookup.contains("PYENV_VERSION"));
  for (const char* hidden :
       {"AWS_SECRET_ACCESS_KEY", "RELAY_TOKEN", "NODE_OPTIONS", "LD_PRELOAD", "npm_config_registry"})
    EXPECT_FALSE(lookup.contains(hidden)) << hidden;
}

}  // namespace
}  // namespace relay::packages
