// A guest's fetch as values: the request as it arrives from a run, and the reply as it goes back. Pure.
//
//   op `fetch`  {"url", "method", "headers": [[name, value], ...], "redirect": "follow"|"manual"|"error"} +
//   body reply       {"status", "statusText", "url", "redirected", "headers": [[name, value], ...]} + body,
//   whole or streamed
//
// Everything in a request is hostile. Headers that frame the message or speak for somebody else (Host,
// Cookie, Connection, proxies) are not the guest's to set and are left out; a line break anywhere is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "net/http_client.h"

namespace relay::fetch {

enum class Redirects : std::uint8_t { follow, manual, error };

struct FetchRequest {
  std::string url;
  std::string method = "GET";
  net::Headers headers;
  Redirects redirects = Redirects::follow;
  std::string body;
  net::BodySource body_source;  // instead of body: sent as it comes, and then a redirect cannot repeat it
};

Result<FetchRequest> parse_fetch_request(const json::object& args, std::string body);

/// What a guest may see of a response's head: no cookies, nothing that belongs to the connection. The body
/// arrives unpacked, so that its packed length and encoding are left out too.
net::Headers guest_headers(const net::Headers& headers);

struct ReplyHead {
  int status = 0;
  std::string url;  // after redirects
  bool redirected = false;
  net::Headers headers;  // filtered already
};
json::object reply_value(const ReplyHead& head);

}  // namespace relay::fetch
