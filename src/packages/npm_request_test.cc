#include "packages/npm_request.h"

#include <gtest/gtest.h>

namespace relay::packages {
namespace {

NpmRequest request_for(std::string_view text) {
  return *parse_npm_request(*json::parse_object(text));
}

TEST(NpmRequest, TakesRegistryPackages) {
  for (const char* name : {"lodash", "@types/node", "a", "a.b-c_d~e", "@a/b", "JSONStream"})
    EXPECT_TRUE(is_package_name(name)) << name;
  for (const char* range :
       {"^4.17.21", "*", "", "latest", ">=1 <2 || 3.x", "1.0.0-beta.1+build", "npm:lodash@^4", "npm:@a/b@1"})
    EXPECT_TRUE(is_registry_range(range)) << range;
}

TEST(NpmRequest, RefusesEverythingElse) {
  for (const char* name :
       {"", ".", "../x", "a/b", "@a", "@/b", "@a/b/c", "a b", "a;b", "node_modules", "_x", "/etc", "a\n"})
    EXPECT_FALSE(is_package_name(name)) << name;
  for (const char* range : {"file:/etc", "file:../x", "link:x", "git+ssh://a/b", "http://10.0.0.1/x.tgz",
                            "github:a/b", "a/b", "npm:../x", "1\n2", "$(x)", "workspace:*"})
    EXPECT_FALSE(is_registry_range(range)) << range;
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"dependencies":{"a":"file:/etc"}})")));
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"dependencies":{"../a":"1"}})")));
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"dependencies":{"a":1}})")));
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"dependencies":[]})")));
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"dependency":{}})")));
  EXPECT_FALSE(parse_npm_request(*json::parse_object(R"({"lockfile":1})")));
}

TEST(NpmRequest, FindsTheSubpathsThatCodeImports) {
  const NpmRequest request = request_for(R"({"dependencies":{"csv-parse":"5","@a/b":"1"}})");
  const std::set<std::string> found = find_subpaths(R"(
    import { parse } from 'csv-parse/sync'; import x from "@a/b/deep/x.js"; await import(`csv-parse/stream`);
    // not-csv-parse/sync, csv-parse/bare
    const no = ["csv-parse/../../etc/passwd", "csv-parse//x", "csv-parse/", "xcsv-parse/sync", "csv-parse/a b", "csv-parse/${x}"];
  )",
                                                    request);
  EXPECT_EQ(found, (std::set<std::string>{"csv-parse/sync", "csv-parse/stream", "@a/b/deep/x.js"}));
}

TEST(NpmRequest, EqualRequestsHaveEqualKeys) {
  EXPECT_EQ(install_key(request_for(R"({"dependencies":{"a":"1","b":"2"}})")),
            install_key(request_for(R"({"dependencies":{"b":"2","a":"1"}})")));
  EXPECT_NE(install_key(request_for(R"({"dependencies":{"a":"1"}})")),
            install_key(request_for(R"({"dependencies":{"a":"2"}})")));
  EXPECT_NE(install_key(request_for(R"({"dependencies":{"a":"1"}})")),
            install_key(request_for(R"({"dependencies":{"a":"1"},"lockfile":"{}"})")));
}

TEST(NpmRequest, TheCallWinsOverTheConfiguration) {
  const NpmRequest merged = merge(request_for(R"({"dependencies":{"a":"1","b":"1"}})"),
                                  request_for(R"({"dependencies":{"b":"2"}})"));
  EXPECT_EQ(merged.dependencies, (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
}

TEST(NpmRequest, ALockfileLosesItsAddressesAndKeepsItsHashes) {
  NpmRequest request = request_for(R"({"dependencies":{"a":"^1"}})");
  request.lockfile = R"({"lockfileVersion":3,"packages":{"":{"dependencies":{"evil":"file:/"}},
    "node_modules/a":{"version":"1.0.0","resolved":"http://169.254.169.254/a.tgz","integrity":"sha512-x"}}})";
  const auto cleaned = clean_lockfile(request);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->find("169.254"), std::string::npos);
  EXPECT_EQ(cleaned->find("evil"), std::string::npos);
  EXPECT_NE(cleaned->find("sha512-x"), std::string::npos);
}

TEST(NpmRequest, ALockfileCannotPointOutsideTheRegistry) {
  for (const char* package :
       {R"("node_modules/a":{"link":true,"resolved":"../x"})", R"("../x":{"version":"1.0.0"})",
        R"("packages/a":{"version":"1.0.0"})", R"("node_modules/../../a":{"version":"1.0.0"})",
        R"("node_modules/a":{"version":"file:../x"})", R"("node_modules/a":7)"}) {
    NpmRequest request = request_for(R"({"dependencies":{"a":"^1"}})");
    request.lockfile = fmt::format(R"({{"lockfileVersion":3,"packages":{{{}}}}})", package);
    EXPECT_FALSE(clean_lockfile(request)) << package;
  }
  NpmRequest old = request_for(R"({"dependencies":{"a":"^1"},"lockfile":"{\"lockfileVersion\":1}"})");
  EXPECT_FALSE(clean_lockfile(old));
}

TEST(NpmRequest, OnlyARegistryIsASourceOfPackages) {
  const auto check = [](std::string_view package) {
    return check_sources(
        *json::parse_object(fmt::format(R"({{"packages":{{"":{{}},"node_modules/a":{}}}}})", package)));
  };
  EXPECT_TRUE(check(R"({"version":"1.0.0","resolved":"https://registry.example/a/-/a-1.0.0.tgz"})"));
  EXPECT_TRUE(check(R"({"version":"1.0.0","inBundle":true})"));
  EXPECT_TRUE(check(R"({"version":"1.0.0"})"));
  EXPECT_FALSE(check(R"({"resolved":"git+ssh://git@example.org/a.git#0123"})"));
  EXPECT_FALSE(check(R"({"resolved":"file:../a"})"));
  EXPECT_FALSE(check(R"({"resolved":"../a","link":true})"));
  EXPECT_FALSE(check(R"({"resolved":"https://registry.example/a.tgz","link":true})"));
  EXPECT_FALSE(check("7"));
}

}  // namespace
}  // namespace relay::packages
