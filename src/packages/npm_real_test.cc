// Real packages through the ordinary npm client. What was installed stays in a cache beside the test program,
// so that only the first run of a build tree asks the registry. Without a registry these tests are skipped.
#include "packages/npm_fixture.h"

namespace relay::packages {
namespace {

class NpmReal : public NpmFixture {
 protected:
  Result<capsule::DepsLayer> resolve(std::string_view dependencies, std::string_view code = "") {
    // How long a registry and a busy machine take is not what these tests are about.
    NpmOptions options{.cache = std::filesystem::current_path() / "npm-test-cache",
                       .esbuild = esbuild_of_test(),
                       .names_finder = make_names_finder(scratch.path()),
                       .install_timeout = std::chrono::minutes(10),
                       .bundle_timeout = std::chrono::minutes(5)};
    ToolRunner tools(tools_of_test(environment_of_test()), clock);
    NpmResolver resolver(options, tools, pool, clock);
    NpmRequest request = *parse_npm_request(json::object{{"dependencies", *json::parse(dependencies)}});
    request.subpaths = find_subpaths(code, request);
    return run(resolver.resolve(effects(), std::move(request), {}, {}));
  }
  static bool is_offline(const Result<capsule::DepsLayer>& layer) {
    return !layer && (layer.error().message.find("cannot reach its registry") != std::string::npos ||
                      layer.error().message.find("cannot run 'npm'") != std::string::npos);
  }
  void expect_output(std::string_view dependencies, const std::string& code, const std::string& output) {
    const auto layer = resolve(dependencies, code);
    if (is_offline(layer)) GTEST_SKIP() << layer.error().message;
    ASSERT_TRUE(layer) << layer.error().message;
    EXPECT_EQ(evaluate(*layer, code), output);
  }
  void expect_failure(std::string_view dependencies, std::string_view message) {
    const auto layer = resolve(dependencies);
    if (is_offline(layer)) GTEST_SKIP() << layer.error().message;
    ASSERT_FALSE(layer);
    EXPECT_EQ(layer.error().kind, ErrorKind::dependency);
    EXPECT_TRUE(layer.error().message.starts_with(message)) << layer.error().message;
  }
};

TEST_F(NpmReal, Lodash) {
  expect_output(R"({"lodash":"4.17.21"})", R"(import _ from "./lodash.mjs"; const { chunk, camelCase } = _;
    const again = globalThis[Symbol.for("relay.deps")]("lodash");
    console.log(JSON.stringify(chunk([1,2,3],2)), camelCase("a b"), _.VERSION, again === _))",
                "[[1,2],[3]] aB 4.17.21 true\n");
}

// Packages in CommonJS form whose names Node.js finds: a literal, a re-export that depends on NODE_ENV, what
// TypeScript writes.
TEST_F(NpmReal, SemverReactFastXmlParserMs) {
  expect_output(R"({"semver":"7.6.3","react":"18.3.1","fast-xml-parser":"4.5.1","ms":"2.1.3"})", R"(
    import semver, { satisfies, SemVer } from "./semver.mjs"; import { createElement, useState } from "./react.mjs";
    import { XMLParser } from "./fast-xml-parser.mjs"; import ms from "./ms.mjs"; import * as all from "./ms.mjs";
    console.log(satisfies("1.2.3", "^1.0.0"), semver.SemVer === SemVer, createElement("p", null, "x").props.children, typeof useState,
      JSON.stringify(new XMLParser().parse("<a>1</a>")), ms("1m"), Object.keys(all).join()))",
                "true true x function {\"a\":1} 60000 default\n");
}

TEST_F(NpmReal, DateFnsZodUuidMarked) {
  expect_output(R"({"date-fns":"4.1.0","zod":"3.24.1","uuid":"11.0.5","marked":"15.0.6"})", R"(
    import { format, addDays } from "./date-fns.mjs"; import { z } from "./zod.mjs";
    import { v5, validate } from "./uuid.mjs"; import { marked } from "./marked.mjs";
    console.log(format(addDays(new Date(2024, 1, 28), 1), "yyyy-MM-dd"), z.object({ a: z.number() }).safeParse({ a: "x" }).success,
      validate(v5("x", v5.DNS)), marked.parse("# hi").trim()))",
                "2024-02-29 false true <h1>hi</h1>\n");
}

TEST_F(NpmReal, MathjsCheerioCsvParse) {
  expect_output(R"({"mathjs":"14.0.1","cheerio":"1.0.0","csv-parse":"5.6.0"})", R"(
    import { evaluate, unit } from "./mathjs.mjs"; import * as cheerio from "./cheerio.mjs"; import { parse } from "./csv-parse+sync.mjs";  // "csv-parse/sync"
    console.log(evaluate("sqrt(16) + 2"), unit("5 cm").toNumber("mm"), cheerio.load("<p>a<b>c</b></p>")("b").text(),
      JSON.stringify(parse("a,b\n1,2\n", { columns: true }))))",
                "6 50 c [{\"a\":\"1\",\"b\":\"2\"}]\n");
}

TEST_F(NpmReal, ANativeAddonIsRefused) {
  expect_failure(R"({"bcrypt":"5.1.1"})", "'bcrypt' is a native addon (");
}

TEST_F(NpmReal, APackageThatNeedsSocketsIsRefused) {
  expect_failure(R"({"get-port":"7.1.0"})",
                 "'get-port' needs the Node.js built-in module 'net', which a sandbox does not have");
}

TEST_F(NpmReal, APackageThatDoesNotExistIsNamed) {
  expect_failure(R"({"relay-a-name-that-nobody-took":"1.0.0"})",
                 "npm cannot find 'relay-a-name-that-nobody-took@1.0.0' in the registry");
}

}  // namespace
}  // namespace relay::packages
