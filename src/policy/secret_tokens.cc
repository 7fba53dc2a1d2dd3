#include "policy/secret_tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "policy/secret_text.h"

namespace relay::policy {
namespace {

using namespace secret_text;

enum class Start : std::uint8_t { anywhere, at_boundary };

struct Prefix {
  std::string_view text;  // ends with the trigger byte
  std::uint8_t body_class;
  std::size_t at_least;
  Start start = Start::anywhere;
};

constexpr auto kUnderscorePrefixes = std::to_array<Prefix>({
    {"ghp_", alnum, 20},                      // GitHub
    {"gho_", alnum, 20},                      //
    {"ghu_", alnum, 20},                      //
    {"ghs_", alnum, 20},                      //
    {"ghr_", alnum, 20},                      //
    {"github_pat_", token, 10},               //
    {"gith_pat_", token, 10},                 //
    {"hf_", alnum, 34},                       // Hugging Face
    {"npm_", alnum, 36},                      //
    {"sk_live_", alnum, 10},                  // Stripe
    {"sk_test_", alnum, 10},                  //
    {"sk_prod_", alnum, 10},                  //
    {"rk_live_", alnum, 10},                  //
    {"rk_test_", alnum, 10},                  //
    {"rk_prod_", alnum, 10},                  //
    {"whsec_", alnum, 20},                    //
    {"glpat_", token, 20},                    // GitLab
    {"dop_v1_", alnum, 32},                   // DigitalOcean
    {"doo_v1_", alnum, 32},                   //
    {"dor_v1_", alnum, 32},                   //
    {"shpat_", alnum, 24},                    // Shopify
    {"shpca_", alnum, 24},                    //
    {"shppa_", alnum, 24},                    //
    {"shpss_", alnum, 24},                    //
    {"dckr_pat_", token, 20},                 // Docker Hub
    {"dckr_oat_", token, 20},                 //
    {"lin_api_", alnum, 32},                  // Linear
    {"sntrys_", dotted, 40},                  // Sentry
    {"sntryu_", alnum, 40},                   //
    {"figd_", token, 30},                     // Figma
    {"ntn_", alnum, 40, Start::at_boundary},  // Notion
    {"gsk_", alnum, 40, Start::at_boundary},  // Groq
    {"rubygems_", alnum, 40},                 //
    {"tskey_", token, 20},                    // Tailscale
    {"pscale_tkn_", dotted, 30},              // PlanetScale
    {"pscale_pw_", dotted, 30},               //
});

constexpr auto kDashPrefixes = std::to_array<Prefix>({
    {"sk-ant-", token, 20},
    {"sk-proj-", token, 16},
    {"sk-svcacct-", token, 16},
    {"sk-admin-", token, 16},
    {"sk-or-", token, 20},
    {"sk-", alnum, 16, Start::at_boundary},
    {"glpat-", token, 20},   // GitLab: personal, trigger, runner, deploy, CI job
    {"glptt-", token, 20},   //
    {"glrt-", token, 20},    //
    {"gldt-", token, 20},    //
    {"glcbt-", token, 20},   //
    {"pypi-", token, 24},    //
    {"xoxb-", token, 10},    // Slack
    {"xoxa-", token, 10},    //
    {"xoxp-", token, 10},    //
    {"xoxr-", token, 10},    //
    {"xoxs-", token, 10},    //
    {"xoxe-", token, 10},    //
    {"xoxc-", token, 10},    //
    {"xoxd-", token, 10},    //
    {"xapp-", token, 20},    //
    {"GOCSPX-", token, 20},  // Google OAuth client
    {"nvapi-", token, 40},   //
    {"tskey-", token, 20},   // Tailscale
    {"sq0atp-", token, 20},  // Square
    {"sq0csp-", token, 20},  //
    {"xai-", alnum, 40, Start::at_boundary},
    {"PMAK-", token, 30},  // Postman
    {"NRAK-", alnum, 20},  // New Relic
});

constexpr auto kDotPrefixes = std::to_array<Prefix>({
    {"ya29.", dotted, 20},                    // Google access token
    {"hvs.", token, 20, Start::at_boundary},  // HashiCorp Vault
    {"hvb.", token, 20, Start::at_boundary},  //
    {"hvr.", token, 20, Start::at_boundary},  //
    {"SG.", dotted, 40, Start::at_boundary},  // SendGrid
    {"dp.pt.", dotted, 20},                   // Doppler
    {"dp.st.", dotted, 20},                   //
    {"dp.ct.", dotted, 20},                   //
    {"dp.sa.", dotted, 20},                   //
    {"dp.scim.", dotted, 20},                 //
    {"dp.audit.", dotted, 20},                //
    {"mfa.", token, 60, Start::at_boundary},  // Discord
});

std::optional<SecretSpan> body(std::size_t begin, std::size_t from, std::size_t end, std::size_t at_least) {
  if (end - from < at_least) return std::nullopt;
  return SecretSpan{begin, end};
}

std::optional<SecretSpan> match_prefix(std::string_view text, std::size_t at,
                                       std::span<const Prefix> prefixes) {
  const std::string_view before = text.substr(0, at + 1);
  for (const Prefix& prefix : prefixes) {
    if (!before.ends_with(prefix.text)) continue;
    const std::size_t begin = before.size() - prefix.text.size();
    if (prefix.start == Start::at_boundary && !at_boundary(text, begin)) continue;
    if (prefix.text == "pypi-" && !has_at(text, at + 1, "AgE")) continue;
    // The body of a token may hold dashes, so a longer prefix further on ("sk-" of "sk-ant-") is found by its
    // own dash.
    if (auto found = body(begin, at + 1, run_end(text, at + 1, prefix.body_class), prefix.at_least))
      return found;
  }
  return std::nullopt;
}

// A JSON Web Token: header and payload both begin with `{"`, which is "ey" in base64. Runs before two dots do
// not overlap.
std::optional<SecretSpan> match_web_token(std::string_view text, std::size_t dot) {
  if (!has_at(text, dot + 1, "ey")) return std::nullopt;
  std::size_t run = dot;
  while (run > 0 && is(text[run - 1], token)) --run;
  const std::size_t head = text.substr(run, dot - run).find("ey");
  if (head == kNone || dot - (run + head) < 19) return std::nullopt;
  std::size_t end = run_end(text, dot + 1, token);
  if (end - dot < 11) return std::nullopt;
  if (end < text.size() && text[end] == '.') end = run_end(text, end + 1, token);
  return SecretSpan{run + head, end};
}

// A Discord token is base64 of a decimal id, a time stamp and a signature, divided by dots. Every fourth byte
// of the base64 of digits is M, N or O, which no dotted name in a program has.
std::optional<SecretSpan> match_discord(std::string_view text, std::size_t dot) {
  std::size_t begin = dot;
  while (begin > 0 && dot - begin <= 28 && is(text[begin - 1], token)) --begin;
  if (begin > 0 && text[begin - 1] == '\\') ++begin;  // the n of \n
  const std::size_t id = dot - begin;
  if (id < 23 || id > 28) return std::nullopt;
  for (std::size_t i = begin; i < dot; i += 4)
    if (text[i] < 'M' || text[i] > 'O') return std::nullopt;
  const std::size_t stamp = run_end(text.substr(0, dot + 9), dot + 1, token);
  if (stamp - dot < 6 || !has_at(text, stamp, ".")) return std::nullopt;
  return body(begin, stamp + 1, run_end(text, stamp + 1, token), 25);
}

std::optional<SecretSpan> match_dot(std::string_view text, std::size_t at) {
  if (auto found = match_prefix(text, at, kDotPrefixes)) return found;
  if (auto found = match_discord(text, at)) return found;
  return match_web_token(text, at);
}

bool is_key_id(char c) {
  return is_upper(c) || is_digit(c);
}

// Exactly `length` bytes of one kind that are followed by another word.
bool is_exactly(std::string_view text, std::size_t from, std::size_t length, bool (*belongs)(char)) {
  if (from + length > text.size()) return false;
  if (!std::ranges::all_of(text.substr(from, length), belongs)) return false;
  return from + length == text.size() || !is_word(text[from + length]);
}

std::optional<SecretSpan> match_capital_a(std::string_view text, std::size_t at) {
  if (has_at(text, at, "AIza")) return body(at, at + 4, run_end(text, at + 4, token), 35);
  constexpr std::string_view kAge = "AGE-SECRET-KEY-1";
  if (has_at(text, at, kAge)) return body(at, at + kAge.size(), run_end(text, at + kAge.size(), alnum), 40);
  if (has_at(text, at, "ATATT3xFf")) return body(at, at + 9, run_end(text, at + 9, token), 40);  // Atlassian
  if (!has_at(text, at, "AKIA") && !has_at(text, at, "ASIA")) return std::nullopt;
  if (!is_exactly(text, at + 4, 16, is_key_id)) return std::nullopt;
  return SecretSpan{at, at + 20};
}

// A Twilio API key id.
std::optional<SecretSpan> match_capital_s(std::string_view text, std::size_t at) {
  if (!has_at(text, at, "SK") || !at_boundary(text, at) || !is_exactly(text, at + 2, 32, is_hex))
    return std::nullopt;
  return SecretSpan{at, at + 34};
}

// The id of a Telegram bot, a colon, 35 bytes that begin with AA.
std::optional<SecretSpan> match_telegram(std::string_view text, std::size_t colon) {
  if (!has_at(text, colon + 1, "AA")) return std::nullopt;
  std::size_t begin = colon;
  while (begin > 0 && colon - begin < 16 && is_digit(text[begin - 1])) --begin;
  if (colon - begin < 6) return std::nullopt;
  return body(begin, colon + 1, run_end(text, colon + 1, token), 33);
}

// A Twilio account and its auth token, as they stand in URLs and after `-u`.
std::optional<SecretSpan> match_twilio_pair(std::string_view text, std::size_t colon) {
  if (colon < 34 || !has_at(text, colon - 34, "AC") || !is_exactly(text, colon + 1, 32, is_hex))
    return std::nullopt;
  if (!std::ranges::all_of(text.substr(colon - 32, 32), is_hex)) return std::nullopt;
  return SecretSpan{colon + 1, colon + 33};
}

struct Webhook {
  std::string_view host;  // the address has this host, or one that ends with `.` and this
  std::string_view path;  // what follows it is the secret
};
constexpr std::array<Webhook, 3> kWebhooks{
    {{"discord.com", "/webhooks/"}, {"discordapp.com", "/webhooks/"}, {"webhook.office.com", "/webhookb2/"}}};
constexpr std::size_t kHostBytes = 96;
constexpr std::size_t kWebhookPathBytes = 24;  // "/api/v10/webhooks/"

bool is_host_of(std::string_view host, const Webhook& webhook) {
  if (!ends_with_ignoring_case(host, webhook.host)) return false;
  const std::size_t before = host.size() - webhook.host.size();
  return before == 0 || host[before - 1] == '.';
}

std::size_t path_end(std::string_view text, std::size_t from) {
  while (from < text.size() && (is(text[from], token) || text[from] == '/' || text[from] == '@')) ++from;
  return from;
}

std::optional<SecretSpan> match_slack_webhook(std::string_view text, std::size_t colon) {
  for (const std::string_view rest :
       {"://hooks.slack.com/services/", "://hooks.slack.com/workflows/", "://hooks.slack.com/triggers/"}) {
    if (!has_ignoring_case(text, colon, rest)) continue;
    const std::size_t begin = colon >= 5 && has_ignoring_case(text, colon - 5, "https") ? colon - 5 : colon;
    return SecretSpan{begin, path_end(text, colon + rest.size())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SecretSpan> find_token(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '_': return match_prefix(text, at, kUnderscorePrefixes);
    case '-': return match_prefix(text, at, kDashPrefixes);
    case '.': return match_dot(text, at);
    case 'A': return match_capital_a(text, at);
    case 'S': return match_capital_s(text, at);
    case ':':
      if (auto found = match_telegram(text, at)) return found;
      return match_twilio_pair(text, at);
    default: return std::nullopt;
  }
}

std::optional<SecretSpan> find_webhook(std::string_view text, std::size_t colon) {
  if (auto found = match_slack_webhook(text, colon)) return found;
  const std::size_t host_begin = colon + 3;
  const std::size_t host_end = text.substr(0, host_begin + kHostBytes).find('/', host_begin);
  if (host_end == kNone) return std::nullopt;
  const std::string_view host = text.substr(host_begin, host_end - host_begin);
  for (const Webhook& webhook : kWebhooks) {
    if (!is_host_of(host, webhook)) continue;
    const std::size_t path = text.substr(0, host_end + kWebhookPathBytes).find(webhook.path, host_end);
    if (path == kNone) continue;
    const std::size_t begin = path + webhook.path.size();
    return span(begin, path_end(text, begin));
  }
  return std::nullopt;
}

}  // namespace relay::policy
