#include "policy/host_match.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "policy/punycode.h"

namespace relay::policy {
namespace {

constexpr std::size_t kHostChars = 253;

// What can stand in a host name, after mapping. An underscore is not in the standard but in the world.
bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool is_numeric_host(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (last.starts_with("0x")) return true;
  return !last.empty() && std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint16_t> find_port(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value == 0 || value > 65535)
    return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: none
  bool has_port = false;
};

HostAndPort split_port(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return {text, {}, false};
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

bool is_subdomain(std::string_view name, std::string_view domain) {
  if (name.size() <= domain.size()) return name == domain;
  return name.ends_with(domain) && name[name.size() - domain.size() - 1] == '.';
}

}  // namespace

Result<Host> parse_host(std::string_view text) {
  if (text.starts_with('[')) {
    const auto address = find_address(text);
    if (!address || address->v4) return fail(invalid("not an IPv6 address in brackets"));
    return Host{to_text(*address), address};
  }
  RELAY_TRY(std::string name, to_ascii_host(text));
  if (name.ends_with('.')) name.pop_back();
  if (name.empty() || name.size() > kHostChars) return fail(invalid("the host is empty or too long"));
  if (name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string::npos)
    return fail(invalid("the host has an empty label"));
  if (!std::ranges::all_of(name, is_host_char))
    return fail(invalid("the host has a character that hosts do not have"));
  if (!is_numeric_host(name)) return Host{std::move(name), std::nullopt};
  const auto address = find_loose_address(name);
  if (!address) return fail(invalid("the host looks like an address but is none"));
  return Host{to_text(*address), address};
}

Result<Target> parse_target(std::string_view url) {
  const auto is_unsafe = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\';
  };
  if (std::ranges::any_of(url, is_unsafe))
    return fail(invalid("the URL has a blank, a control character or a backslash in it"));
  const std::size_t separator = url.find("://");
  if (separator == std::string_view::npos) return fail(invalid("the URL has no scheme"));
  Target target{.scheme = to_lower_ascii(url.substr(0, separator))};
  if (target.scheme != "http" && target.scheme != "https")
    return fail(denied("only http and https are allowed"));
  std::string_view authority = url.substr(separator + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    target.has_credentials = true;
    authority.remove_prefix(at + 1);
  }
  const HostAndPort parts = split_port(authority);
  if (parts.host.find('%') != std::string_view::npos) return fail(invalid("the host has escapes in it"));
  RELAY_TRY(target.host, parse_host(parts.host));
  target.port = target.scheme == "https" ? 443 : 80;
  if (parts.has_port && !parts.port.empty()) {
    const auto port = find_port(parts.port);
    if (!port) return fail(invalid("the URL has an invalid port"));
    target.port = *port;
  }
  return target;
}

Result<HostPattern> parse_host_pattern(std::string_view text) {
  HostPattern pattern;
  text = trim_ascii(text);
  const HostAndPort parts = split_port(text);
  if (parts.has_port) {
    pattern.port = find_port(parts.port);
    if (!pattern.port) return fail(invalid(fmt::format("\"{}\" has an invalid port", text)));
  }
  if (parts.host == "*") {
    pattern.kind = HostPattern::Kind::any;
    return pattern;
  }
  const bool wildcard = parts.host.starts_with("*.");
  const std::string_view name = wildcard ? parts.host.substr(2) : parts.host;
  if (name.find('*') != std::string_view::npos)
    return fail(invalid(
        fmt::format("\"{}\": a star stands alone or before the first dot, as in *.example.com", text)));
  const auto host = parse_host(name);
  if (!host) return fail(invalid(fmt::format("\"{}\": {}", text, host.error().message)));
  if (wildcard && host->address)
    return fail(invalid(fmt::format("\"{}\": an address has no subdomains", text)));
  pattern.kind = wildcard ? HostPattern::Kind::suffix : HostPattern::Kind::exact;
  pattern.name = host->name;
  return pattern;
}

std::string to_text(const HostPattern& pattern) {
  const bool v6 = pattern.name.find(':') != std::string::npos;
  std::string text = pattern.kind == HostPattern::Kind::any      ? "*"
                     : pattern.kind == HostPattern::Kind::suffix ? "*." + pattern.name
                     : v6                                        ? "[" + pattern.name + "]"
                                                                 : pattern.name;
  if (pattern.port) text += fmt::format(":{}", *pattern.port);
  return text;
}

bool matches(const HostPattern& pattern, const Host& host, std::uint16_t port) {
  if (pattern.port && *pattern.port != port) return false;
  switch (pattern.kind) {
    case HostPattern::Kind::any: return true;
    case HostPattern::Kind::exact: return host.name == pattern.name;
    case HostPattern::Kind::suffix: return !host.address && is_subdomain(host.name, pattern.name);
  }
  return false;
}

bool matches_any(const std::vector<HostPattern>& patterns, const Host& host, std::uint16_t port) {
  return std::ranges::any_of(patterns,
                             [&](const HostPattern& pattern) { return matches(pattern, host, port); });
}

bool covers(const HostPattern& outer, const HostPattern& inner) {
  const auto common = intersect(outer, inner);
  return common && *common == inner;
}

std::optional<HostPattern> intersect(const HostPattern& a, const HostPattern& b) {
  if (a.port && b.port && *a.port != *b.port) return std::nullopt;
  const auto port = a.port ? a.port : b.port;
  const auto with_port = [&](const HostPattern& narrower) {
    return HostPattern{narrower.kind, narrower.name, port};
  };
  using Kind = HostPattern::Kind;
  if (a.kind == Kind::any) return with_port(b);
  if (b.kind == Kind::any) return with_port(a);
  if (a.kind == Kind::suffix && is_subdomain(b.name, a.name)) {
    // *.x with *.x is *.x; with the exact x it is x.
    const bool b_is_address = b.kind == Kind::exact && find_address(b.name);
    if (!b_is_address) return with_port(b);
  }
  if (b.kind == Kind::suffix && is_subdomain(a.name, b.name) &&
      !(a.kind == Kind::exact && find_address(a.name)))
    return with_port(a);
  if (a.kind == Kind::exact && b.kind == Kind::exact && a.name == b.name) return with_port(a);
  return std::nullopt;
}

}  // namespace relay::policy
