// The server card and the domain catalogue: what a client may learn about this server before it connects.
//
// The bytes and their ETag are made once; a request costs a comparison.
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"
#include "serving/backend.h"

namespace relay::mcp {

class ServerCard {
 public:
  /// `public_url` is the address of the MCP endpoint: http://127.0.0.1:7777/mcp
  ServerCard(const serving::Identity& identity, std::string_view public_url);

  /// For GET /mcp/server-card.
  [[nodiscard]] net::HttpResponse card(const net::HttpRequest& request) const;
  /// For GET /.well-known/ai-catalog.json.
  [[nodiscard]] net::HttpResponse catalogue(const net::HttpRequest& request) const;

 private:
  struct Document {
    std::string body;
    std::string etag;
    std::string type;
  };
  [[nodiscard]] static net::HttpResponse answer(const Document& document, const net::HttpRequest& request);
  Document card_;
  Document catalogue_;
};

}  // namespace relay::mcp
