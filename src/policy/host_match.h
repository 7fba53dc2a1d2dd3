// Hosts and the patterns that allow or deny them.
//
// A host is normalised before anything is compared: lower case, no trailing dot, internationalised labels in
// their ASCII form (punycode), every spelling of an IPv4 address as the address it is. Whoever connects must
// use Host::name, not the text it came from, or the check was about something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/address_range.h"

namespace relay::policy {

struct Host {
  std::string name;                // "api.example.com", "192.0.2.1", "2001:db8::1"
  std::optional<Address> address;  // when the host is an IP literal, in whatever spelling
};

/// What a URL is about to reach.
struct Target {
  std::string scheme;  // "http" or "https"
  Host host;
  std::uint16_t port = 0;
  bool has_credentials = false;  // user:password@
};

/// A bare host, no port. The error says what is wrong with it.
Result<Host> parse_host(std::string_view text);
/// The part of an http or https URL that policy judges. Refuses what parsers disagree about: backslashes,
/// blanks, control characters, an empty host.
Result<Target> parse_target(std::string_view url);

/// "*", "example.com", "*.example.com" (which also matches example.com itself), each with or without ":8443".
struct HostPattern {
  enum class Kind : std::uint8_t { any, exact, suffix } kind = Kind::exact;
  std::string name;                   // normalised; empty for any
  std::optional<std::uint16_t> port;  // missing: every port

  bool operator==(const HostPattern&) const = default;
};

Result<HostPattern> parse_host_pattern(std::string_view text);
std::string to_text(const HostPattern& pattern);

bool matches(const HostPattern& pattern, const Host& host, std::uint16_t port);
bool matches_any(const std::vector<HostPattern>& patterns, const Host& host, std::uint16_t port);
/// True when everything that `inner` matches is matched by `outer`.
bool covers(const HostPattern& outer, const HostPattern& inner);
/// What both match, or nothing.
std::optional<HostPattern> intersect(const HostPattern& a, const HostPattern& b);

}  // namespace relay::policy
