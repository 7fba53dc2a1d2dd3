#include "policy/address_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace relay::policy {
namespace {

struct Block4 {
  std::uint32_t base;
  int bits;
  AddressRange range;
};

constexpr std::uint32_t quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24U | b << 16U | c << 8U | d;
}

// The first that matches counts.
constexpr Block4 kBlocks4[] = {
    {quad(0, 0, 0, 0), 8, AddressRange::unspecified},
    {quad(10, 0, 0, 0), 8, AddressRange::private_use},
    {quad(100, 64, 0, 0), 10, AddressRange::shared},
    {quad(127, 0, 0, 0), 8, AddressRange::loopback},
    {quad(169, 254, 0, 0), 16, AddressRange::link_local},
    {quad(172, 16, 0, 0), 12, AddressRange::private_use},
    {quad(192, 0, 0, 0), 24, AddressRange::reserved},
    {quad(192, 0, 2, 0), 24, AddressRange::documentation},
    {quad(192, 88, 99, 0), 24, AddressRange::reserved},
    {quad(192, 168, 0, 0), 16, AddressRange::private_use},
    {quad(198, 18, 0, 0), 15, AddressRange::benchmarking},
    {quad(198, 51, 100, 0), 24, AddressRange::documentation},
    {quad(203, 0, 113, 0), 24, AddressRange::documentation},
    {quad(224, 0, 0, 0), 4, AddressRange::multicast},
    {quad(255, 255, 255, 255), 32, AddressRange::broadcast},
    {quad(240, 0, 0, 0), 4, AddressRange::reserved},
};

std::uint32_t v4_at(const Address& address, std::size_t offset) {
  const auto& b = address.bytes;
  return quad(b[offset], b[offset + 1], b[offset + 2], b[offset + 3]);
}

AddressRange range_of_v4(std::uint32_t value) {
  for (const Block4& block : kBlocks4)
    if ((value ^ block.base) >> (32 - block.bits) == 0) return block.range;
  return AddressRange::global;
}

bool has_prefix(const Address& address, std::initializer_list<std::uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}
bool is_zero(const Address& address, std::size_t from, std::size_t to) {
  return std::all_of(address.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     address.bytes.begin() + static_cast<std::ptrdiff_t>(to),
                     [](std::uint8_t byte) { return byte == 0; });
}

AddressRange range_of_v6(const Address& address) {
  const auto& b = address.bytes;
  if (is_zero(address, 0, 15) && b[15] <= 1)
    return b[15] == 0 ? AddressRange::unspecified : AddressRange::loopback;
  if (is_zero(address, 0, 10) && b[10] == 0xff && b[11] == 0xff)
    return range_of_v4(v4_at(address, 12));  // ::ffff:a.b.c.d
  if (is_zero(address, 0, 8) && b[8] == 0xff && b[9] == 0xff && is_zero(address, 10, 12))
    return range_of_v4(v4_at(address, 12));                             // SIIT
  if (is_zero(address, 0, 12)) return range_of_v4(v4_at(address, 12));  // ::a.b.c.d
  if (has_prefix(address, {0x00, 0x64, 0xff, 0x9b}) && is_zero(address, 4, 12))
    return range_of_v4(v4_at(address, 12));  // NAT64
  if (has_prefix(address, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}))
    return AddressRange::private_use;                                            // local NAT64
  if (has_prefix(address, {0x20, 0x02})) return range_of_v4(v4_at(address, 2));  // 6to4
  if (has_prefix(address, {0x20, 0x01, 0x0d, 0xb8}) || (b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10))
    return AddressRange::documentation;
  if (has_prefix(address, {0x20, 0x01}) && b[2] < 0x02)
    return AddressRange::reserved;  // Teredo and its neighbours
  if ((b[0] & 0xfeU) == 0xfcU) return AddressRange::private_use;
  if (b[0] == 0xfe && (b[1] & 0xc0U) == 0x80U) return AddressRange::link_local;
  if (b[0] == 0xfe && (b[1] & 0xc0U) == 0xc0U) return AddressRange::private_use;  // old site-local
  if (b[0] == 0xff) return AddressRange::multicast;
  return (b[0] & 0xe0U) == 0x20U ? AddressRange::global : AddressRange::reserved;
}

// One part of an inet_aton address: decimal, 0x hex or 0 octal.
std::optional<std::uint64_t> find_part(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : 8;
    text.remove_prefix(base == 16 ? 2 : 1);
    if (text.empty()) return 0;  // "0x" is a zero for inet_aton
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Address Address::from_v4(std::uint32_t value) {
  Address address;
  for (std::size_t i = 0; i < 4; ++i) address.bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  return address;
}

Address Address::from_v6(const std::array<std::uint8_t, 16>& bytes) {
  return {bytes, false};
}

std::string_view name(AddressRange range) {
  switch (range) {
    case AddressRange::global: return "global";
    case AddressRange::unspecified: return "unspecified";
    case AddressRange::loopback: return "loopback";
    case AddressRange::private_use: return "private";
    case AddressRange::link_local: return "link-local";
    case AddressRange::shared: return "shared (carrier-grade NAT)";
    case AddressRange::multicast: return "multicast";
    case AddressRange::broadcast: return "broadcast";
    case AddressRange::documentation: return "documentation";
    case AddressRange::benchmarking: return "benchmarking";
    case AddressRange::reserved: return "reserved";
  }
  return "";
}

AddressRange range_of(const Address& address) {
  return address.v4 ? range_of_v4(v4_at(address, 0)) : range_of_v6(address);
}

std::optional<Address> find_address(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text.empty() || text.size() > 45) return std::nullopt;
  const std::string terminated(text);
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return Address::from_v6(bytes);
  if (::inet_pton(AF_INET, terminated.c_str(), bytes.data()) != 1) return std::nullopt;
  return Address{bytes, true};
}

std::optional<Address> find_loose_address(std::string_view text) {
  if (auto strict = find_address(text)) return strict;
  std::vector<std::uint64_t> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    const auto part = find_part(text.substr(0, dot));
    if (!part || parts.size() == 4) return std::nullopt;
    parts.push_back(*part);
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] > 255) return std::nullopt;
    value |= parts[i] << (24 - 8 * i);
  }
  const std::uint64_t last_max = 0xffffffffULL >> (8 * (parts.size() - 1));
  if (parts.back() > last_max) return std::nullopt;
  return Address::from_v4(static_cast<std::uint32_t>(value | parts.back()));
}

std::string to_text(const Address& address) {
  char buffer[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(address.v4 ? AF_INET : AF_INET6, address.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

}  // namespace relay::policy
