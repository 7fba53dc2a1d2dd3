#include "net/origin_guard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include "base/bytes.h"

namespace relay::net {
namespace {

constexpr std::array<std::string_view, 3> kLoopbackNames = {"localhost", "127.0.0.1", "[::1]"};

// What pages may send; everything that begins with "mcp-" comes on top (Mcp-Session-Id, Mcp-Param-...).
constexpr std::array<std::string_view, 6> kRequestFields = {
    "authorization", "content-type", "accept", "last-event-id", "x-requested-with", "mcp-session-id"};
constexpr std::string_view kStandardFields =
    "Authorization, Content-Type, Accept, Last-Event-ID, X-Requested-With, Mcp-Session-Id, "
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name";
constexpr std::string_view kExposedFields =
    "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Content-Range, ETag";

bool contains(const auto& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "LocalHost:80" -> "localhost"; nothing when it is not a host with an optional port.
std::optional<std::string> find_host_name(std::string_view host) {
  const bool literal = host.starts_with('[');
  const std::size_t end = literal ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = host.substr(0, literal ? end + 1 : end);
  const std::string_view rest = host.substr(name.size());
  if (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))) return std::nullopt;
  constexpr std::string_view kForbidden = "/\\@?#% \t,";
  if (name.empty() || name.find_first_of(kForbidden) != std::string_view::npos) return std::nullopt;
  return to_lower_ascii(name);
}

bool is_ip_literal(std::string_view name) {
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(name), error);
  return !error;
}

std::string host_of_address(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

// Lower case, and without the port that the scheme implies, so that equal origins are equal texts.
std::string normal_origin(std::string_view origin) {
  std::string text = to_lower_ascii(origin);
  if (text.ends_with('/')) text.pop_back();
  if (text.starts_with("http://") && text.ends_with(":80")) text.resize(text.size() - 3);
  if (text.starts_with("https://") && text.ends_with(":443")) text.resize(text.size() - 4);
  return text;
}

// The part after "http://" or "https://"; empty for everything else.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  return {};
}

bool may_be_sent(std::string_view field) {
  return field.starts_with("mcp-") || contains(kRequestFields, field);
}

// The fields the page asks for and may have: Mcp-Param-* cannot be listed beforehand.
std::string allowed_fields(std::string_view asked) {
  std::string allowed(kStandardFields);
  while (!asked.empty()) {
    const std::string_view item = asked.substr(0, asked.find(','));
    asked.remove_prefix(std::min(asked.size(), item.size() + 1));
    const std::string field = to_lower_ascii(trim_ascii(item));
    if (is_http_token(field) && may_be_sent(field) && !contains(kRequestFields, field))
      allowed += ", " + field;
  }
  return allowed;
}

}  // namespace

OriginGuard::OriginGuard(const GuardOptions& options) : hosts_(kLoopbackNames.begin(), kLoopbackNames.end()) {
  allows_all_ = contains(options.allowed_origins, "*");
  allows_literals_ = options.bind_address == "0.0.0.0" || options.bind_address == "::";
  hosts_.push_back(to_lower_ascii(host_of_address(options.bind_address)));
  for (const std::string& host : options.allowed_hosts) hosts_.push_back(to_lower_ascii(host));
  for (const std::string& origin : options.allowed_origins) {
    origins_.push_back(normal_origin(origin));
    if (auto name = find_host_name(authority_of(origins_.back()))) hosts_.push_back(std::move(*name));
  }
}

Result<void> OriginGuard::check(const HttpRequest& request) const {
  if (allows_all_) return {};
  const std::string_view host = request.headers.find("Host").value_or("");
  if (!allows_host(host))
    return fail(
        denied(fmt::format("Host '{}' is not one of ours; add it to server.allowedHosts to allow it", host)));
  const auto origins = request.headers.find_all("Origin");
  if (origins.empty()) return {};
  if (origins.size() == 1 && allows_origin(origins[0], host)) return {};
  return fail(denied(
      fmt::format("Origin '{}' is not allowed; add it to cors.allowedOrigins to allow it", origins[0])));
}

bool OriginGuard::allows_host(std::string_view host) const {
  const auto name = find_host_name(host);
  if (!name) return false;
  return contains(hosts_, *name) || (allows_literals_ && is_ip_literal(*name));
}

bool OriginGuard::allows_origin(std::string_view origin, std::string_view host) const {
  const std::string normal = normal_origin(origin);
  if (contains(origins_, normal)) return true;
  const std::string_view authority = authority_of(normal);
  const auto name = find_host_name(authority);
  if (!name) return false;
  if (contains(kLoopbackNames, *name)) return true;
  // The page came from this very server: its host was checked already.
  return authority == authority_of(normal_origin("http://" + std::string(host))) ||
         authority == authority_of(normal_origin("https://" + std::string(host)));
}

Headers OriginGuard::cors_headers(const HttpRequest& request) const {
  Headers headers;
  const auto origin = request.headers.find("Origin");
  if (!origin) return headers;
  headers.add("Access-Control-Allow-Origin", allows_all_ ? "*" : std::string(*origin));
  headers.add("Access-Control-Expose-Headers", std::string(kExposedFields));
  if (!allows_all_) headers.add("Vary", "Origin");
  return headers;
}

HttpResponse OriginGuard::answer_preflight(const HttpRequest& request) const {
  HttpResponse response{.status = 204, .headers = cors_headers(request), .body = {}};
  response.headers.add("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
  const std::string_view asked = request.headers.find("Access-Control-Request-Headers").value_or("");
  response.headers.add("Access-Control-Allow-Headers", allowed_fields(asked));
  response.headers.add("Access-Control-Max-Age", "600");
  if (request.headers.find("Access-Control-Request-Private-Network") == "true")
    response.headers.add("Access-Control-Allow-Private-Network", "true");
  return response;
}

}  // namespace relay::net
