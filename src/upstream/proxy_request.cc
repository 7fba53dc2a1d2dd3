#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "upstream/cage_proxy.h"

namespace relay::upstream {
namespace {

struct RequestLine {
  std::string_view method, target, version;
};

Result<RequestLine> parse_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return fail(invalid("no HTTP request line"));
  const RequestLine parts{line.substr(0, first), line.substr(first + 1, last - first - 1), line.substr(last + 1)};
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f; };
  if (!parts.version.starts_with("HTTP/1.") || !std::ranges::all_of(parts.target, is_plain) || !std::ranges::all_of(parts.method, is_plain))
    return fail(invalid("no HTTP/1 request line"));
  return parts;
}

// "host:port"; an IPv6 host stands in brackets.
Result<ProxyRequest> parse_authority(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos) return fail(invalid("CONNECT names no port"));
  ProxyRequest request{.is_tunnel = true};
  const std::string_view digits = authority.substr(colon + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), request.port);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || request.port == 0) return fail(invalid("CONNECT names no valid port"));
  RELAY_TRY(request.host, policy::parse_host(authority.substr(0, colon)));
  return request;
}

// What belongs to this hop only. The connection ends with the answer, so that each request is judged.
bool is_dropped(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  return equal_ignoring_case(name, "connection") || equal_ignoring_case(name, "keep-alive") || equal_ignoring_case(name, "proxy-connection") ||
         equal_ignoring_case(name, "proxy-authorization");
}

std::string path_of(std::string_view url) {
  const std::size_t slash = url.find('/', url.find("://") + 3);
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

}  // namespace

Result<ProxyRequest> parse_proxy_request(std::string_view head) {
  const std::size_t line_end = head.find("\r\n");
  RELAY_TRY(const RequestLine line, parse_line(head.substr(0, line_end)));
  if (line.method == "CONNECT") return parse_authority(line.target);
  RELAY_TRY(const policy::Target target, policy::parse_target(line.target));
  if (target.scheme != "http") return fail(invalid("only http:// goes without CONNECT"));
  ProxyRequest request{.host = target.host, .port = target.port};
  request.forwarded = fmt::format("{} {} {}\r\n", line.method, path_of(line.target), line.version);
  std::string_view rest = head.substr(line_end + 2);
  for (std::size_t end = 0; (end = rest.find("\r\n")) != 0 && end != std::string_view::npos; rest.remove_prefix(end + 2))
    if (!is_dropped(rest.substr(0, end))) request.forwarded += std::string(rest.substr(0, end)) + "\r\n";
  request.forwarded += "Connection: close\r\n\r\n";
  return request;
}

Result<void> check_proxy_host(const std::vector<policy::HostPattern>& hosts, const policy::Host& host, std::uint16_t port) {
  const auto names_it = [&](const policy::HostPattern& pattern) {
    // A literal address is not found by accident: only a line that spells it out allows it.
    if (host.address && pattern.kind != policy::HostPattern::Kind::exact) return false;
    return policy::matches(pattern, host, port);
  };
  if (std::ranges::any_of(hosts, names_it)) return {};
  return fail(denied(fmt::format("{}:{} is not among the hosts that this server may reach", host.name, port)));
}

}  // namespace relay::upstream
