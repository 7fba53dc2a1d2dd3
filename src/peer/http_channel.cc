#include "peer/http_channel.h"

#include <limits>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::peer {
namespace {

constexpr std::size_t kShownBytes = 200;  // of a body that says what went wrong
constexpr int kRedirects = 3;

Error unauthenticated(std::string_view challenge) {
  std::string message =
      "the server wants credentials (HTTP 401): add an Authorization header to its entry in the "
      "configuration";
  if (!challenge.empty())
    message += fmt::format("; it says: {}", to_valid_utf8(utf8_prefix(challenge, kShownBytes)));
  return {ErrorKind::unauthenticated, Blame::peer, std::move(message)};
}

ErrorKind kind_of(int status) {
  if (status == 401) return ErrorKind::unauthenticated;
  if (status == 403) return ErrorKind::denied;
  if (status == 404 || status == 405) return ErrorKind::not_found;
  if (status == 429) return ErrorKind::busy;
  return status >= 400 && status < 500 ? ErrorKind::invalid : ErrorKind::unavailable;
}

}  // namespace

bool HttpChannel::has_endpoints_origin(const std::string& url) const {
  const auto own = net::origin_of(target_.endpoint);
  const auto other = net::origin_of(url);
  return own && other && *own == *other;
}

io::Task<std::unique_ptr<net::ClientResponse>> HttpChannel::send(std::string method, std::string url,
                                                                 net::Headers fields, std::string body) {
  RELAY_CO_TRY(auto response, co_await send_once(method, url, fields, body));
  if (response->status() != 401) co_return response;
  const std::string challenge(response->headers().find("WWW-Authenticate").value_or(""));
  if (!target_.on_unauthorized) co_return fail(unauthenticated(challenge));
  RELAY_CO_TRY(auto fresh, co_await target_.on_unauthorized(challenge));
  for (auto& [name, value] : fresh) target_.headers.insert_or_assign(name, std::move(value));
  RELAY_CO_TRY(response, co_await send_once(method, url, fields, body));
  if (response->status() == 401)
    co_return fail(unauthenticated(response->headers().find("WWW-Authenticate").value_or("")));
  co_return response;
}

io::Task<std::unique_ptr<net::ClientResponse>> HttpChannel::send_once(const std::string& method,
                                                                      const std::string& url,
                                                                      const net::Headers& fields,
                                                                      const std::string& body) {
  net::ClientRequest request;
  request.method = method;
  request.url = url;
  request.headers = fields;
  request.body = body;
  request.idle_timeout = std::chrono::milliseconds(0);  // the deadline of the request decides
  request.max_body_bytes =
      std::numeric_limits<std::size_t>::max();  // a stream has no end; one message has a limit
  request.max_redirects = kRedirects;
  request.on_redirect = [this](const std::string& to, int) -> Result<void> {
    if (has_endpoints_origin(to)) return {};
    return fail(denied("the server redirects to another origin, which is not followed: " +
                       net::origin_of(to).value_or("?")));
  };
  if (has_endpoints_origin(url))
    for (const auto& [name, value] : target_.headers) request.headers.set(name, value);
  return http_.send(std::move(request));
}

io::Task<std::string> read_body(net::ClientResponse& response) {
  std::string all;
  while (true) {
    RELAY_CO_TRY(auto piece, co_await response.read());
    if (!piece) co_return all;
    if (all.size() + piece->size() > limits::kMessageBytes)
      co_return fail(too_large(fmt::format("the server's answer is over {} bytes", limits::kMessageBytes)));
    all += *piece;
  }
}

Error http_failure(int status, std::string_view body) {
  std::string message = fmt::format("HTTP {} {}", status, net::reason_phrase(status));
  if (const std::string_view text = trim_ascii(body); !text.empty())
    message += ": " + to_valid_utf8(utf8_prefix(text, kShownBytes));
  return {kind_of(status), Blame::peer, std::move(message)};
}

}  // namespace relay::peer
