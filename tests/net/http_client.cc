// The HTTP client as a program: a request in JSON on stdin, what came of it in JSON on stdout, one line for
// each time.
//   {"url": "https://…", "method": "POST", "headers": {}, "body": "…", "pieces": 3, "ca": "cert.pem",
//   "proxy": true, "times": [1, 20]}
// "pieces" streams the body that many times; "times" sends the request so often at once, group after group.
#include <cstdio>
#include <iostream>
#include <iterator>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "base/json.h"
#include "io/spawn.h"
#include "net/http_client.h"

namespace relay::net {
namespace {

ClientRequest request_of(const json::object& wish, json::array& addresses) {
  ClientRequest request{.url = std::string(json::find_string(wish, "url").value_or(""))};
  request.method = json::find_string(wish, "method").value_or("GET");
  if (const auto* headers = json::find_object(wish, "headers"))
    for (const auto& [name, value] : *headers)
      request.headers.add(std::string(name), std::string(value.as_string()));
  request.ca_file = json::find_string(wish, "ca").value_or("");
  request.max_body_bytes = static_cast<std::size_t>(json::find_int(wish, "maxBodyBytes").value_or(64 << 20));
  if (json::find_bool(wish, "proxy").value_or(false)) request.proxy = ProxyUse::environment;
  request.on_address = [&addresses](const std::string& ip, std::uint16_t port) -> Result<void> {
    addresses.emplace_back(ip + ":" + std::to_string(port));
    return {};
  };
  const std::string body(json::find_string(wish, "body").value_or(""));
  const auto pieces = json::find_int(wish, "pieces");
  if (!pieces) {
    request.body = body;
    return request;
  }
  request.body_source = [body, left = *pieces]() mutable -> io::Task<std::optional<std::string>> {
    RELAY_CO_CHECK(co_await io::yield());
    if (left-- <= 0) co_return std::optional<std::string>{};
    co_return std::optional<std::string>(body);
  };
  return request;
}

json::object headers_of(const Headers& headers) {
  json::object all;
  for (const auto& [name, value] : headers) all[name] = value;
  return all;
}

io::Task<void> send(HttpClient& client, const json::object& wish, int& left) {
  json::array addresses;
  json::object out;
  ClientRequest request = request_of(wish, addresses);
  auto response = co_await client.send(std::move(request));
  auto body = response ? co_await read_rest(**response) : Result<std::string>(fail(response.error()));
  if (response)
    out = {{"status", (*response)->status()},
           {"version", std::string((*response)->http_version())},
           {"headers", headers_of((*response)->headers())}};
  if (body) {
    out["body"] = *body;
  } else {
    out["error"] = {{"type", std::string(body.error().face().type)}, {"message", body.error().message}};
  }
  out["addresses"] = std::move(addresses);
  std::puts(json::write(out).c_str());
  --left;
  co_return Result<void>{};
}

void run(const json::object& wish) {
  boost::asio::io_context loop(1);
  const auto busy = boost::asio::make_work_guard(loop);  // also between two groups
  const auto client = HttpClient::make(loop.get_executor());
  const json::array once{1};
  const json::array* const times = json::find_array(wish, "times");
  for (const json::value& group : times ? *times : once) {
    int left = static_cast<int>(group.as_int64());
    for (int i = left; i > 0; --i) io::spawn(loop.get_executor(), send(*client, wish, left), "send");
    while (left > 0) loop.run_one();
  }
}

}  // namespace
}  // namespace relay::net

int main() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  const auto wish = relay::json::parse_object(text);
  if (!wish) {
    std::fprintf(stderr, "%s\n", wish.error().message.c_str());
    return 2;
  }
  relay::net::run(*wish);
}
