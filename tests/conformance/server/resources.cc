#include <fmt/format.h>

#include "base/bytes.h"
#include "fixtures.h"

namespace relay::conformance {
namespace {

using protocol::ReadResult;
using protocol::UriVariables;
using serving::Context;

mcp::ResourceReader reads_text(std::string mime_type, std::string text) {
  return [mime_type, text](Context&, std::string uri, UriVariables) -> io::Task<ReadResult> {
    ReadResult result;
    result.contents.push_back({std::move(uri), mime_type, text, {}});
    co_return result;
  };
}

io::Task<ReadResult> read_binary(Context&, std::string uri, UriVariables) {
  const auto bytes = as_bytes(png_bytes());
  ReadResult result;
  result.contents.push_back(
      {std::move(uri), "image/png", std::vector<std::byte>(bytes.begin(), bytes.end()), {}});
  co_return result;
}

io::Task<ReadResult> read_template(Context&, std::string uri, UriVariables variables) {
  const json::object data{
      {"id", variables["id"]}, {"templateTest", true}, {"data", "Data for ID: " + variables["id"]}};
  ReadResult result;
  result.contents.push_back({std::move(uri), "application/json", json::write(data), {}});
  co_return result;
}

protocol::Resource describe_resource(std::string uri, std::string name, std::string description,
                                     std::string mime_type) {
  protocol::Resource resource;
  resource.uri = std::move(uri);
  resource.name = std::move(name);
  resource.description = std::move(description);
  resource.mime_type = std::move(mime_type);
  return resource;
}

}  // namespace

void add_resources(mcp::Catalogue& catalogue) {
  catalogue.add_resource(
      describe_resource("test://static-text", "Static text", "A text that never changes", "text/plain"),
      reads_text("text/plain", "This is the content of the static text resource."));
  catalogue.add_resource(
      describe_resource("test://static-binary", "Static binary", "An image that never changes", "image/png"),
      read_binary);
  catalogue.add_resource(describe_resource("test://watched-resource", "Watched resource",
                                           "A resource to subscribe to", "text/plain"),
                         reads_text("text/plain", "Watched resource content"));
  protocol::ResourceTemplate data;
  data.uri_template = "test://template/{id}/data";
  data.name = "Data by id";
  data.description = "Data for an id";
  data.mime_type = "application/json";
  catalogue.add_template(std::move(data), read_template);
}

}  // namespace relay::conformance
