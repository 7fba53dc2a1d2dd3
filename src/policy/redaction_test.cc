#include "policy/redaction.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::policy {
namespace {

struct Case {
  std::string_view text;
  std::string_view redacted;
};

TEST(Redaction, KeepsTheStructureAroundASecret) {
  const Case cases[] = {
      {"Authorization: Bearer abc.def", "Authorization: [REDACTED]"},
      {"curl -H \"Authorization: Bearer abc\" https://x", "curl -H \"Authorization: [REDACTED]\" https://x"},
      {R"({"Authorization": "Basic dXNlcjpw", "a": 1})", R"({"Authorization": "[REDACTED]", "a": 1})"},
      {"Proxy-Authorization: Digest a=1, response=99 && ls", "Proxy-Authorization: [REDACTED] && ls"},
      {"authorization: AWS4 Credential=A, Signature=ff | tee log", "authorization: [REDACTED] | tee log"},
      {"send bearer  tok/en+1= now", "send bearer  [REDACTED] now"},
      {"api_key=abc api-key: def apikey=\"g h\"",
       "api_key=[REDACTED] api-key: [REDACTED] apikey=\"[REDACTED]\""},
      {"DB_PASSWORD=hunter2 make", "DB_PASSWORD=[REDACTED] make"},
      {R"({"password" : "two words", "user":"u"})", R"({"password" : "[REDACTED]", "user":"u"})"},
      {R"("{\"password\": \"hunter2\", \"a\": 1}")", R"("{\"password\": \"[REDACTED]\", \"a\": 1}")"},
      {"pwd: x\npasswd=y", "pwd: [REDACTED]\npasswd=[REDACTED]"},
      {"credential = zzz, secret:'q r'", "credential = [REDACTED] secret:'[REDACTED]'"},
      {"AWS_SECRET_ACCESS_KEY=wJalr/XUtn", "AWS_SECRET_ACCESS_KEY=[REDACTED]"},
      {R"("aws_secret_access_key": "wJalr/XUtn")", R"("aws_secret_access_key": "[REDACTED]")"},
      {"AccountName=a;AccountKey=bGFs==;Endpoint=b", "AccountName=a;AccountKey=[REDACTED];Endpoint=b"},
      {"SharedAccessKey=abc123=;x", "SharedAccessKey=[REDACTED];x"},
      {"https://h/c?sv=1&sig=aBcDeFgHiJkLmNoPqRsT%3D&se=2", "https://h/c?sv=1&sig=[REDACTED]&se=2"},
      {"tool --password hunter2 --host h", "tool --password [REDACTED] --host h"},
      {"tool --token=abc -x", "tool --token=[REDACTED] -x"},
      {"tool --api-key \"two words\" z", "tool --api-key [REDACTED] z"},
      {"tool --secret 'it' z", "tool --secret [REDACTED] z"},
      {"tool --password top\\ secret z", "tool --password [REDACTED] z"},
      {"tool --password \"never closed\nnext", "tool --password [REDACTED]\nnext"},
      {"tool --credential -dashed x", "tool --credential [REDACTED] x"},
      {"tool --password --host h", "tool --password --host h"},
      {"ConvertTo-SecureString -String 'p w' -AsPlainText",
       "ConvertTo-SecureString -String [REDACTED] -AsPlainText"},
      {"convertto-securestring hunter2 -Force", "convertto-securestring [REDACTED] -Force"},
      {"ConvertTo-SecureString -AsPlainText -Force \"pw\"",
       "ConvertTo-SecureString -AsPlainText -Force [REDACTED]"},
      {"git clone https://me:s3cret@git.example/x", "git clone https://me:[REDACTED]@git.example/x"},
      {"redis://:pw@h:6379/0", "redis://:[REDACTED]@h:6379/0"},
      {"postgres://u:p@ss@h/db", "postgres://u:[REDACTED]@h/db"},
      {"mysql -u root -phunter2 db", "mysql -u root -p[REDACTED] db"},
      {"mariadb-dump -p'a b' db", "mariadb-dump -p[REDACTED] db"},
      {"mkdir -parents x", "mkdir -parents x"},
      {"mysql --port 3306 -P 1", "mysql --port 3306 -P 1"},
  };
  for (const Case& item : cases) EXPECT_EQ(redact(item.text), item.redacted) << item.text;
}

// Each is made here, so that no scanner takes this file for a leak.
std::vector<std::string> bare_secrets() {
  const std::string body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  return {
      "ghp_" + body,
      "gho_" + body,
      "ghu_" + body,
      "ghs_" + body,
      "ghr_" + body,
      "github_pat_" + body + "_x",
      "sk-" + body,
      "sk-proj-" + body + "-_z",
      "sk-svcacct-" + body,
      "sk-admin-" + body,
      "sk-ant-api03-" + body + "-AA",
      "hf_" + body,
      "AKIA" + std::string("ABCDEFGHIJ234567"),
      "xoxb-1234567890-" + body,
      "xoxp-" + body,
      "https://hooks.slack.com/services/T000/B000/" + body,
      "AIza" + body,
      "ya29." + body + ".tail-x",
      "sk_live_" + body,
      "rk_test_" + body,
      "glpat-" + body,
      "npm_" + body,
      "pypi-AgEIcHlwaS5vcmc" + body,
      "eyJhbGciOiJIUzI1NiJ9AA.eyJzdWIiOiIxIn0." + body,
      "eyJhbGciOiJIUzI1NiJ9AA.eyJzdWIiOiIxIn0",
      "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----\\nMIIE\\nabc\\n-----END PRIVATE KEY-----",
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nnever ended",
  };
}

TEST(Redaction, BareSecretsVanishWhereverTheyStand) {
  for (const std::string& secret : bare_secrets()) {
    for (const std::string& text : {secret, "x " + secret + " y", "\"" + secret + "\"", "(" + secret + ")",
                                    "k=" + secret + ";", "\\n" + secret}) {
      const std::string redacted = redact(text);
      EXPECT_EQ(redacted.find(secret), std::string::npos) << text;
      EXPECT_EQ(redacted.find(secret.substr(secret.size() - 8)), std::string::npos) << redacted;
      EXPECT_NE(redacted.find(kRedacted), std::string::npos) << text;
    }
  }
}

TEST(Redaction, OrdinaryTextIsLeftAlone) {
  for (const std::string text :
       {"ls -la /tmp", "task-manager-of-things-that-are-long", "max_tokens: 500", "design=sign sig=short",
        "the key insight: none", "git commit -m 'x'", "AKIAshort", "https://example.com/a:b@c",
        "a.b.eyes.eye", "", "std::string value = f(x);",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"})
    EXPECT_EQ(redact(text), text);
}

TEST(Redaction, DoingItTwiceChangesNothing) {
  std::vector<std::string> texts = bare_secrets();
  texts.insert(texts.end(), {"a://https://hooks.slack.com/services/T1/B1/abc:pw@host",
                             "://a:AccountKey=x/y;@h", "password=mysql -psecret", "bearer bearer bearer x",
                             "token=token=token", "--token --token x", "Authorization: \"x\" | y"});
  for (const std::string& text : texts) EXPECT_EQ(redact(redact(text)), redact(text)) << text;
}

// Each of these makes a backtracking matcher quadratic. Quadratic at 2 MB would be many minutes, so finishing
// is the proof.
TEST(Redaction, IsLinearOnTextMadeToHurt) {
  const std::string_view units[] = {"-",
                                    "ey-",
                                    "eyA.",
                                    "-----BEGIN RSA PRIVATE KEY-----",
                                    "authorization: a && ",
                                    "password=\"",
                                    "--password \"",
                                    "accountkey=x ",
                                    "://a:",
                                    "bearer ",
                                    "token=  ",
                                    "\\\"",
                                    "=",
                                    ": ",
                                    "xoxb-",
                                    "sk-",
                                    "-p",
                                    "mysql -p1 ",
                                    "?sig=a",
                                    ".ey",
                                    "authorization:'",
                                    "AIza",
                                    "ConvertTo-SecureString -a ",
                                    "password:\\\"\\",
                                    "-----BEGIN PRIVATE KEY-----\n-----END "};
  for (const std::string_view unit : units) {
    std::string text;
    while (text.size() < 512 * limits::kKiB) text += unit;
    EXPECT_FALSE(redact(text).empty()) << unit;
  }
}

TEST(Redaction, AnAuditValueIsScrubbedThenCut) {
  EXPECT_EQ(redact_for_audit(std::string(500, 'x')), std::string(500, 'x'));
  EXPECT_EQ(redact_for_audit(std::string(501, 'x')), std::string(500, 'x') + "...(+1)");
  std::string wide;
  for (int i = 0; i < 600; ++i) wide += "é";
  EXPECT_EQ(redact_for_audit(wide), wide.substr(0, 1000) + "...(+100)");
  EXPECT_EQ(redact_for_audit(std::string(3'000'000, 'x')), std::string(500, 'x') + "...(+2999500)");
  // A quoted secret that is longer than the scan window does not leave its tail behind.
  const std::string flag = "run --password \"" + std::string(20'000, 's') + " tail\" --host h";
  EXPECT_EQ(redact_for_audit(flag).find("sss"), std::string::npos);
}

std::string redacted_json(std::string_view text) {
  std::string out;
  append_redacted_json(out, *json::parse(text));
  return out;
}

TEST(Redaction, NestedArgumentsAreSortedAndScrubbedKeysToo) {
  EXPECT_EQ(
      redacted_json(
          R"({"b":[{"token":"x","a":"password=1"}],"a":1.5,"Password":{"x":1},"c":null,"secret":null,"pwd":7})"),
      R"({"Password":"[REDACTED]","a":1.5,"b":[{"a":"password=[REDACTED]","token":"[REDACTED]"}],"c":null,"pwd":"[REDACTED]","secret":null})");
  EXPECT_EQ(redacted_json(R"({"z":1,"password=hunter2":2,"password=hunter3":3})"),
            R"({"password=[REDACTED]":2,"password=[REDACTED]#1":3,"z":1})");
  EXPECT_EQ(redacted_json(R"("a\"\\\u0001\n\u007fé")"), "\"a\\\"\\\\\\u0001\\n\x7f\xc3\xa9\"");
  EXPECT_EQ(
      redacted_json(
          R"({"env":{"GITHUB_TOKEN":"abc","x-api-key":"d","Authorization":"Basic z","Cookie":"s=1"}})"),
      R"({"env":{"Authorization":"[REDACTED]","Cookie":"[REDACTED]","GITHUB_TOKEN":"[REDACTED]","x-api-key":"[REDACTED]"}})");
}

TEST(Redaction, HugeArgumentsAreCutAndStaySorted) {
  json::object object;
  for (int i = 0; i < 2000; ++i) object[fmt::format("k{:05}", i)] = std::string(100, 'v');
  json::array list;
  for (int i = 0; i < 5000; ++i) list.emplace_back(std::string(100, 'v'));
  std::string out;
  append_redacted_json(out, object);
  EXPECT_LT(out.size(), limits::kAuditArgsBytes + 2048);
  const auto parsed = json::parse(out);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(json::write_canonical(*parsed), out);
  out.clear();
  append_redacted_json(out, list);
  EXPECT_LT(out.size(), limits::kAuditArgsBytes + 2048);
  EXPECT_NE(out.find("...(+"), std::string::npos);
}

}  // namespace
}  // namespace relay::policy
