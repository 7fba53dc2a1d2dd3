#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "launch/cage_proxy.h"

namespace relay::launch {
namespace {

struct RequestLine {
  std::string_view method, target, version;
};

Result<RequestLine> parse_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return fail(invalid("no HTTP request line"));
  const RequestLine parts{line.substr(0, first), line.substr(first + 1, last - first - 1),
                          line.substr(last + 1)};
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f; };
  const bool is_http_1 = parts.version == "HTTP/1.1" || parts.version == "HTTP/1.0";
  if (!is_http_1 || parts.method.empty() || !std::ranges::all_of(parts.target, is_plain) ||
      !std::ranges::all_of(parts.method, is_plain))
    return fail(invalid("no HTTP/1 request line"));
  return parts;
}

// A line ends with both characters or not at all: servers disagree about what a single one of them means, and
// so about where the request ends.
bool has_stray_control(std::string_view line) {
  return std::ranges::any_of(line, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

// "host:port"; an IPv6 host stands in brackets.
Result<ProxyRequest> parse_authority(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos) return fail(invalid("CONNECT names no port"));
  ProxyRequest request{.is_tunnel = true};
  const std::string_view digits = authority.substr(colon + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), request.port);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || request.port == 0)
    return fail(invalid("CONNECT names no valid port"));
  RELAY_TRY(request.host, policy::parse_host(authority.substr(0, colon)));
  return request;
}

// What belongs to this hop only, and who the request says it is for: that is the host that was judged. The
// connection ends with the answer, so that each request is judged.
bool is_dropped(std::string_view line) {
  const std::string_view name = trim_ascii(line.substr(0, line.find(':')));
  return equal_ignoring_case(name, "host") || equal_ignoring_case(name, "connection") ||
         equal_ignoring_case(name, "keep-alive") || equal_ignoring_case(name, "proxy-connection") ||
         equal_ignoring_case(name, "proxy-authorization");
}

struct UrlParts {
  std::string_view authority, path;
};

// Of an http:// URL that parse_target took; a fragment is nobody's business but the client's.
UrlParts split_url(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  url = url.substr(0, url.find('#'));
  const std::size_t end = std::min(url.find_first_of("/?"), url.size());
  return {url.substr(0, end), url.substr(end)};
}

Result<std::string> forwarded_fields(std::string_view rest) {
  std::string kept;
  for (std::size_t end = 0; (end = rest.find("\r\n")) != 0; rest.remove_prefix(end + 2)) {
    if (end == std::string_view::npos) return fail(invalid("the head of the request does not end"));
    const std::string_view line = rest.substr(0, end);
    if (has_stray_control(line)) return fail(invalid("a header line holds a control character"));
    if (!is_dropped(line)) kept.append(line).append("\r\n");
  }
  return kept;
}

}  // namespace

Result<ProxyRequest> parse_proxy_request(std::string_view head) {
  const std::size_t line_end = head.find("\r\n");
  if (line_end == std::string_view::npos) return fail(invalid("no HTTP request line"));
  RELAY_TRY(const RequestLine line, parse_line(head.substr(0, line_end)));
  if (line.method == "CONNECT") return parse_authority(line.target);
  RELAY_TRY(const policy::Target target, policy::parse_target(line.target));
  if (target.scheme != "http" || target.has_credentials)
    return fail(invalid("only http:// without a user name goes without CONNECT"));
  RELAY_TRY(const std::string fields, forwarded_fields(head.substr(line_end + 2)));
  const UrlParts url = split_url(line.target);
  ProxyRequest request{.host = target.host, .port = target.port};
  request.forwarded =
      fmt::format("{} {}{} {}\r\nHost: {}\r\n{}Connection: close\r\n\r\n", line.method,
                  url.path.starts_with('/') ? "" : "/", url.path, line.version, url.authority, fields);
  return request;
}

Result<void> check_proxy_host(const std::vector<policy::HostPattern>& hosts, const policy::Host& host,
                              std::uint16_t port) {
  const auto names_it = [&](const policy::HostPattern& pattern) {
    // A literal address is not found by accident: only a line that spells it out allows it.
    if (host.address && pattern.kind != policy::HostPattern::Kind::exact) return false;
    return policy::matches(pattern, host, port);
  };
  if (std::ranges::any_of(hosts, names_it)) return {};
  return fail(
      denied(fmt::format("{}:{} is not among the hosts that this server may reach", host.name, port)));
}

}  // namespace relay::launch
