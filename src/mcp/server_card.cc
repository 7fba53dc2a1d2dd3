#include "mcp/server_card.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

constexpr std::string_view kCardType = "application/mcp-server-card+json";

std::string write_remote(std::string_view url) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("type", "streamable-http");
  writer.text("url", url);
  writer.array("supportedProtocolVersions", protocol::kAllRevisions,
               [](std::string& to, protocol::Revision revision) {
                 json::append_quoted(to, protocol::name_of(revision));
               });
  writer.finish();
  return out;
}

std::string write_card(const serving::Identity& identity, std::string_view url) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("name", identity.info.name);
  writer.text_if("title", identity.info.title);
  writer.text("version", identity.info.version);
  writer.text("description",
              identity.info.description.empty() ? identity.info.name : identity.info.description);
  writer.text_if("websiteUrl", identity.info.website);
  writer.raw("remotes", "[" + write_remote(url) + "]");
  writer.finish();
  return out;
}

std::string write_catalogue(const serving::Identity& identity, std::string_view url) {
  std::string entry;
  protocol::ObjectWriter writer(entry);
  writer.text("identifier", "urn:air:" + identity.info.name);
  writer.text("type", kCardType);
  writer.text("url", fmt::format("{}/server-card", url));
  writer.finish();
  return fmt::format(R"({{"specVersion":"1.0","entries":[{}]}})", entry);
}

std::string etag_of(std::string_view body) {
  return "\"" + sha256_hex(body).substr(0, 32) + "\"";
}

bool lists(std::string_view etags, std::string_view etag) {
  return etags == "*" || etags.find(etag) != std::string_view::npos;
}

}  // namespace

ServerCard::ServerCard(const serving::Identity& identity, std::string_view public_url) {
  card_.body = write_card(identity, public_url);
  card_.type = kCardType;
  catalogue_.body = write_catalogue(identity, public_url);
  catalogue_.type = "application/json";
  for (Document* document : {&card_, &catalogue_}) document->etag = etag_of(document->body);
}

net::HttpResponse ServerCard::card(const net::HttpRequest& request) const {
  return answer(card_, request);
}
net::HttpResponse ServerCard::catalogue(const net::HttpRequest& request) const {
  return answer(catalogue_, request);
}

net::HttpResponse ServerCard::answer(const Document& document, const net::HttpRequest& request) {
  net::HttpResponse response;
  response.headers = {{"ETag", document.etag}, {"Cache-Control", "public, max-age=3600"}};
  // Public by nature: any page may read it. A guard that names an origin for pages goes first.
  if (!request.headers.find("Origin")) response.headers.add("Access-Control-Allow-Origin", "*");
  const auto known = request.headers.find("If-None-Match");
  if (known && lists(*known, document.etag)) {
    response.status = 304;
    return response;
  }
  response.headers.add("Content-Type", document.type);
  response.body = document.body;
  return response;
}

}  // namespace relay::mcp
