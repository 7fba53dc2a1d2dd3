// One HTTP connection, whatever the stream is: TCP, TLS, or a test's in-memory stream.
//
// The connection is a coroutine and at the same time the HttpExchange that handlers see: there is one request
// at a time, so nothing is allocated per request but what the request itself needs. Reading ahead happens
// only when somebody wants to know whether the peer is still there (peer_gone, a stream): then one read is
// pending beside the handler, and what it brings is the beginning of the next request.
#pragma once

#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "io/spawn.h"
#include "net/byte_stream.h"
#include "net/connection_registry.h"
#include "net/http_server.h"
#include "net/input_buffer.h"
#include "net/request_parser.h"
#include "net/response_head.h"

namespace relay::net {

/// What all connections of one server share. Lives until the last one is gone.
struct ServerCore {
  ServerLimits limits;
  HttpHandler handler;
  DateText date;
  bool stopping = false;
  std::shared_ptr<ConnectionRegistry> registry;
};

template <class Stream>
class HttpConnection final : public LiveConnection,
                             public HttpExchange,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(Stream stream, std::shared_ptr<ServerCore> core, std::string remote_address)
      : stream_(std::move(stream)),
        core_(std::move(core)),
        remote_address_(std::move(remote_address)),
        parser_(core_->limits.header_bytes),
        buffer_(std::max(core_->limits.header_bytes + 4, kReadBytes)),
        gone_(stream_.get_executor()),
        watch_done_(stream_.get_executor()) {
    parser_.request().remote_address = remote_address_;
    parser_.request().secure = Face::kSecure;
  }

  /// Registers it and runs it to its end.
  static void start(const std::shared_ptr<HttpConnection>& self) {
    self->core_->registry->add(self, self->remote_address_);
    io::spawn(self->stream_.get_executor(), run(self), "http connection", self->cancel_);
  }
  static io::Task<void> run(std::shared_ptr<HttpConnection> self);

  // HttpExchange
  [[nodiscard]] const HttpRequest& request() const override { return request_; }
  io::Task<std::string> read_body(std::size_t max_bytes) override;
  io::Task<void> respond(HttpResponse response) override;
  io::Task<std::unique_ptr<BodyStream>> start_stream(int status, Headers headers) override;
  io::Event& peer_gone() override;

  // LiveConnection
  void check_deadline(std::chrono::steady_clock::time_point now) override;
  void shut_down() override;
  void abort() override { Face::close(stream_); }

 private:
  using Face = StreamFace<Stream>;
  using Time = std::chrono::steady_clock::time_point;
  class Body;

  static constexpr std::size_t kReadBytes = 64 * limits::kKiB;
  static constexpr std::size_t kCopiedBytes =
      16 * limits::kKiB;  // a body up to this goes into the head's buffer
  static constexpr std::size_t kDrainBytes = 64 * limits::kKiB;  // of an unread body, to save the connection
  static constexpr std::size_t kWatchBytes = 256;                // a quiet stream keeps no more than this
  static constexpr std::size_t kLingerBytes = 1 * limits::kMiB;
  static constexpr auto kLingerTime = std::chrono::seconds(1);

  enum class Head { ready, refused, closed };
  enum class Answer { none, whole, streaming, finished };

  asio::awaitable<bool> serve_one();
  asio::awaitable<Head> read_head();
  asio::awaitable<Result<void>> call_handler();
  asio::awaitable<void> settle(Result<void> result);
  asio::awaitable<void> finish_body();
  asio::awaitable<void> part();

  asio::awaitable<error_code> fill();
  asio::awaitable<Result<void>> send_rest(Pieces pieces);
  io::Task<void> send_continue();
  Result<bool> feed_body();
  void watch();
  void watched(const error_code& error, std::size_t bytes);

  void begin_answer(int status, const Headers& headers, HeadShape shape);
  [[nodiscard]] bool can_keep(const Headers& headers) const;
  [[nodiscard]] bool is_drainable() const;
  /// A peer that only said that it sends nothing more may still read.
  [[nodiscard]] bool is_lost() const { return write_failed_ || (ended_ && ended_ != asio::error::eof); }
  /// True when everything left without waiting.
  bool send_now(Pieces& pieces) {
    pieces.consume(Face::write_now(stream_, pieces));
    return pieces.empty();
  }
  static std::size_t number_in(std::string_view digits) {
    std::size_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }
  static Time after(std::chrono::milliseconds limit) { return std::chrono::steady_clock::now() + limit; }

  Stream stream_;
  std::shared_ptr<ServerCore> core_;
  std::string remote_address_;
  RequestParser parser_;
  const HttpRequest& request_ = parser_.request();
  InputBuffer buffer_;
  std::string out_;
  BadRequest refusal_{};

  Time read_deadline_ = Time::max();
  Time write_deadline_ = Time::max();
  bool timed_out_ = false;
  bool idle_ = true;
  bool keep_alive_ = true;
  bool body_broken_ = false;
  bool continue_sent_ = false;
  bool event_stream_ = false;
  bool writing_ = false;
  bool write_failed_ = false;
  Answer answer_ = Answer::none;

  io::Event gone_;
  io::Event watch_done_;
  bool watch_wanted_ = false;
  bool watching_ = false;
  error_code ended_;  // how the reading side ended
  io::CancelSource cancel_;
};

}  // namespace relay::net

#include "net/http_connection_inl.h"
