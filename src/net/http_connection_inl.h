// The bodies of HttpConnection's templates; include http_connection.h instead.
#pragma once

#include <boost/asio/this_coro.hpp>

#include "base/bytes.h"

namespace relay::net {

/// A chunked body, one of announced length, a plain one to an HTTP/1.0 peer, or none at all to HEAD.
template <class Stream>
class HttpConnection<Stream>::Body final : public BodyStream {
 public:
  Body(HttpConnection& connection, Framing framing, std::size_t length = 0)
      : connection_(connection), framing_(framing), left_(length) {}

  io::Task<void> write(std::string_view bytes) override {
    if (connection_.is_lost()) co_return fail(unavailable("the peer closed the connection"));
    if (connection_.writing_) co_return fail(internal("two writers on one response"));
    if (bytes.empty() || framing_ == Framing::none) co_return Result<void>{};
    if (framing_ == Framing::length) {
      if (bytes.size() > left_) co_return fail(internal("the response is longer than its Content-Length"));
      left_ -= bytes.size();
    }
    Pieces pieces = framed(bytes);
    if (connection_.send_now(pieces)) co_return Result<void>{};
    co_return co_await connection_.send_rest(pieces);
  }

  io::Task<void> finish() override {
    if (connection_.answer_ != Answer::streaming)
      co_return fail(internal("the response is finished already"));
    if (left_ != 0) co_return fail(internal("the response is shorter than its Content-Length"));
    connection_.answer_ = Answer::finished;
    if (framing_ != Framing::chunked) co_return Result<void>{};
    Pieces pieces(asio::buffer("0\r\n\r\n", 5));
    if (connection_.send_now(pieces)) co_return Result<void>{};
    co_return co_await connection_.send_rest(pieces);
  }

 private:
  Pieces framed(std::string_view bytes) {
    if (framing_ != Framing::chunked) return Pieces(asio::buffer(bytes));
    std::string& out = connection_.out_;
    out.clear();
    append_chunk_size(out, bytes.size());
    if (bytes.size() > kCopiedBytes) return {asio::buffer(out), asio::buffer(bytes), asio::buffer("\r\n", 2)};
    out += bytes;
    out += "\r\n";
    return Pieces(asio::buffer(out));
  }

  HttpConnection& connection_;
  Framing framing_;
  std::size_t left_;  // of an announced length
};

template <class Stream>
io::Task<void> HttpConnection<Stream>::run(std::shared_ptr<HttpConnection> self) {
  // Whichever way the coroutine ends, the socket is closed, so that a watching read ends, too.
  struct Ending {
    HttpConnection& connection;
    ~Ending() {
      Face::close(connection.stream_);
      connection.core_->registry->remove(connection, connection.remote_address_);
    }
  } ending{*self};
  self->read_deadline_ = after(self->core_->limits.header_timeout);
  if (co_await Face::handshake(self->stream_)) co_return Result<void>{};
  while (co_await self->serve_one()) {
  }
  co_return Result<void>{};
}

/// False when the connection is over.
template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::serve_one() {
  const Head head = co_await read_head();
  if (head == Head::closed) co_return false;
  if (head == Head::refused) {
    keep_alive_ = false;
    body_broken_ = true;
    HttpResponse response = json_response(
        refusal_.status,
        fmt::format(R"({{"error":{{"type":"ValidationError","message":"{}"}}}})", refusal_.reason));
    co_await respond(std::move(response));
  } else {
    Result<void> result = co_await call_handler();
    if (answer_ != Answer::whole || !result) co_await settle(std::move(result));
  }
  if (keep_alive_ && !parser_.done()) co_await finish_body();
  if (keep_alive_ && !core_->stopping) co_return true;
  co_await part();
  co_return false;
}

template <class Stream>
asio::awaitable<typename HttpConnection<Stream>::Head> HttpConnection<Stream>::read_head() {
  parser_.reset();
  if (!watching_) buffer_.release(kCopiedBytes);
  answer_ = Answer::none;
  continue_sent_ = event_stream_ = watch_wanted_ = timed_out_ = false;
  idle_ = buffer_.empty();
  read_deadline_ = after(idle_ ? core_->limits.idle_timeout : core_->limits.header_timeout);
  while (true) {
    if (!buffer_.empty()) {
      const auto used = parser_.feed(buffer_.view());
      if (!used) {
        refusal_ = used.error();
        co_return Head::refused;
      }
      buffer_.consume(*used);
      if (parser_.head_done()) break;
      if (idle_ && parser_.begun()) {
        idle_ = false;
        read_deadline_ = after(core_->limits.header_timeout);
      }
    }
    if (!co_await fill()) continue;
    if (!timed_out_ || !parser_.begun()) co_return Head::closed;
    refusal_ = {408, "the request head did not arrive in time"};
    co_return Head::refused;
  }
  idle_ = false;
  read_deadline_ = Time::max();
  co_return Head::ready;
}

template <class Stream>
asio::awaitable<Result<void>> HttpConnection<Stream>::call_handler() {
  std::exception_ptr thrown;
  try {
    co_return co_await core_->handler(*this);
  } catch (...) {
    thrown = std::current_exception();
  }
  // A handler that was cancelled from outside still gets an answer: from here on the coroutine may wait
  // again.
  co_await asio::this_coro::reset_cancellation_state();
  if (!io::is_cancellation(thrown)) {
    io::report_failure("http handler", io::error_from(thrown));
    co_return fail(internal("the request handler failed; the log has the reason"));
  }
  co_return fail(unavailable("the server is shutting down; try again later"));
}

/// What the handler left undone.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::settle(Result<void> result) {
  switch (answer_) {
    case Answer::none: {
      if (result && gone_.is_set())
        co_return Face::close(stream_);  // nobody is there who would read an answer
      if (result) result = fail(internal("the request handler gave no answer"));
      if (result.error().blame == Blame::us) io::report_failure("http handler", result.error());
      HttpResponse response = error_response(result.error());
      co_await respond(std::move(response));
      co_return;
    }
    case Answer::streaming:
      // Events have no length: a stream of them that the server ends has ended, and the client reconnects.
      // Any other body is cut off, and the peer has to see that.
      keep_alive_ = false;
      if (!event_stream_ || writing_ || gone_.is_set()) co_return Face::close(stream_);
      co_await Body(*this, parser_.is_http_1_0() ? Framing::close : Framing::chunked).finish();
      co_return;
    case Answer::whole:
    case Answer::finished:
      if (!result && result.error().blame == Blame::us) io::report_failure("http handler", result.error());
      co_return;
  }
}

/// Reads and forgets the rest of a short body, so that the connection can go on.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::finish_body() {
  read_deadline_ = after(core_->limits.body_timeout);
  while (keep_alive_ && !parser_.done()) {
    const auto fed = feed_body();
    if (!fed) keep_alive_ = false;
    if (!keep_alive_ || parser_.done()) break;
    if (co_await fill()) keep_alive_ = false;
  }
}

/// Closing a socket that has unread input resets it, and the peer may never see the answer. So: say that
/// nothing more comes, then read a little of what still comes.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::part() {
  read_deadline_ = after(kLingerTime);
  if (!Face::kSecure) Face::shut_down_sending(stream_);
  if (Face::kSecure) co_await Face::say_goodbye(stream_);
  if (!body_broken_ && parser_.done()) co_return;
  std::size_t read = 0;
  while (read < kLingerBytes && !timed_out_) {
    buffer_.consume(buffer_.view().size());
    if (co_await fill()) co_return;
    read += buffer_.view().size();
  }
}

template <class Stream>
asio::awaitable<error_code> HttpConnection<Stream>::fill() {
  if (watching_) {
    co_await watch_done_.wait();
    if (!ended_) co_return error_code{};
  }
  if (ended_) co_return ended_;
  if (buffer_.full()) co_return make_error_code(boost::system::errc::no_buffer_space);
  const std::size_t bytes =
      co_await stream_.async_read_some(buffer_.prepare(), asio::redirect_error(asio::use_awaitable, ended_));
  buffer_.commit(bytes);
  co_return ended_;
}

/// Every piece that the peer takes gives it a new time limit.
template <class Stream>
asio::awaitable<Result<void>> HttpConnection<Stream>::send_rest(Pieces pieces) {
  struct Writing {
    HttpConnection& connection;
    explicit Writing(HttpConnection& owner) : connection(owner) { connection.writing_ = true; }
    ~Writing() {
      connection.writing_ = false;
      connection.write_deadline_ = Time::max();
    }
  } writing(*this);
  while (!pieces.empty()) {
    write_deadline_ = after(core_->limits.write_timeout);
    error_code error;
    const std::size_t sent =
        co_await stream_.async_write_some(pieces.buffers(), asio::redirect_error(asio::use_awaitable, error));
    pieces.consume(sent);
    if (!error) continue;
    keep_alive_ = false;
    write_failed_ = true;
    gone_.set();
    co_return fail(unavailable("the peer closed the connection"));
  }
  co_return Result<void>{};
}

template <class Stream>
io::Task<void> HttpConnection<Stream>::send_continue() {
  continue_sent_ = true;
  Pieces pieces(asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25));
  if (send_now(pieces)) co_return Result<void>{};
  co_return co_await send_rest(pieces);
}

/// True when the body is whole.
template <class Stream>
Result<bool> HttpConnection<Stream>::feed_body() {
  if (buffer_.empty()) return parser_.done();
  const auto used = parser_.feed(buffer_.view());
  if (used) {
    buffer_.consume(*used);
    return parser_.done();
  }
  body_broken_ = true;
  const std::string reason(used.error().reason);
  return fail(used.error().status == 413 ? too_large(reason) : invalid(reason));
}

template <class Stream>
io::Task<std::string> HttpConnection<Stream>::read_body(std::size_t max_bytes) {
  const auto length = parser_.content_length();
  if (length.value_or(0) > max_bytes)
    co_return fail(too_large(fmt::format("the request body is over {} bytes", max_bytes)));
  parser_.keep_body(max_bytes);
  if (!parser_.done() && buffer_.empty()) buffer_.expect(length.value_or(kReadBytes));
  read_deadline_ = parser_.done() ? Time::max() : after(core_->limits.body_timeout);
  while (!parser_.done()) {
    RELAY_CO_TRY(const bool whole, feed_body());
    if (whole) break;
    if (parser_.expects_continue() && !continue_sent_) RELAY_CO_CHECK(co_await send_continue());
    if (!co_await fill()) continue;
    body_broken_ = true;
    co_return fail(timed_out_ ? timed_out("the request body did not arrive in time")
                              : invalid("the connection ended in the middle of the request body"));
  }
  read_deadline_ = Time::max();
  if (watch_wanted_) watch();
  co_return parser_.take_body();
}

template <class Stream>
io::Task<void> HttpConnection<Stream>::respond(HttpResponse response) {
  if (answer_ != Answer::none) co_return fail(internal("the request is answered already"));
  answer_ = Answer::whole;
  const bool bare = response.status == 204 || response.status == 304;
  HeadShape shape{.framing = bare ? Framing::none : Framing::length, .content_length = response.body.size()};
  // A handler that answers HEAD itself need not make the body to tell its length.
  if (parser_.is_head() && response.body.empty())
    if (const auto said = response.headers.find("Content-Length")) shape.content_length = number_in(*said);
  begin_answer(response.status, response.headers, shape);
  if (bare || parser_.is_head()) response.body.clear();
  const bool copied = response.body.size() <= kCopiedBytes;
  if (copied) out_ += response.body;
  Pieces pieces(asio::buffer(out_), copied ? asio::const_buffer{} : asio::buffer(response.body));
  if (send_now(pieces)) co_return Result<void>{};
  co_return co_await send_rest(pieces);
}

template <class Stream>
io::Task<std::unique_ptr<BodyStream>> HttpConnection<Stream>::start_stream(int status, Headers headers) {
  if (answer_ != Answer::none) co_return fail(internal("the request is answered already"));
  answer_ = Answer::streaming;
  event_stream_ = headers.find("Content-Type").value_or("").starts_with("text/event-stream");
  const auto length = headers.find("Content-Length");
  const Framing framing = length                  ? Framing::length
                          : parser_.is_http_1_0() ? Framing::close
                                                  : Framing::chunked;
  const HeadShape shape{.framing = framing, .content_length = length ? number_in(*length) : 0};
  if (framing == Framing::close) keep_alive_ = false;
  begin_answer(status, headers, shape);
  Pieces pieces{asio::buffer(out_)};
  if (!send_now(pieces)) RELAY_CO_CHECK(co_await send_rest(pieces));
  if (!watching_) buffer_.release();  // a watching read writes into it
  peer_gone();
  const bool bare = parser_.is_head();
  std::unique_ptr<BodyStream> body =
      std::make_unique<Body>(*this, bare ? Framing::none : framing, bare ? 0 : shape.content_length);
  co_return body;
}

template <class Stream>
void HttpConnection<Stream>::begin_answer(int status, const Headers& headers, HeadShape shape) {
  keep_alive_ = keep_alive_ && can_keep(headers);
  shape.after = !keep_alive_            ? AfterAnswer::close
                : parser_.is_http_1_0() ? AfterAnswer::keep_said
                                        : AfterAnswer::keep;
  out_.clear();
  append_head(out_, status, headers, shape, core_->date.now());
}

template <class Stream>
bool HttpConnection<Stream>::can_keep(const Headers& headers) const {
  if (core_->stopping || body_broken_ || !parser_.keep_alive()) return false;
  if (!parser_.done() && !is_drainable()) return false;
  return !equal_ignoring_case(headers.find("Connection").value_or(""), "close");
}

// A peer that waits for "100 Continue" may send the body or not: nobody can know where its next request
// begins.
template <class Stream>
bool HttpConnection<Stream>::is_drainable() const {
  const auto length = parser_.content_length();
  return length && *length <= kDrainBytes && (!parser_.expects_continue() || continue_sent_);
}

template <class Stream>
io::Event& HttpConnection<Stream>::peer_gone() {
  watch_wanted_ = true;
  watch();
  return gone_;
}

template <class Stream>
void HttpConnection<Stream>::watch() {
  if (watching_ || ended_ || !parser_.done() || !buffer_.empty()) return;
  watching_ = true;
  buffer_.expect(kWatchBytes);
  watch_done_.clear();
  stream_.async_read_some(buffer_.prepare(),
                          [self = this->shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->watched(error, bytes);
                          });
}

template <class Stream>
void HttpConnection<Stream>::watched(const error_code& error, std::size_t bytes) {
  watching_ = false;
  buffer_.commit(bytes);
  ended_ = error;
  if (error) gone_.set();
  watch_done_.set();
}

template <class Stream>
void HttpConnection<Stream>::check_deadline(Time now) {
  if (now >= write_deadline_) return abort();
  if (now < read_deadline_) return;
  read_deadline_ = Time::max();
  timed_out_ = true;
  Face::cancel(stream_);
}

template <class Stream>
void HttpConnection<Stream>::shut_down() {
  if (idle_) return abort();
  cancel_.cancel();
}

}  // namespace relay::net
