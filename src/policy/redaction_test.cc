#include "policy/redaction.h"

#include <span>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::policy {
namespace {

struct Case {
  std::string_view text;
  std::string_view redacted;
};

void expect_redacted(std::span<const Case> cases) {
  for (const Case& item : cases) EXPECT_EQ(redact(item.text), item.redacted) << item.text;
}

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
      {"credential = zzz, secret:'q r'", "credential = [REDACTED], secret:'[REDACTED]'"},
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
  expect_redacted(cases);
}

TEST(Redaction, NamesAreKnownByTheirEnd) {
  const Case cases[] = {
      {"x-api-key : V", "x-api-key : [REDACTED]"},
      {"DB_PASS=V make", "DB_PASS=[REDACTED] make"},
      {"dbPass: V", "dbPass: [REDACTED]"},
      {"smtp-pass: V", "smtp-pass: [REDACTED]"},
      {"pass=V", "pass=[REDACTED]"},
      {R"({"pass": "V"})", R"({"pass": "[REDACTED]"})"},
      {"openssl rsa -passin pass:V", "openssl rsa -passin pass:[REDACTED]"},
      {"STRIPE_KEY=V", "STRIPE_KEY=[REDACTED]"},
      {"Ocp-Apim-Subscription-Key: V", "Ocp-Apim-Subscription-Key: [REDACTED]"},
      {"encryptionKey: V", "encryptionKey: [REDACTED]"},
      {"clientSecret: V", "clientSecret: [REDACTED]"},
      {"PGPASSWORD=V psql", "PGPASSWORD=[REDACTED] psql"},
      {"private_key=V", "private_key=[REDACTED]"},
      {"API key: V", "API key: [REDACTED]"},
      {"//registry.example/:_auth=V", "//registry.example/:_auth=[REDACTED]"},
      {"//registry.example/:_authToken=V", "//registry.example/:_authToken=[REDACTED]"},
      {"- name: DB_PASSWORD\n  value: V", "- name: DB_PASSWORD\n  value: [REDACTED]"},
      {R"({"name":"API_TOKEN","value":"V"})", R"({"name":"API_TOKEN","value":"[REDACTED]"})"},
      {R"({\"name\":\"API_TOKEN\",\"value\":\"V\"})", R"({\"name\":\"API_TOKEN\",\"value\":\"[REDACTED]\"})"},
  };
  expect_redacted(cases);
}

TEST(Redaction, EverySeparatorIsKnown) {
  const Case cases[] = {
      {"password => V", "password => [REDACTED]"},
      {":password=>'V'", ":password=>'[REDACTED]'"},
      {"password := V", "password := [REDACTED]"},
      {"password ?= V", "password ?= [REDACTED]"},
      {"password += V", "password += [REDACTED]"},
      {"if token == 'V'", "if token == '[REDACTED]'"},
      {"token !== \"V\"", "token !== \"[REDACTED]\""},
      {"password://V", "password://[REDACTED]"},
      {"password::V", "password::[REDACTED]"},
      {"os.environ['DB_PASSWORD'] = 'V'", "os.environ['DB_PASSWORD'] = '[REDACTED]'"},
      {"password: str = 'V'", "password: str = '[REDACTED]'"},
      {"password: string = V", "password: string = [REDACTED]"},
      {"Password:\nV", "Password:\n[REDACTED]"},
      {"\"password\":\n  \"V\"", "\"password\":\n  \"[REDACTED]\""},
      {"<password>V</password>", "<password>[REDACTED]</password>"},
      {"<db:Password type=\"x\"> V W </db:Password>", "<db:Password type=\"x\"> [REDACTED] </db:Password>"},
      {"<entry key=\"db.password\">V</entry>", "<entry key=\"db.password\">[REDACTED]</entry>"},
      {"<add key=\"AdminPassword\" value=\"V\"/>", "<add key=\"AdminPassword\" value=\"[REDACTED]\"/>"},
      {"<token><![CDATA[V<W]]></token>", "<token><![CDATA[[REDACTED]]]></token>"},
  };
  expect_redacted(cases);
}

TEST(Redaction, AValueEndsWhereItsFrameSays) {
  const Case cases[] = {
      {"password=ab'cd ef", "password=[REDACTED] ef"},
      {"password=top\\ secret ef", "password=[REDACTED] ef"},
      {"f(password=V), g", "f(password=[REDACTED]), g"},
      {"{password: V}; x", "{password: [REDACTED]}; x"},
      {"password=f(V) x", "password=[REDACTED] x"},
      {"-d \"user=x&password=V\" h", "-d \"user=x&password=[REDACTED]\" h"},
      {"https://h/?password=V&user=x", "https://h/?password=[REDACTED]&user=x"},
      {"password=V&W x", "password=[REDACTED] x"},
      {"Server=s;Password=V;User Id=u", "Server=s;Password=[REDACTED];User Id=u"},
      {"password=V;W x", "password=[REDACTED] x"},
      {"<p>password=V</p>", "<p>password=[REDACTED]</p>"},
      {"password='it''s V' x", "password='[REDACTED]' x"},
      {"password='V'\"W\" x", "password=[REDACTED] x"},
      {"sh -c 'password=\"V\"'; ls", "sh -c 'password=\"[REDACTED]\"'; ls"},
      {"password = \"\"\"V\nW\"\"\" x", "password = \"\"\"[REDACTED]\"\"\" x"},
      {"password = \"\"\"V\nW", "password = \"\"\"[REDACTED]\nW"},
      {"password: `V W` x", "password: `[REDACTED]` x"},
      {"password=\"V\"W x", "password=[REDACTED] x"},
      {"password=V&user[a]=x", "password=[REDACTED]&user[a]=x"},
      {"password=V&a%20b=x", "password=[REDACTED]&a%20b=x"},
      {"password=V&=W x", "password=[REDACTED] x"},
      {"password=V;=W x", "password=[REDACTED] x"},
      {"password=\"V=\"", "password=\"[REDACTED]\""},
      {"password=\"V:\" x", "password=\"[REDACTED]\" x"},
      {"password=(V) x", "password=[REDACTED] x"},
      {"f(g(h(k(password=V)))) x", "f(g(h(k(password=[REDACTED])))) x"},
      {"if password: V: x", "if password: [REDACTED]: x"},
      {"password=a\\\tV x", "password=[REDACTED] x"},
      {"password=\"V\" \"x\"", "password=\"[REDACTED]\" \"x\""},
      {"token: Bearer V x", "token: [REDACTED] x"},
      {"--token Basic V x", "--token [REDACTED] x"},
      {"token: Bearer", "token: [REDACTED]"},
      {"password:\n  V:W x", "password:\n  [REDACTED] x"},
      {"password=\nV:W x", "password=\n[REDACTED] x"},
      {R"(\"password\": \"V\\\"W Z\", \"x\")", R"(\"password\": \"[REDACTED]\", \"x\")"},
      {R"(\"password=V\", x)", R"(\"password=[REDACTED]\", x)"},
      {R"(\"password\": \"V W)", R"(\"password\": \"[REDACTED])"},
  };
  expect_redacted(cases);
}

TEST(Redaction, AnUnclosedQuoteDoesNotShieldTheNextSecret) {
  const Case cases[] = {
      {"password=\"V token=\"W\"", "password=\"[REDACTED]\""},
      {"password=\"V\ntoken=\"W\"\nuser=\"u\"", "password=\"[REDACTED]\ntoken=\"[REDACTED]\"\nuser=\"u\""},
      {R"({"password": "V, "token": "W"})", R"({"password": "[REDACTED]": "[REDACTED]"})"},
      {"password='V\nsay 'hello'", "password='[REDACTED]\nsay 'hello'"},
  };
  expect_redacted(cases);
}

TEST(Redaction, ABlockOfYamlGoesWithAllItsLines) {
  const Case cases[] = {
      {"password: |\n  V\n  W\nuser: x", "password: |\n  [REDACTED]\nuser: x"},
      {"- secret: >-\n    V\n\n    W\n  user: x", "- secret: >-\n    [REDACTED]\n  user: x"},
      {"a:\r\n  token: |2+ # why\r\n    V\r\n  b: c", "a:\r\n  token: |2+ # why\r\n    [REDACTED]\r\n  b: c"},
      {"tls_key: |\n  V", "tls_key: |\n  [REDACTED]"},
      {"password: |\nuser: x", "password: |\nuser: x"},
  };
  expect_redacted(cases);
}

TEST(Redaction, HeadersGoToTheirEnd) {
  const Case cases[] = {
      {"Cookie: a=V; b=W", "Cookie: [REDACTED]"},
      {"Set-Cookie: sid=V; Path=/; HttpOnly\nX: y", "Set-Cookie: [REDACTED]\nX: y"},
      {"curl -H 'Cookie: a=\"V W\"; b=Z' https://x", "curl -H 'Cookie: [REDACTED]' https://x"},
      {R"({"Cookie": "V", "x": 1})", R"({"Cookie": "[REDACTED]", "x": 1})"},
      {R"({\"Cookie\": \"V W\", \"x\": 1})", R"({\"Cookie\": \"[REDACTED]\", \"x\": 1})"},
      {"curl --cookie 'a=V' h", "curl --cookie [REDACTED] h"},
      {"SESSION_COOKIE=V", "SESSION_COOKIE=[REDACTED]"},
      {"document.cookie = 'a=V'", "document.cookie = '[REDACTED]'"},
      {"Authorization: Digest username=\"u\", response=\"V\"\nX: y", "Authorization: [REDACTED]\nX: y"},
      {R"("Authorization: Digest username=\"u\", response=\"V\"" x)", R"("Authorization: [REDACTED]" x)"},
      {"say \"x\" Authorization: Basic V\" y", "say \"x\" Authorization: [REDACTED]\" y"},
      {"Authorization: Basic V || exit", "Authorization: [REDACTED] || exit"},
      {"{ authorization: 'Basic V W' }", "{ authorization: '[REDACTED]' }"},
      {"'Authorization' => \"Basic V\"", "'Authorization' => \"[REDACTED]\""},
  };
  expect_redacted(cases);
}

TEST(Redaction, PasswordsInAddressesMayHoldAnyByteButASlash) {
  for (const char c : std::string_view("\"#'<>?\\:@;,&%`[]{}|^~+=!$()*-._")) {
    const std::string password = std::string("pa") + c + "ss";
    EXPECT_EQ(redact("see https://user:" + password + "@host/x"), "see https://user:[REDACTED]@host/x") << c;
  }
  const Case cases[] = {
      {"\"https://u:V\",\"x@y\"", "\"https://u:V\",\"x@y\""},  // the URL ends with its quote
      {"'https://u:V'W@h/'", "'https://u:[REDACTED]@h/'"},
      {"<https://u:p@h>", "<https://u:[REDACTED]@h>"},
      {"https://V:x-oauth-basic@github.com/x", "https://[REDACTED]:x-oauth-basic@github.com/x"},
      {"https://a1b2c3d4e5a1b2c3d4e5@h/x", "https://[REDACTED]@h/x"},
      {"https://a1b2c3d4e5a1b2c3d4e5:@h/x", "https://[REDACTED]:@h/x"},
      {"https://a1b2c3d4e5a1b2c3d4e5:x@h/x", "https://[REDACTED]:x@h/x"},
      {"https://user:x@h/x", "https://user:[REDACTED]@h/x"},
      {"ssh://deploy-user-of-production-1@h/x", "ssh://deploy-user-of-production-1@h/x"},
      {"https://discord.com/api/webhooks/123/V-w_x", "https://discord.com/api/webhooks/[REDACTED]"},
      {"https://ptb.discordapp.com/api/v10/webhooks/1/V?wait=1",
       "https://ptb.discordapp.com/api/v10/webhooks/[REDACTED]?wait=1"},
      {"https://t.webhook.office.com/webhookb2/a@b/IncomingWebhook/V",
       "https://t.webhook.office.com/webhookb2/[REDACTED]"},
      {"https://notdiscord.com/api/webhooks/123/x", "https://notdiscord.com/api/webhooks/123/x"},
      {"hooks at a://hooks.slack.com/services/T/B/V", "hooks at a[REDACTED]"},
      {"x https://hooks.slack.com/triggers/T/1/V", "x [REDACTED]"},
  };
  expect_redacted(cases);
}

TEST(Redaction, CommandLinesLoseOnlyTheValue) {
  const Case cases[] = {
      {"sshpass -p V ssh -p 22 h", "sshpass -p [REDACTED] ssh -p 22 h"},
      {"/usr/bin/sshpass -v -pV ssh h", "/usr/bin/sshpass -v -p[REDACTED] ssh h"},
      {"sshpass -p 'V W' ssh h", "sshpass -p [REDACTED] ssh h"},
      {"curl -u user:V https://x", "curl -u user:[REDACTED] https://x"},
      {"curl -uuser:V https://x", "curl -uuser:[REDACTED] https://x"},
      {"curl -sSu 'user:V W' https://x", "curl -sSu 'user:[REDACTED]' https://x"},
      {"curl -U user:V https://x", "curl -U user:[REDACTED] https://x"},
      {"curl --user user:V https://x", "curl --user user:[REDACTED] https://x"},
      {"curl --proxy-user=user:V https://x", "curl --proxy-user=user:[REDACTED] https://x"},
      {R"(["curl","-u","user:V"])", R"(["curl","-u","user:[REDACTED]"])"},
      {"tool --db-password V --max-tokens 500", "tool --db-password [REDACTED] --max-tokens 500"},
      {"tool --client-secret=V", "tool --client-secret=[REDACTED]"},
      {"tool --password \\\n  V x", "tool --password \\\n  [REDACTED] x"},
      {R"(["--password","V","--host","h"])", R"(["--password","[REDACTED]","--host","h"])"},
      {R"(['--token', 'V W'])", R"(['--token', '[REDACTED]'])"},
      {R"(\"tool --password \\\"V W\\\" x\")", R"(\"tool --password \\\"[REDACTED]\\\" x\")"},
      {R"("tool --password V", 1)", R"("tool --password [REDACTED]", 1)"},
      {"tool -password => V x", "tool -password => [REDACTED] x"},
      {"tool -Password:V", "tool -Password:[REDACTED]"},
  };
  expect_redacted(cases);
}

TEST(Redaction, PowerShellCommandsStayAndTheirValuesGo) {
  const Case cases[] = {
      {"Get-Secret foo", "Get-Secret foo"},
      {"Set-ADAccountPassword -Identity x", "Set-ADAccountPassword -Identity x"},
      {"New-Password 12; Reset-Token x", "New-Password 12; Reset-Token x"},
      {"$secret = Get-Secret -Name x", "$secret = Get-Secret -Name x"},
      {"$env:TOKEN = Read-Host x", "$env:TOKEN = Read-Host x"},
      {"$password = ConvertTo-SecureString 'V' -AsPlainText",
       "$password = ConvertTo-SecureString [REDACTED] -AsPlainText"},
      {"password: ConvertTo-SecureString V -Force", "password: ConvertTo-SecureString [REDACTED] -Force"},
      {"New-LocalUser -Password (ConvertTo-SecureString 'V W' -Force)",
       "New-LocalUser -Password (ConvertTo-SecureString [REDACTED] -Force)"},
      {"x 'V W' | ConvertTo-SecureString -AsPlainText",
       "x '[REDACTED]' | ConvertTo-SecureString -AsPlainText"},
      {"Connect -Token V", "Connect -Token [REDACTED]"},
      {"password=New-York", "password=[REDACTED]"},
      {"Connect -Password New-York", "Connect -Password [REDACTED]"},
      {"Connect -Token (Get-Secret x)", "Connect -Token (Get-Secret x)"},
  };
  expect_redacted(cases);
}

// Each is made here, so that no scanner takes this file for a leak.
std::vector<std::string> bare_secrets() {
  const std::string body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const std::string hex = "0123456789abcdef0123456789abcdef";
  const std::string upper = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZR";
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
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----",
      "ASIA" + std::string("ABCDEFGHIJ234567"),
      "hvs." + body,
      "hvb." + body,
      "SG." + body.substr(0, 22) + "." + body + "1234567",
      "dop_v1_" + hex + hex,
      "doo_v1_" + hex + hex,
      "dor_v1_" + hex + hex,
      "shpat_" + hex,
      "shpca_" + hex,
      "shppa_" + hex,
      "shpss_" + hex,
      "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe." + body,
      "mfa." + body + body,
      "123456789:AA" + body,
      "SK" + hex,
      "dp.pt." + body + body.substr(0, 7),
      "dp.st.dev." + body,
      "AGE-SECRET-KEY-1" + upper + upper.substr(0, 22),
      "ATATT3xFf" + body + body,
      "dckr_pat_" + body,
      "GOCSPX-" + body,
      "glrt-" + body,
      "xoxc-" + body,
      "lin_api_" + body,
      "gsk_" + body + body,
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

// One byte less is a word that only begins like a token; the shortest token of an issuer is still one.
TEST(Redaction, TheShortestTokenOfEachShapeIsKnownAndNothingShorter) {
  const std::pair<std::string_view, std::size_t> rows[] = {
      {"ghp_", 20},    {"github_pat_", 10}, {"hf_", 34},
      {"npm_", 36},    {"sk_live_", 10},    {"whsec_", 20},
      {"dop_v1_", 32}, {"shpat_", 24},      {"sk-ant-", 20},
      {"sk-", 16},     {"glpat-", 20},      {"xoxb-", 10},
      {"hvs.", 20},    {"SG.", 40},         {"dp.pt.", 20},
      {"mfa.", 60},    {"ya29.", 20},       {"AIza", 35},
      {"GOCSPX-", 20}, {"ATATT3xFf", 40},   {"AGE-SECRET-KEY-1", 40},
  };
  for (const auto& [prefix, shortest] : rows) {
    const std::string text = "x " + std::string(prefix) + std::string(shortest, 'q');
    EXPECT_EQ(redact(text), "x [REDACTED]") << prefix;
    EXPECT_EQ(redact(text.substr(0, text.size() - 1)), text.substr(0, text.size() - 1)) << prefix;
  }
  const std::string id = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAx";
  const std::string signature(25, 's');
  for (const std::size_t length : {23U, 24U, 28U})
    EXPECT_EQ(redact(id.substr(0, length) + ".abcdef." + signature), "[REDACTED]") << length;
  for (const std::string& text :
       {id.substr(0, 22) + ".abcdef." + signature, id + "M.abcdef." + signature, id + ".abcd." + signature,
        id + ".abcdef." + signature.substr(1), id + ".abcdef", "P" + id.substr(1) + ".abcdef." + signature})
    EXPECT_EQ(redact(text), text);
  const std::string bot = "AA" + std::string(31, 'b');
  EXPECT_EQ(redact("123456:" + bot), "[REDACTED]");
  EXPECT_EQ(redact("12345:" + bot), "12345:" + bot);
  EXPECT_EQ(redact("123456:" + bot.substr(0, 32)), "123456:" + bot.substr(0, 32));
  const std::string hex = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(redact("AC" + hex + ":" + hex), "AC" + hex + ":[REDACTED]");
  for (const std::string& text :
       {"AD" + hex + ":" + hex, "AC" + hex + ":" + hex + "0", "AC" + hex.substr(1) + "g:" + hex})
    EXPECT_EQ(redact(text), text);
  const std::string head = "ey" + std::string(17, 'h');
  EXPECT_EQ(redact(head + ".ey" + std::string(8, 'p')), "[REDACTED]");
  EXPECT_EQ(redact(head.substr(0, 18) + ".ey" + std::string(8, 'p')),
            head.substr(0, 18) + ".ey" + std::string(8, 'p'));
  EXPECT_EQ(redact(head + ".ey" + std::string(7, 'p')), head + ".ey" + std::string(7, 'p'));
}

// A private key whose END is missing or far away loses what looks like its body, and nothing behind it.
TEST(Redaction, APrivateKeyWithoutItsEndLosesItsBody) {
  const std::string begin = "-----BEGIN PRIVATE KEY-----\n";
  EXPECT_EQ(redact(begin + "MIIE"), "[REDACTED]");
  EXPECT_EQ(redact(begin + "MIIE\n{rest}"), "[REDACTED]{rest}");
  const std::string far = begin + std::string(9000, 'M') + "\n-----END PRIVATE KEY-----";
  EXPECT_EQ(redact(far).substr(0, 14), "[REDACTED]MMMM");
  EXPECT_EQ(redact(begin + std::string(8000, 'M') + "\n-----END PRIVATE KEY----- x"), "[REDACTED] x");
  EXPECT_EQ(redact("-----BEGIN PRIVATE KEY\nMIIE"), "-----BEGIN PRIVATE KEY\nMIIE");
}

// Each row says why it is no secret.
TEST(Redaction, OrdinaryTextIsLeftAlone) {
  const std::string_view rows[] = {
      "",
      "ls -la /tmp",
      "std::string value = f(x);",
      "the key insight: none",
      "git commit -m 'x'",
      // Words that only contain the name of a secret.
      "tokenize(text) = 3",
      "max_tokens: 500",
      "monkey=1 turkey: 2 keyboard: us hotkey=F5",
      "compass: north bypass=1 passed: 3",
      "secretary: Ada passwords_changed=3",
      "key: value",
      // Keys that name a thing: redacting them would hide the schema of every database.
      "primary_key=id foreign_key: user_id sort-key=name public_key: ssh-ed25519",
      "users_primary_key=id",
      "event.key === 'Enter'",
      // Counts of tests, and filters.
      "pass: 12 fail: 0",
      "low_pass = butter(3) first-pass: 9",
      // Types and empty values in programs and documents.
      "def f(password: str, token=None):",
      "token: string, secret: null; password=true",
      "Token::new(x) secret::Kind::a token::Map<x> Secret::Inner{x}",
      "DB_PASSWORD=\nDB_USER=x",
      "secret:\n  name: x",
      "password=\"\" token=''",
      "<password></password> <token> </token> <secret><name>x</name></secret>",
      "a>token>b</c>",
      "<token>x<b>y</b>",
      "if (a->token > b) c </d>",
      // The working directory of a shell.
      "PWD=/home/me OLDPWD=/tmp",
      // Flags without a value, or with a file.
      "tool --password",
      "tool --password=",
      "tool --password\nnext",
      "pg_dump --no-password -h host",
      "docker login --password-stdin",
      "`--password` is a flag",
      "ssh-add --ssh-key ~/.ssh/id",
      "curl --cookie jar.txt --user me",
      "curl -utf8",
      "docker run -u 1000:1000 curl",
      "id -u user:group",
      "ssh -p 22 h; mkdir -pv x",
      // Prose about a scheme, a challenge, a biscuit.
      "the bearer of news; bearer token",
      "WWW-Authenticate: Bearer realm=\"x\"",
      "the cookie: a small biscuit",
      "cookie = parse(x)",
      // Addresses.
      "https://example.com/a:b@c",
      "https://example.com?mail=a:b@c",
      "https://me@host/x mailto:a@b",
      // Things that look random but are public.
      "3f786850e387550fdab836ed7e6dc881de23001b",
      "123e4567-e89b-12d3-a456-426614174000",
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
      "/usr/lib/x86_64-linux-gnu/libsecret-1.so.0",
      "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
      "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
      // Too short, too long, or of the wrong alphabet for the token they begin like.
      "AKIAshort",
      "AKIAABCDEFGHIJ2345678",
      "design=sign sig=short",
      "task-manager-of-things-that-are-long",
      "a.b.eyes.eye",
      "SKIPPED SK0123456789abcdef",
      "xSK0123456789abcdef0123456789abcdef",
      "12:AAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      "MyModuleWithAVeryLongName.method.another_quite_long_identifier_of_a_program",
      "hvs.short SG.short dp.pt.short",
      "AGE-SECRET-KEY-1SHORT",
  };
  for (const std::string_view text : rows) EXPECT_EQ(redact(text), text);
}

TEST(Redaction, DoingItTwiceChangesNothing) {
  std::vector<std::string> texts = bare_secrets();
  texts.insert(texts.end(),
               {"a://https://hooks.slack.com/services/T1/B1/abc:pw@host", "://a:AccountKey=x/y;@h",
                "password=mysql -psecret", "bearer bearer bearer x", "token=token=token", "--token --token x",
                "Authorization: \"x\" | y", "password='V'\"W\" token=\"x", "password=V&W;token=x",
                "password: |\n  token: |\n  x", "https://V:x-oauth-basic@h", "<token>password=x</token>",
                "cookie: a=\"b; cookie=\"c"});
  for (const std::string& text : texts) EXPECT_EQ(redact(redact(text)), redact(text)) << text;
}

// Each of these makes a backtracking matcher quadratic. Quadratic work on them would take hours, so finishing
// is the proof.
constexpr std::string_view kHurtful[] = {"-",
                                         "ey-",
                                         "eyA.",
                                         "-----BEGIN RSA PRIVATE KEY-----",
                                         "authorization: a && ",
                                         "authorization:a=\"",
                                         "authorization:",
                                         "cookie:",
                                         "cookie: a='",
                                         "password=\"",
                                         "password=\"a\n",
                                         "password=\"a\\",
                                         "password='a token=\"b ",
                                         "password: str = ",
                                         "password=null ",
                                         "password=)))",
                                         "password=&a",
                                         "password=;a ",
                                         "password:\n",
                                         "password: |\n",
                                         "password: |\n  x\n",
                                         "password=\"\"\"",
                                         "--password \"",
                                         "--password\" ",
                                         "accountkey=x ",
                                         "://a:",
                                         "://a@",
                                         "bearer ",
                                         "token=  ",
                                         "\\\"",
                                         "=",
                                         ": ",
                                         "::",
                                         ">",
                                         "<a>",
                                         "<token>",
                                         "<token><![CDATA[",
                                         "value:",
                                         "key:",
                                         "xoxb-",
                                         "sk-",
                                         "-p",
                                         "sshpass -p ",
                                         "curl -u \"x ",
                                         "mysql -p1 ",
                                         "?sig=a",
                                         ".ey",
                                         "MTIzNDU2Nzg5MDEyMzQ1Njc4.",
                                         "123456789:AA",
                                         "authorization:'",
                                         "AIza",
                                         "'|ConvertTo-SecureString ",
                                         "ConvertTo-SecureString -a ",
                                         "password:\\\"\\",
                                         "-----BEGIN PRIVATE KEY-----\n-----END "};

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

TEST(Redaction, IsLinearOnTextMadeToHurt) {
  for (const std::string_view unit : kHurtful)
    EXPECT_FALSE(redact(repeated(unit, 192 * limits::kKiB)).empty()) << unit;
}

TEST(Redaction, IsLinearOnTextThatMixesAllOfThem) {
  std::string text;
  while (text.size() < 4 * limits::kMiB)
    for (const std::string_view unit : kHurtful) text += repeated(unit, 16 * limits::kKiB);
  EXPECT_FALSE(redact(text).empty());
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

TEST(Redaction, KnownValuesGoWhateverTheyLookLike) {
  secrets::Redactor known;
  known.learn("correct horse");
  known.learn("12345678");
  EXPECT_EQ(redact_for_audit("say correct horse twice", &known), "say [REDACTED] twice");
  // A value that the cut would halve is gone as a whole: its beginning does not stay.
  EXPECT_EQ(redact_for_audit(std::string(495, 'x') + "correct horse", &known),
            std::string(495, 'x') + "[REDA...(+5)");
  std::string out;
  append_redacted_json(out, *json::parse(R"({"correct horse":"a correct horse","n":12345678,"m":[1,true]})"),
                       &known);
  EXPECT_EQ(out, R"({"[REDACTED]":"a [REDACTED]","m":[1,true],"n":"[REDACTED]"})");
}

TEST(Redaction, ArgumentsOfAProgramKeepTheirReferences) {
  EXPECT_EQ(redact_arguments("npx", {"-y", "pkg", "--api-key", "V", "--token=V", "--token", "${secret:a.b}",
                                     "API_KEY=${env:K}", "--verbose", "Authorization: Bearer V"}),
            (std::vector<std::string>{"-y", "pkg", "--api-key", "[REDACTED]", "--token=[REDACTED]", "--token",
                                      "${secret:a.b}", "API_KEY=${env:K}", "--verbose",
                                      "Authorization: [REDACTED]"}));
  EXPECT_EQ(redact_arguments("/usr/bin/curl", {"-u", "me:V"}),
            (std::vector<std::string>{"-u", "[REDACTED]"}));
  EXPECT_EQ(redact_arguments("--password", {"--not-a-value"}), (std::vector<std::string>{"--not-a-value"}));
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

TEST(Redaction, ArgumentsOfACommandAreKnownByTheFlagBeforeThem) {
  EXPECT_EQ(redacted_json(R"(["tool","--password","V W","--host","h"])"),
            R"(["tool","--password","[REDACTED]","--host","h"])");
  EXPECT_EQ(redacted_json(R"(["tool","-Token","--host"])"), R"(["tool","-Token","--host"])");
  EXPECT_EQ(redacted_json(R"(["tool","--password",5,"password","x"])"),
            R"(["tool","--password",5,"password","x"])");
  EXPECT_EQ(redacted_json(R"(["tool","--password=V","x","--password V","x"])"),
            R"(["tool","--password=[REDACTED]","x","--password [REDACTED]","x"])");
  EXPECT_EQ(redacted_json(R"(["/bin/sshpass","-p","V","ssh"])"),
            R"(["/bin/sshpass","-p","[REDACTED]","ssh"])");
  EXPECT_EQ(redacted_json(R"(["ssh","-p","22","-u","a:b"])"), R"(["ssh","-p","22","-u","a:b"])");
  for (const std::string flag : {"-u", "-U", "--user", "--proxy-user"})
    EXPECT_EQ(redacted_json(R"(["curl",")" + flag + R"(","user:V","-x","a:b"])"),
              R"(["curl",")" + flag + R"(","[REDACTED]","-x","a:b"])");
  EXPECT_EQ(redacted_json(R"(["curl","-u","user"])"), R"(["curl","-u","user"])");
}

TEST(Redaction, ASettingIsKnownByTheNameBesideItsValue) {
  EXPECT_EQ(redacted_json(R"([{"name":"DB_PASSWORD","value":"V"},{"key":"API_TOKEN","value":"V"}])"),
            R"([{"name":"DB_PASSWORD","value":"[REDACTED]"},{"key":"API_TOKEN","value":"[REDACTED]"}])");
  EXPECT_EQ(redacted_json(R"([{"name":"HOST","value":"h"},{"name":"DB_PASSWORD","value":{"from":"x"}}])"),
            R"([{"name":"HOST","value":"h"},{"name":"DB_PASSWORD","value":{"from":"x"}}])");
  EXPECT_EQ(redacted_json(R"({"name":5,"value":"v"})"), R"({"name":5,"value":"v"})");
}

TEST(Redaction, MembersThatAreNoSecretsKeepTheirValue) {
  EXPECT_EQ(redacted_json(R"({"pass":12,"primary_key":"id","token":true})"),
            R"({"pass":12,"primary_key":"id","token":true})");
  EXPECT_EQ(redacted_json(R"({"pass":"V"})"), R"({"pass":"[REDACTED]"})");
}

// The placeholder makes two keys equal; the number that tells them apart must not break the order of the
// keys.
TEST(Redaction, KeysThatBecomeEqualStaySorted) {
  const std::string body = "a1B2c3D4e5F6g7H8i9J0";
  json::object object{{"[REDACTED]!", 1}};
  object["ghp_" + body] = 2;
  object["gho_" + body] = 3;
  std::string out;
  append_redacted_json(out, object);
  const auto read = json::parse(out);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->get_object().size(), 3U);
  EXPECT_EQ(json::write_canonical(*read), out);
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
