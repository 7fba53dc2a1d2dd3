#include "net/http_client.h"

#include <curl/curl.h>

#include <fmt/format.h>

#include "base/bytes.h"
#include "net/curl_loop.h"
#include "net/curl_transfer.h"

namespace relay::net {
namespace {

struct UrlDelete {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDelete>;

std::string url_part(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

Result<Url> parse_url(const std::string& text) {
  Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return fail(invalid("the URL is malformed"));
  const std::string scheme = url_part(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return fail(invalid("only http and https URLs can be requested"));
  return url;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool becomes_get(int status, const std::string& method) {
  if (status == 303) return method != "GET" && method != "HEAD";
  return (status == 301 || status == 302) && method == "POST";
}

// The same request for another place, as the fetch standard has it: what was meant for one origin stays there.
Result<std::shared_ptr<ClientRequest>> redirected(const ClientRequest& before, int status, const std::string& url) {
  auto request = std::make_shared<ClientRequest>(before);
  request->url = url;
  if (becomes_get(status, before.method)) {
    request->method = "GET";
    request->body.clear();
    request->body_source = nullptr;
    for (const char* field : {"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"})
      request->headers.remove(field);
  }
  if (request->body_source) return fail(unavailable("a redirect asks for a body again that was streamed and is gone"));
  RELAY_TRY(const std::string from, origin_of(before.url));
  RELAY_TRY(const std::string to, origin_of(url));
  if (from != to)
    for (const char* field : {"Authorization", "Cookie", "Proxy-Authorization", "Host"}) request->headers.remove(field);
  return request;
}

class CurlResponse final : public ClientResponse {
 public:
  CurlResponse(std::unique_ptr<CurlTransfer> transfer, std::string url) : transfer_(std::move(transfer)), url_(std::move(url)) {}
  [[nodiscard]] int status() const override { return transfer_->status(); }
  [[nodiscard]] const Headers& headers() const override { return transfer_->headers(); }
  [[nodiscard]] const std::string& url() const override { return url_; }
  [[nodiscard]] std::string_view http_version() const override { return transfer_->http_version(); }
  io::Task<std::optional<std::string>> read() override { return transfer_->read(); }

 private:
  std::unique_ptr<CurlTransfer> transfer_;
  std::string url_;
};

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(const io::Executor& executor) : loop_(std::make_shared<CurlLoop>(executor)) {}

  io::Task<std::unique_ptr<ClientResponse>> send(ClientRequest request) override;

 private:
  std::shared_ptr<CurlLoop> loop_;
};

io::Task<std::unique_ptr<ClientResponse>> CurlClient::send(ClientRequest first) {
  auto request = std::make_shared<ClientRequest>(std::move(first));
  RELAY_CO_CHECK(parse_url(request->url));
  for (int hop = 1;; ++hop) {
    RELAY_CO_TRY(auto transfer, CurlTransfer::start(loop_, request));
    RELAY_CO_CHECK(co_await transfer->wait_for_head());
    const auto location = transfer->headers().find("Location");
    if (!is_redirect(transfer->status()) || !location || request->max_redirects == 0) {
      std::unique_ptr<ClientResponse> response = std::make_unique<CurlResponse>(std::move(transfer), request->url);
      co_return response;
    }
    if (hop > request->max_redirects) co_return fail(unavailable(fmt::format("more than {} redirects", request->max_redirects)));
    RELAY_CO_TRY(const std::string target, resolve_url(request->url, std::string(*location)));
    if (request->on_redirect) RELAY_CO_CHECK(request->on_redirect(target, hop));
    RELAY_CO_TRY(request, redirected(*request, transfer->status(), target));
  }
}

}  // namespace

std::unique_ptr<HttpClient> HttpClient::make(const io::Executor& executor) {
  return std::make_unique<CurlClient>(executor);
}

io::Task<HttpResponse> HttpClient::fetch(ClientRequest request) {
  RELAY_CO_TRY(auto response, co_await send(std::move(request)));
  RELAY_CO_TRY(std::string body, co_await read_rest(*response));
  co_return HttpResponse{.status = response->status(), .headers = response->headers(), .body = std::move(body)};
}

io::Task<std::string> read_rest(ClientResponse& response) {
  std::string all;
  while (true) {
    RELAY_CO_TRY(auto piece, co_await response.read());
    if (!piece) co_return all;
    if (all.empty()) {
      all = std::move(*piece);
    } else {
      all += *piece;
    }
  }
}

Result<std::string> resolve_url(const std::string& base, const std::string& relative) {
  RELAY_TRY(const Url url, parse_url(base));
  if (curl_url_set(url.get(), CURLUPART_URL, relative.c_str(), 0) != CURLUE_OK)
    return fail(invalid("the target of the redirect is malformed"));
  const std::string scheme = url_part(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return fail(invalid("the redirect leads to something that is not http or https"));
  return url_part(url, CURLUPART_URL);
}

Result<std::string> origin_of(const std::string& url) {
  RELAY_TRY(const Url parsed, parse_url(url));
  return fmt::format("{}://{}:{}", url_part(parsed, CURLUPART_SCHEME), to_lower_ascii(url_part(parsed, CURLUPART_HOST)),
                     url_part(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

}  // namespace relay::net
