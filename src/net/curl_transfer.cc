#include "net/curl_transfer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"

namespace relay::net {
namespace {

namespace asio = boost::asio;
using Time = std::chrono::steady_clock::time_point;

bool has_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

std::pair<std::string, std::uint16_t> address_text(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    return {text, ntohs(four.sin_port)};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
  return {text, ntohs(six.sin6_port)};
}

// Feeds the request body to curl, a piece at a time, never more than one piece ahead.
io::Task<void> pump(std::shared_ptr<CurlUpload> upload, std::shared_ptr<const ClientRequest> request) {
  while (!upload->ended && upload->wake_transfer) {
    auto piece = co_await request->body_source();
    if (!piece) upload->error = std::move(piece.error());
    upload->ended = !piece || !*piece;
    upload->bytes = upload->ended ? std::string() : std::move(**piece);
    upload->sent = 0;
    if (upload->starved && upload->wake_transfer) upload->wake_transfer();
    while (upload->sent < upload->bytes.size() && upload->wake_transfer) {
      boost::system::error_code ignored;
      co_await upload->room.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      const auto state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none) co_return fail(cancelled());
    }
  }
  co_return Result<void>{};
}

}  // namespace

CurlTransfer::CurlTransfer(std::shared_ptr<CurlLoop> loop, std::shared_ptr<const ClientRequest> request)
    : loop_(std::move(loop)),
      curl_(loop_->curl()),
      request_(std::move(request)),
      handle_(loop_->take_handle()),
      last_activity_(std::chrono::steady_clock::now()),
      news_(loop_->executor()) {}

CurlTransfer::~CurlTransfer() {
  if (upload_) upload_->wake_transfer = nullptr;
  pump_cancel_.cancel();
  if (added_) loop_->remove(handle_);
  loop_->give_back(handle_);
  curl_.slist_free_all(fields_);
  curl_.slist_free_all(resolve_);
}

Result<std::unique_ptr<CurlTransfer>> CurlTransfer::start(std::shared_ptr<CurlLoop> loop,
                                                          std::shared_ptr<const ClientRequest> request) {
  std::unique_ptr<CurlTransfer> transfer(new CurlTransfer(std::move(loop), std::move(request)));
  if (!is_http_token(transfer->request_->method))
    return fail(invalid("the method of the request is malformed"));
  transfer->set_options();
  transfer->set_body();
  transfer->set_hooks();
  RELAY_CHECK(transfer->set_headers());
  RELAY_CHECK(transfer->loop_->add(transfer->handle_, *transfer));
  transfer->added_ = true;
  return transfer;
}

void CurlTransfer::set_options() {
  const ClientRequest& request = *request_;
  curl_.easy_setopt(handle_, CURLOPT_URL, request.url.c_str());
  curl_.easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_.easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_.easy_setopt(handle_, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);  // secrets travel in header fields
  curl_.easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  curl_.easy_setopt(handle_, CURLOPT_ERRORBUFFER, curl_words_);
  curl_.easy_setopt(handle_, CURLOPT_ACCEPT_ENCODING, "");  // every coding that curl can unpack
  curl_.easy_setopt(handle_, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  curl_.easy_setopt(handle_, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  curl_.easy_setopt(handle_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_.easy_setopt(handle_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_.easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  curl_.easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_timeout.count()));
  if (request.proxy == ProxyUse::none) curl_.easy_setopt(handle_, CURLOPT_PROXY, "");
  if (!request.ca_file.empty()) curl_.easy_setopt(handle_, CURLOPT_CAINFO, request.ca_file.c_str());
  for (const std::string& entry : request.resolve) resolve_ = curl_.slist_append(resolve_, entry.c_str());
  if (resolve_) curl_.easy_setopt(handle_, CURLOPT_RESOLVE, resolve_);
}

// curl adds fields of its own unless they are named without a value; ours to decide are these three.
Result<void> CurlTransfer::set_headers() {
  for (const auto& [name, value] : request_->headers) {
    if (!is_http_token(name) || has_break(value))
      return fail(invalid("the header field '" + name + "' is malformed"));
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    fields_ = curl_.slist_append(fields_, line.c_str());
  }
  if (!request_->headers.find("Expect")) fields_ = curl_.slist_append(fields_, "Expect:");
  if (!request_->headers.find("Content-Type")) fields_ = curl_.slist_append(fields_, "Content-Type:");
  curl_.easy_setopt(handle_, CURLOPT_HTTPHEADER, fields_);
  return {};
}

void CurlTransfer::set_body() {
  const ClientRequest& request = *request_;
  const bool may_lack_body =
      request.method == "GET" || request.method == "HEAD" || request.method == "DELETE";
  if (request.body_source) {
    upload_ = std::make_shared<CurlUpload>(loop_->executor());
    upload_->wake_transfer = [this] { resume(); };
    curl_.easy_setopt(handle_, CURLOPT_UPLOAD, 1L);
    curl_.easy_setopt(handle_, CURLOPT_READFUNCTION, &CurlTransfer::on_upload);
    curl_.easy_setopt(handle_, CURLOPT_READDATA, this);
    if (request.body_bytes)
      curl_.easy_setopt(handle_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(*request.body_bytes));
    io::spawn(loop_->executor(), pump(upload_, request_), "http upload", pump_cancel_);
  } else if (!request.body.empty() || !may_lack_body) {
    curl_.easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_.easy_setopt(handle_, CURLOPT_POSTFIELDS, request.body.c_str());
  } else if (request.method == "HEAD") {
    curl_.easy_setopt(handle_, CURLOPT_NOBODY, 1L);
  }
  if (request.method != "HEAD") curl_.easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void CurlTransfer::set_hooks() {
  curl_.easy_setopt(handle_, CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  curl_.easy_setopt(handle_, CURLOPT_HEADERDATA, this);
  curl_.easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  curl_.easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  if (!request_->on_address) return;
  curl_.easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open_socket);
  curl_.easy_setopt(handle_, CURLOPT_OPENSOCKETDATA, this);
  // A pooled connection was opened under somebody else's rules: this request's own are asked before it is
  // used.
  curl_.easy_setopt(handle_, CURLOPT_PREREQFUNCTION, &CurlTransfer::on_before_request);
  curl_.easy_setopt(handle_, CURLOPT_PREREQDATA, this);
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_header({data, size * count});
}
std::size_t CurlTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_body({data, size * count});
}
std::size_t CurlTransfer::on_upload(char* out, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->give_upload({out, size * count});
}

curl_socket_t CurlTransfer::on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  const auto [ip, port] = address_text(address->addr);
  if (!static_cast<CurlTransfer*>(self)->allows(ip, port)) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlTransfer::on_before_request(void* self, char* ip, char*, int port, int) {
  const bool allowed = static_cast<CurlTransfer*>(self)->allows(ip, static_cast<std::uint16_t>(port));
  return allowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

bool CurlTransfer::allows(const std::string& ip, std::uint16_t port) {
  std::string address = fmt::format("{} {}", ip, port);
  if (address == allowed_address_) return true;
  auto verdict = request_->on_address(ip, port);
  if (verdict) {
    allowed_address_ = std::move(address);
    refused_.reset();
  } else {
    refused_ = std::move(verdict.error());
  }
  return verdict.has_value();
}

/// Any count but the given one makes curl end the transfer.
std::size_t CurlTransfer::refuse(Error error) {
  refused_ = std::move(error);
  return 0;
}

std::size_t CurlTransfer::take_header(std::string_view line) {
  last_activity_ = std::chrono::steady_clock::now();
  if (head_done_) return line.size();  // a trailer
  header_bytes_ += line.size();
  if (header_bytes_ > request_->max_header_bytes)
    return refuse(too_large("the head of the response is too large"));
  const std::string_view text = trim_ascii(line);
  if (line.starts_with("HTTP/")) {
    // Also the one after "100 Continue": only the last head counts.
    headers_.clear();
    const std::size_t space = text.find(' ');
    http_version_ = text.substr(5, space - 5);
    status_ = 0;
    if (space != std::string_view::npos)
      std::from_chars(text.data() + space + 1, text.data() + text.size(), status_);
  } else if (text.empty()) {
    head_done_ = status_ >= 200;
    if (head_done_) wake();
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    headers_.add(std::string(trim_ascii(text.substr(0, colon))),
                 std::string(trim_ascii(text.substr(colon + 1))));
  }
  return line.size();
}

std::size_t CurlTransfer::take_body(std::string_view bytes) {
  last_activity_ = std::chrono::steady_clock::now();
  if (bytes.size() > request_->max_body_bytes - body_bytes_)
    return refuse(
        too_large(fmt::format("the body of the response is over {} bytes", request_->max_body_bytes)));
  if (!body_.empty() && body_.size() + bytes.size() > limits::kClientBufferBytes) {
    body_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  body_ += bytes;
  body_bytes_ += bytes.size();
  wake();
  return bytes.size();
}

std::size_t CurlTransfer::give_upload(std::span<char> out) {
  CurlUpload& upload = *upload_;
  last_activity_ = std::chrono::steady_clock::now();
  if (upload.error) {
    refused_ = upload.error;
    return CURL_READFUNC_ABORT;
  }
  const std::size_t bytes = std::min(out.size(), upload.bytes.size() - upload.sent);
  std::memcpy(out.data(), upload.bytes.data() + upload.sent, bytes);
  upload.sent += bytes;
  if (upload.sent == upload.bytes.size()) upload.room.cancel();
  upload.starved = bytes == 0 && !upload.ended;
  return upload.starved ? std::size_t{CURL_READFUNC_PAUSE} : bytes;
}

/// Tells curl which directions may go on. It may call back into take_body at once.
void CurlTransfer::resume() {
  if (done_) return;
  body_paused_ = false;
  if (upload_) upload_->starved = false;
  const CURLcode code = curl_.easy_pause(handle_, CURLPAUSE_CONT);
  if (code != CURLE_OK) on_done(code);  // take_body refused what had been waiting
}

void CurlTransfer::on_done(CURLcode code) {
  done_ = true;
  if (code != CURLE_OK) error_ = refused_ ? *refused_ : error_for(code);
  wake();
}

Error CurlTransfer::error_for(CURLcode code) const {
  const std::string words = curl_words_[0] != '\0' ? curl_words_ : curl_.easy_strerror(code);
  const std::string text = fmt::format("{}: {}", request_->url.substr(0, request_->url.find('?')), words);
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return invalid(text);
    case CURLE_OPERATION_TIMEDOUT: return {ErrorKind::timeout, Blame::environment, text};
    default: return unavailable(text);
  }
}

void CurlTransfer::wake() {
  news_.cancel();
}

/// Until something arrives or ends; fails when nothing moved for the idle time.
io::Task<void> CurlTransfer::wait_for_news() {
  const bool limited = request_->idle_timeout.count() > 0;
  const Time deadline = limited ? last_activity_ + request_->idle_timeout : Time::max();
  news_.expires_at(deadline);
  boost::system::error_code error;
  co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, error));
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none)
    throw boost::system::system_error(asio::error::operation_aborted);
  if (!limited || std::chrono::steady_clock::now() < last_activity_ + request_->idle_timeout)
    co_return Result<void>{};
  if (done_ || !body_.empty()) co_return Result<void>{};
  co_return fail({ErrorKind::timeout, Blame::environment, "the peer sent nothing for too long"});
}

io::Task<void> CurlTransfer::wait_for_head() {
  while (!head_done_ && !done_) RELAY_CO_CHECK(co_await wait_for_news());
  if (head_done_) co_return Result<void>{};
  co_return fail(error_ ? *error_ : unavailable("the peer sent no response"));
}

io::Task<std::optional<std::string>> CurlTransfer::read() {
  last_activity_ = std::chrono::steady_clock::now();  // the time in which nobody read does not count
  while (body_.empty() && !done_) {
    if (body_paused_) resume();
    if (!body_.empty() || done_) break;
    RELAY_CO_CHECK(co_await wait_for_news());
  }
  if (!body_.empty()) co_return std::optional<std::string>(std::exchange(body_, {}));
  if (error_) co_return fail(*error_);
  co_return std::optional<std::string>{};
}

}  // namespace relay::net
