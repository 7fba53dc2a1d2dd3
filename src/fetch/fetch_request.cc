#include "fetch/fetch_request.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace relay::fetch {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};
constexpr std::array<std::string_view, 15> kNotTheGuests = {"host",           "connection",
                                                            "content-length", "transfer-encoding",
                                                            "upgrade",        "te",
                                                            "trailer",        "keep-alive",
                                                            "expect",         "cookie",
                                                            "cookie2",        "via",
                                                            "forwarded",      "x-forwarded-for",
                                                            "accept-encoding"};
constexpr std::array<std::string_view, 12> kNotForTheGuest = {
    "set-cookie",      "set-cookie2",    "connection", "keep-alive", "transfer-encoding",
    "upgrade",         "trailer",        "te",         "alt-svc",    "strict-transport-security",
    "clear-site-data", "public-key-pins"};

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); });
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view lower) {
  return std::ranges::find(names, lower) != names.end();
}

Result<std::pair<std::string_view, std::string_view>> field_of(const json::value& item) {
  const json::array* pair = item.if_array();
  if (!pair || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
    return fail(invalid("fetch: headers must be pairs of strings"));
  return std::pair(json::view((*pair)[0].get_string()), json::view((*pair)[1].get_string()));
}

Result<net::Headers> parse_headers(const json::object& args) {
  net::Headers headers;
  const json::value* value = json::find(args, "headers");
  if (!value || value->is_null()) return headers;
  if (!value->is_array() || value->get_array().size() > limits::kFetchHeaders)
    return fail(invalid(fmt::format("fetch: at most {} headers", limits::kFetchHeaders)));
  std::size_t bytes = 0;
  for (const json::value& item : value->get_array()) {
    RELAY_TRY(const auto field, field_of(item));
    if (!is_token(field.first) || !is_field_value(field.second))
      return fail(invalid(fmt::format("fetch: {} is not a header", json::quote(field.first))));
    bytes += field.first.size() + field.second.size();
    if (bytes > limits::kClientHeaderBytes) return fail(too_large("fetch: the headers are too large"));
    const std::string lower = to_lower_ascii(field.first);
    if (contains(kNotTheGuests, lower) || lower.starts_with("proxy-") || lower.starts_with("sec-")) continue;
    headers.add(std::string(field.first), std::string(trim_ascii(field.second)));
  }
  return headers;
}

Result<std::string> parse_method(const json::object& args) {
  std::string method(json::find_string(args, "method").value_or("GET"));
  std::ranges::transform(method, method.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (!contains(kMethods, method))
    return fail(invalid(fmt::format("fetch: the method {} is not supported", json::quote(method))));
  return method;
}

Result<Redirects> parse_redirects(const json::object& args) {
  const std::string_view name = json::find_string(args, "redirect").value_or("follow");
  if (name == "follow") return Redirects::follow;
  if (name == "manual") return Redirects::manual;
  if (name == "error") return Redirects::error;
  return fail(invalid("fetch: redirect is \"follow\", \"manual\" or \"error\""));
}

}  // namespace

Result<FetchRequest> parse_fetch_request(const json::object& args, std::string body) {
  FetchRequest request;
  const auto url = json::find_string(args, "url");
  if (!url || url->empty() || url->size() > limits::kUriBytes)
    return fail(invalid("fetch: 'url' is missing or too long"));
  request.url = *url;
  RELAY_TRY(request.method, parse_method(args));
  RELAY_TRY(request.headers, parse_headers(args));
  RELAY_TRY(request.redirects, parse_redirects(args));
  if (!body.empty() && (request.method == "GET" || request.method == "HEAD"))
    return fail(invalid(fmt::format("fetch: a {} request has no body", request.method)));
  request.body = std::move(body);
  return request;
}

net::Headers guest_headers(const net::Headers& headers) {
  const auto encoding = headers.find("content-encoding");
  const bool unpacked = encoding && !encoding->empty() && !equal_ignoring_case(*encoding, "identity");
  net::Headers kept;
  for (const auto& [name, value] : headers) {
    const std::string lower = to_lower_ascii(name);
    if (contains(kNotForTheGuest, lower) || lower.starts_with("proxy-")) continue;
    if (unpacked && (lower == "content-encoding" || lower == "content-length")) continue;
    kept.add(lower, to_valid_utf8(value));
  }
  return kept;
}

json::object reply_value(const ReplyHead& head) {
  json::array headers;
  for (const auto& [name, value] : head.headers)
    headers.emplace_back(json::array{json::string(name), json::string(value)});
  const std::string_view reason = net::reason_phrase(head.status);
  return {{"status", head.status},
          {"statusText", json::string(reason.data(), reason.size())},
          {"url", json::string(head.url)},
          {"redirected", head.redirected},
          {"headers", std::move(headers)}};
}

}  // namespace relay::fetch
