// Addresses and the ranges they lie in. Every address that a name resolves to is judged here before anything
// connects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relay::policy {

/// IPv4 or IPv6. An IPv4 address inside an IPv6 one (mapped, compatible, NAT64, 6to4) is judged as what it
/// reaches, see range_of.
struct Address {
  std::array<std::uint8_t, 16> bytes{};  // IPv4 in the first four
  bool v4 = true;

  static Address from_v4(std::uint32_t host_order);
  static Address from_v6(const std::array<std::uint8_t, 16>& bytes);
  bool operator==(const Address&) const = default;
};

enum class AddressRange : std::uint8_t {
  global,         // anybody's: the only one that is reachable by default
  unspecified,    // 0.0.0.0/8, ::
  loopback,       // 127.0.0.0/8, ::1
  private_use,    // 10/8, 172.16/12, 192.168/16, fc00::/7
  link_local,     // 169.254/16, fe80::/10; cloud metadata lives here
  shared,         // 100.64/10, carrier-grade NAT
  multicast,      // 224/4, ff00::/8
  broadcast,      // 255.255.255.255
  documentation,  // 192.0.2/24 and its like
  benchmarking,   // 198.18/15
  reserved,       // everything else that is not for the public Internet
};

std::string_view name(AddressRange range);
AddressRange range_of(const Address& address);

/// Text as in a URL: dotted quad, or IPv6 with or without brackets, no zone.
std::optional<Address> find_address(std::string_view text);
/// Also what inet_aton understands: "2130706433", "0x7f.1", "0177.0.0.1", "127.1". Resolvers accept these, so
/// a deny that does not would be dodged.
std::optional<Address> find_loose_address(std::string_view text);

/// "192.0.2.1", "2001:db8::1"
std::string to_text(const Address& address);

}  // namespace relay::policy
