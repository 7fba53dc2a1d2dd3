#include "protocol/request_state.h"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::protocol {
namespace {

// <base64url of "1\ncall\nround\nmicroseconds">.<base64url of the MAC>
constexpr std::size_t kStateBytesMax = 1024;

// Each part carries its length, so that no two bindings give the same message.
std::string mac_of(std::string_view key, std::string_view payload, const StateBinding& binding) {
  const std::string message =
      fmt::format("state\n{}:{}\n{}:{}\n{}", payload.size(), payload, binding.principal.size(),
                  binding.principal, as_text(binding.request));
  return std::string(as_text(hmac_sha256(key, message)));
}

template <class Number>
bool take_number(std::string_view text, Number& out) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  lines.push_back(text);
  return lines;
}

Result<RequestState> parse_payload(std::string_view payload) {
  const auto lines = split_lines(payload);
  RequestState state;
  std::int64_t micros = 0;
  if (lines.size() != 4 || lines[0] != "1" || !take_number(lines[2], state.round) ||
      !take_number(lines[3], micros))
    return fail(invalid("requestState is malformed"));
  state.call = lines[1];
  state.expires = WallTime(std::chrono::microseconds(micros));
  return state;
}

}  // namespace

Sha256 digest_request(std::string_view method, const json::object& params) {
  json::object bound = params;
  for (const std::string_view key : {"_meta", "inputResponses", "requestState"}) bound.erase(key);
  return sha256(fmt::format("{}\n{}", method, json::write_canonical(bound)));
}

std::string sign_request_state(std::string_view key, const RequestState& state, const StateBinding& binding) {
  const std::string payload =
      fmt::format("1\n{}\n{}\n{}", state.call, state.round, state.expires.time_since_epoch().count());
  return to_base64url(payload) + "." + to_base64url(mac_of(key, payload, binding));
}

Result<RequestState> verify_request_state(std::string_view key, std::string_view text,
                                          const StateBinding& binding, WallTime now) {
  const std::size_t dot = text.find('.');
  if (text.size() > kStateBytesMax || dot == std::string_view::npos)
    return fail(invalid("requestState is malformed"));
  const auto payload = find_base64url(text.substr(0, dot));
  const auto mac = find_base64url(text.substr(dot + 1));
  if (!payload || !mac || !equal_in_constant_time(*mac, mac_of(key, *payload, binding)))
    return fail(invalid("requestState was not made by this server for this caller and this request"));
  RELAY_TRY(RequestState state, parse_payload(*payload));
  if (now >= state.expires) return fail(invalid("requestState has expired: start the request again"));
  return state;
}

}  // namespace relay::protocol
