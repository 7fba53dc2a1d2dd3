#include "net/http_client.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "net/curl_loop.h"
#include "net/curl_transfer.h"

namespace relay::net {
namespace {

// curl's own idea of a URL: what is checked is what will be requested.
class Url {
 public:
  explicit Url(const CurlLibrary& curl) : curl_(curl), url_(curl.url(), Delete{&curl}) {}

  /// Absolute, or relative to what was set before.
  bool set(const std::string& text) {
    return curl_.url_set(url_.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }

  [[nodiscard]] std::string part(CURLUPart part, unsigned flags = 0) const {
    char* text = nullptr;
    if (curl_.url_get(url_.get(), part, &text, flags) != CURLUE_OK) return {};
    std::string copy(text);
    curl_.free(text);
    return copy;
  }

  [[nodiscard]] bool is_http() const {
    const std::string scheme = part(CURLUPART_SCHEME);
    return scheme == "http" || scheme == "https";
  }

 private:
  struct Delete {
    const CurlLibrary* curl;
    void operator()(CURLU* url) const { curl->url_cleanup(url); }
  };
  const CurlLibrary& curl_;
  std::unique_ptr<CURLU, Delete> url_;
};

Result<Url> parse_url(const std::string& text) {
  RELAY_TRY(const CurlLibrary* curl, CurlLibrary::load());
  Url url(*curl);
  if (!url.set(text)) return fail(invalid("the URL is malformed"));
  if (!url.is_http()) return fail(invalid("only http and https URLs can be requested"));
  return url;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool becomes_get(int status, const std::string& method) {
  if (status == 303) return method != "GET" && method != "HEAD";
  return (status == 301 || status == 302) && method == "POST";
}

// The same request for another place, as the fetch standard has it: what was meant for one origin stays
// there.
Result<std::shared_ptr<ClientRequest>> redirected(const ClientRequest& before, int status,
                                                  const std::string& url) {
  auto request = std::make_shared<ClientRequest>(before);
  request->url = url;
  if (becomes_get(status, before.method)) {
    request->method = "GET";
    request->body.clear();
    request->body_source = nullptr;
    for (const char* field :
         {"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"})
      request->headers.remove(field);
  }
  if (request->body_source)
    return fail(unavailable("a redirect asks for a body again that was streamed and is gone"));
  RELAY_TRY(const std::string from, origin_of(before.url));
  RELAY_TRY(const std::string to, origin_of(url));
  if (from != to)
    for (const char* field : {"Authorization", "Cookie", "Proxy-Authorization", "Host"})
      request->headers.remove(field);
  return request;
}

class CurlResponse final : public ClientResponse {
 public:
  CurlResponse(std::unique_ptr<CurlTransfer> transfer, std::string url)
      : transfer_(std::move(transfer)), url_(std::move(url)) {}
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
  explicit CurlClient(const io::Loop& executor) : executor_(executor) {}

  io::Task<std::unique_ptr<ClientResponse>> send(ClientRequest request) override;

 private:
  Result<std::shared_ptr<CurlLoop>> loop();

  io::Loop executor_;
  std::shared_ptr<CurlLoop> loop_;  // from the first request on
};

Result<std::shared_ptr<CurlLoop>> CurlClient::loop() {
  if (!loop_) {
    RELAY_TRY(const CurlLibrary* curl, CurlLibrary::load());
    loop_ = std::make_shared<CurlLoop>(executor_, *curl);
  }
  return loop_;
}

io::Task<std::unique_ptr<ClientResponse>> CurlClient::send(ClientRequest first) {
  auto request = std::make_shared<ClientRequest>(std::move(first));
  RELAY_CO_CHECK(parse_url(request->url));
  RELAY_CO_TRY(const auto curl_loop, loop());
  for (int hop = 1;; ++hop) {
    RELAY_CO_TRY(auto transfer, CurlTransfer::start(curl_loop, request));
    RELAY_CO_CHECK(co_await transfer->wait_for_head());
    const auto location = transfer->headers().find("Location");
    if (!is_redirect(transfer->status()) || !location || request->max_redirects == 0) {
      std::unique_ptr<ClientResponse> response =
          std::make_unique<CurlResponse>(std::move(transfer), request->url);
      co_return response;
    }
    if (hop > request->max_redirects)
      co_return fail(unavailable(fmt::format("more than {} redirects", request->max_redirects)));
    RELAY_CO_TRY(const std::string target, resolve_url(request->url, std::string(*location)));
    if (request->on_redirect) RELAY_CO_CHECK(request->on_redirect(target, hop));
    RELAY_CO_TRY(request, redirected(*request, transfer->status(), target));
  }
}

}  // namespace

std::unique_ptr<HttpClient> HttpClient::make(const io::Loop& executor) {
  return std::make_unique<CurlClient>(executor);
}

io::Task<HttpResponse> HttpClient::fetch(ClientRequest request) {
  RELAY_CO_TRY(auto response, co_await send(std::move(request)));
  RELAY_CO_TRY(std::string body, co_await read_rest(*response));
  co_return HttpResponse{
      .status = response->status(), .headers = response->headers(), .body = std::move(body)};
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
  RELAY_TRY(Url url, parse_url(base));
  if (!url.set(relative)) return fail(invalid("the target of the redirect is malformed"));
  if (!url.is_http()) return fail(invalid("the redirect leads to something that is not http or https"));
  return url.part(CURLUPART_URL);
}

Result<std::string> origin_of(const std::string& url) {
  RELAY_TRY(const Url parsed, parse_url(url));
  return fmt::format("{}://{}:{}", parsed.part(CURLUPART_SCHEME), to_lower_ascii(parsed.part(CURLUPART_HOST)),
                     parsed.part(CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

}  // namespace relay::net
