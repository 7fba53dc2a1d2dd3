#include "launch/outside_proxy.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::launch {
namespace {

std::optional<unsigned> find_hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// A password with a colon or an at sign is written with escapes. What is no escape stays.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? find_hex(text[i + 1]) : std::nullopt;
    const auto low = high ? find_hex(text[i + 2]) : std::nullopt;
    plain += low ? static_cast<char>(*high * 16 + *low) : text[i];
    if (low) i += 2;
  }
  return plain;
}

std::string authorization_of(std::string_view url) {
  std::string_view authority = url.substr(url.find("://") + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  const std::string_view user = authority.substr(0, at);
  const std::size_t colon = std::min(user.find(':'), user.size());
  const std::string_view password = user.substr(std::min(colon + 1, user.size()));
  return "Basic " + to_base64(fmt::format("{}:{}", unescape(user.substr(0, colon)), unescape(password)));
}

std::string value_of(const Environment& environment, std::string_view lower) {
  std::string upper(lower);
  std::ranges::transform(upper, upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  for (const std::string& name : {std::string(lower), upper})
    if (const auto found = environment.find(name); found != environment.end() && !found->second.empty())
      return found->second;
  return {};
}

Result<std::optional<OutsideProxy>> read_proxy(const Environment& environment, std::string_view name) {
  std::string url = value_of(environment, name);
  if (url.empty()) url = value_of(environment, "all_proxy");
  if (url.empty()) return std::optional<OutsideProxy>();
  auto proxy = parse_outside_proxy(url);
  if (!proxy) return fail(invalid(fmt::format("{}: {}", name, proxy.error().message)));
  return std::optional<OutsideProxy>(std::move(*proxy));
}

bool is_named(std::string_view entry, const policy::Host& host, std::uint16_t port) {
  if (entry == "*") return true;
  if (const std::size_t colon = entry.rfind(':');
      colon != std::string_view::npos && entry.find(':') == colon) {
    if (entry.substr(colon + 1) != std::to_string(port)) return false;
    entry = entry.substr(0, colon);
  }
  if (entry.starts_with('*')) entry.remove_prefix(1);
  if (entry.starts_with('.')) entry.remove_prefix(1);
  const std::string name = to_lower_ascii(entry);
  return !name.empty() && (host.name == name || (!host.address && host.name.ends_with("." + name)));
}

std::string authority_of(const policy::Host& host, std::uint16_t port) {
  const bool is_v6 = host.name.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host.name, port) : fmt::format("{}:{}", host.name, port);
}

}  // namespace

Result<OutsideProxy> parse_outside_proxy(std::string_view url) {
  const std::string whole =
      url.find("://") == std::string_view::npos ? fmt::format("http://{}", url) : std::string(url);
  if (!to_lower_ascii(whole).starts_with("http://"))
    return fail(invalid("packages are fetched through http:// proxies only; name one of those"));
  RELAY_TRY(const policy::Target target, policy::parse_target(whole));
  return OutsideProxy{target.host.name, target.port, authorization_of(whole)};
}

const OutsideProxy* OutsideProxies::find(const policy::Host& host, std::uint16_t port, bool is_tunnel) const {
  const std::optional<OutsideProxy>& proxy = is_tunnel ? for_tunnels : for_requests;
  const auto names_it = [&](const std::string& entry) { return is_named(entry, host, port); };
  if (!proxy || std::ranges::any_of(direct, names_it)) return nullptr;
  return &*proxy;
}

std::vector<std::string> split_direct_hosts(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", \t\n"), text.size());
    if (end > 0) entries.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

Result<OutsideProxies> parse_outside_proxies(const Environment& environment) {
  OutsideProxies proxies;
  RELAY_TRY(proxies.for_tunnels, read_proxy(environment, "https_proxy"));
  RELAY_TRY(proxies.for_requests, read_proxy(environment, "http_proxy"));
  proxies.direct = split_direct_hosts(value_of(environment, "no_proxy"));
  return proxies;
}

std::string tunnel_request(const OutsideProxy& proxy, const policy::Host& host, std::uint16_t port) {
  const std::string authority = authority_of(host, port);
  std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", authority);
  if (!proxy.authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  return head + "\r\n";
}

Result<void> check_tunnel_answer(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if ((line.starts_with("HTTP/1.1 2") || line.starts_with("HTTP/1.0 2")) && line.size() >= 12) return {};
  return fail(unavailable(fmt::format("the proxy of this machine refused: {}", line.substr(0, 100))));
}

}  // namespace relay::launch
