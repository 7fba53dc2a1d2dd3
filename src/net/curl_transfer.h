// CurlTransfer: one request on the wire, without redirects. Internal to the HTTP client.
//
// curl pushes, the consumer pulls: bytes that arrive faster than they are read pile up to a limit, then the
// transfer is paused until somebody reads. The request body goes the other way round through CurlUpload.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "io/spawn.h"
#include "net/curl_loop.h"
#include "net/http_client.h"

namespace relay::net {

/// What the pump coroutine and curl's read callback share. Outlives the transfer while the pump unwinds.
struct CurlUpload {
  explicit CurlUpload(const io::Loop& executor)
      : room(executor, boost::asio::steady_timer::time_point::max()) {}
  std::string bytes;
  std::size_t sent = 0;  // of bytes
  bool ended = false;
  bool starved = false;  // curl waits for us
  std::optional<Error> error;
  boost::asio::steady_timer room;       // cancelled when curl took everything
  std::function<void()> wake_transfer;  // empty when the transfer is gone
};

class CurlTransfer final : public CurlListener {
 public:
  /// Checks the request, then puts it on the wire.
  static Result<std::unique_ptr<CurlTransfer>> start(std::shared_ptr<CurlLoop> loop,
                                                     std::shared_ptr<const ClientRequest> request);
  ~CurlTransfer() override;

  io::Task<void> wait_for_head();
  io::Task<std::optional<std::string>> read();

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const Headers& headers() const { return headers_; }
  [[nodiscard]] std::string_view http_version() const { return http_version_; }

  void on_done(CURLcode code) override;

 private:
  CurlTransfer(std::shared_ptr<CurlLoop> loop, std::shared_ptr<const ClientRequest> request);

  void set_options();
  Result<void> set_headers();
  void set_body();
  void set_hooks();

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_upload(char* out, std::size_t size, std::size_t count, void* self);
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_before_request(void* self, char* ip, char* local_ip, int port, int local_port);

  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  std::size_t give_upload(std::span<char> out);
  bool allows(const std::string& ip, std::uint16_t port);
  std::size_t refuse(Error error);

  io::Task<void> wait_for_news();
  void wake();
  void resume();
  [[nodiscard]] Error error_for(CURLcode code) const;

  std::shared_ptr<CurlLoop> loop_;
  const CurlLibrary& curl_;
  std::shared_ptr<const ClientRequest> request_;
  CURL* handle_;
  curl_slist* fields_ = nullptr;
  curl_slist* resolve_ = nullptr;
  bool added_ = false;

  int status_ = 0;
  Headers headers_;
  std::string http_version_;
  std::size_t header_bytes_ = 0;
  bool head_done_ = false;

  std::string body_;
  std::size_t body_bytes_ = 0;  // in all
  bool body_paused_ = false;
  bool done_ = false;
  std::optional<Error> error_;    // how it failed
  std::optional<Error> refused_;  // what a hook or a limit said
  std::string allowed_address_;   // the last one that on_address let pass

  std::shared_ptr<CurlUpload> upload_;
  io::CancelSource pump_cancel_;
  std::chrono::steady_clock::time_point last_activity_;
  boost::asio::steady_timer news_;
  char curl_words_[CURL_ERROR_SIZE] = {};
};

}  // namespace relay::net
