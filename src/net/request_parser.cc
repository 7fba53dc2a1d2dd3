// Beast asserts that the last chunk comes in at least five bytes; one that is the first and comes byte by
// byte has fewer, and is parsed correctly all the same. Found by fuzzing.
#define BOOST_DISABLE_ASSERTS

#include "net/request_parser.h"

#include <algorithm>

#include <boost/beast/http/basic_parser.hpp>

#include "base/bytes.h"

namespace relay::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr std::size_t kBodyReserveBytes =
    1024 * 1024;  // what an announced length may make us allocate at once

std::string_view view(Text text) {
  return {text.data(), text.size()};
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// What the fields say that matters for framing. Beast knows some of it; we refuse more.
struct HeadFacts {
  int version = 11;
  int hosts = 0;
  int codings = 0;
  int lengths = 0;
  bool odd_length = false;  // anything but digits: a list of equal numbers, too
  bool folded = false;
  bool unknown_coding = false;
  bool expects_continue = false;
  bool unknown_expectation = false;
  bool unknown_method = false;
};

struct Body {
  std::string bytes;
  std::size_t max_bytes = 0;
  bool kept = false;
};

// Receives Beast's callbacks and writes straight into our values, so that no Beast message is built.
class Grammar final : public http::basic_parser<true> {
 public:
  Grammar(HttpRequest& request, HeadFacts& facts, Body& body)
      : request_(request), facts_(facts), body_(body) {}

 private:
  void on_request_impl(http::verb verb, Text method, Text target, int version, error_code&) override {
    facts_.version = version;
    facts_.unknown_method =
        verb == http::verb::unknown || verb == http::verb::connect || verb == http::verb::trace;
    request_.method = view(method);
    request_.target = view(target);
  }
  void on_response_impl(int, Text, int, error_code&) override {}

  void on_field_impl(http::field field, Text name, Text value, error_code&) override {
    if (in_body_) return;  // a trailer: nothing of ours is decided by one
    note(field, view(value));
    request_.headers.add(std::string(view(name)), std::string(view(value)));
  }
  void on_header_impl(error_code&) override { in_body_ = true; }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (body_.kept && length) body_.bytes.reserve(std::min<std::size_t>(*length, kBodyReserveBytes));
  }
  std::size_t on_body_impl(Text bytes, error_code& error) override { return take(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, error_code& error) override {
    return take(bytes, error);
  }
  void on_finish_impl(error_code&) override {}

  void note(http::field field, std::string_view value) {
    if (field == http::field::host) ++facts_.hosts;
    if (field == http::field::transfer_encoding) {
      ++facts_.codings;
      if (!equal_ignoring_case(value, "chunked")) facts_.unknown_coding = true;
    }
    if (field == http::field::content_length) {
      ++facts_.lengths;
      if (value.empty() || !std::ranges::all_of(value, is_decimal)) facts_.odd_length = true;
    }
    if (field == http::field::expect) {
      const bool known = equal_ignoring_case(value, "100-continue");
      (known ? facts_.expects_continue : facts_.unknown_expectation) = true;
    }
  }

  std::size_t take(Text bytes, error_code& error) {
    if (!body_.kept) return bytes.size();
    if (bytes.size() > body_.max_bytes - body_.bytes.size()) {
      error = http::error::body_limit;
      return 0;
    }
    body_.bytes.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  HttpRequest& request_;
  HeadFacts& facts_;
  Body& body_;
  bool in_body_ = false;
};

BadRequest refusal_for(const error_code& error) {
  if (error == http::error::header_limit) return {431, "the request head is too large"};
  if (error == http::error::body_limit) return {413, "the request body is too large"};
  if (error == http::error::bad_version) return {505, "the versions spoken here are 1.0 and 1.1"};
  return {400, "this is not a valid HTTP request"};
}

// An absolute target names the host itself; the Host field has no say then (RFC 9112, 3.2.2).
bool use_absolute_target(HttpRequest& request) {
  const std::size_t scheme = request.target.find("://");
  if (scheme == std::string::npos) return false;
  const std::string_view name = std::string_view(request.target).substr(0, scheme);
  if (!equal_ignoring_case(name, "http") && !equal_ignoring_case(name, "https")) return false;
  const std::size_t path = std::min(request.target.find_first_of("/?", scheme + 3), request.target.size());
  request.headers.set("Host", request.target.substr(scheme + 3, path - scheme - 3));
  const bool rooted = path < request.target.size() && request.target[path] == '/';
  request.target = (rooted ? "" : "/") + request.target.substr(path);
  return true;
}

bool split_target(HttpRequest& request) {
  if (request.target == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return true;
  }
  if (!request.target.starts_with('/') && !use_absolute_target(request)) return false;
  if (request.target.find('#') != std::string::npos) return false;
  const std::size_t mark = request.target.find('?');
  if (mark != std::string::npos) request.query.assign(request.target, mark + 1);
  const std::string_view raw = std::string_view(request.target).substr(0, mark);
  if (raw.find('%') == std::string_view::npos) {
    request.path = raw;
    return true;
  }
  auto decoded = find_percent_decoded(raw);
  if (decoded) request.path = std::move(*decoded);
  return decoded.has_value();
}

}  // namespace

struct RequestParser::State {
  explicit State(std::size_t max_header_bytes) : header_bytes(max_header_bytes) { reset(); }

  void reset() {
    facts = {};
    body.bytes.clear();
    body.kept = false;
    request.headers.clear();
    request.query.clear();
    begun = head_done = false;
    last_taken = 0;
    grammar.emplace(request, facts, body);
    grammar->header_limit(static_cast<std::uint32_t>(header_bytes));
    grammar->body_limit(boost::none);
  }

  // Beast joins a folded field into one line; another parser on the way may see two. The grammar takes the
  // head in pieces, so the last byte of one piece is remembered for the next.
  void note_folds(std::string_view taken) {
    for (const char c : taken) {
      if (last_taken == '\n' && (c == ' ' || c == '\t')) facts.folded = true;
      last_taken = c;
    }
  }

  std::optional<BadRequest> check_head() {
    if (facts.unknown_method) return BadRequest{501, "this method is not supported"};
    if (facts.hosts > 1 || (facts.hosts == 0 && facts.version == 11))
      return BadRequest{400, "a request needs exactly one Host field"};
    if (facts.folded) return BadRequest{400, "a header field is folded over several lines; write it in one"};
    if (facts.lengths > 1 || facts.odd_length)
      return BadRequest{400, "a request has at most one Content-Length, a plain number"};
    if (facts.codings > 1 || (facts.codings > 0 && facts.lengths > 0))
      return BadRequest{400, "a body has one framing: Content-Length or one Transfer-Encoding"};
    if (facts.codings > 0 && facts.version == 10)
      return BadRequest{400, "HTTP/1.0 knows no transfer codings"};
    if (facts.unknown_coding) return BadRequest{501, "the only transfer coding here is chunked"};
    if (facts.unknown_expectation) return BadRequest{417, "the only expectation here is 100-continue"};
    if (!split_target(request)) return BadRequest{400, "the request target is malformed"};
    return std::nullopt;
  }

  std::size_t header_bytes;
  HttpRequest request;
  HeadFacts facts;
  Body body;
  bool begun = false;
  bool head_done = false;
  char last_taken = 0;
  std::optional<Grammar> grammar;
};

RequestParser::RequestParser(std::size_t max_header_bytes)
    : state_(std::make_unique<State>(max_header_bytes)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

void RequestParser::reset() {
  state_->reset();
}

std::expected<std::size_t, BadRequest> RequestParser::feed(std::string_view bytes) {
  State& state = *state_;
  std::size_t used = 0;
  // Old clients send an empty line after a body (RFC 9112, 2.2).
  while (!state.begun && used < bytes.size() && (bytes[used] == '\r' || bytes[used] == '\n')) ++used;
  if (used == bytes.size() || done()) return used;
  state.begun = true;
  state.grammar->eager(state.head_done);
  error_code error;
  const std::size_t taken =
      state.grammar->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
  if (!state.head_done) state.note_folds(bytes.substr(used, taken));
  used += taken;
  if (error && error != http::error::need_more) return std::unexpected(refusal_for(error));
  if (!state.head_done && state.grammar->is_header_done()) {
    state.head_done = true;
    if (const auto refusal = state.check_head()) return std::unexpected(*refusal);
  }
  return used;
}

bool RequestParser::begun() const {
  return state_->begun;
}
bool RequestParser::head_done() const {
  return state_->head_done;
}
bool RequestParser::done() const {
  return state_->head_done && state_->grammar->is_done();
}
HttpRequest& RequestParser::request() {
  return state_->request;
}
bool RequestParser::keep_alive() const {
  return state_->grammar->keep_alive();
}
bool RequestParser::expects_continue() const {
  return state_->facts.expects_continue && !is_http_1_0();
}
bool RequestParser::is_http_1_0() const {
  return state_->facts.version == 10;
}
bool RequestParser::is_head() const {
  return state_->request.method == "HEAD";
}
std::optional<std::uint64_t> RequestParser::content_length() const {
  if (state_->grammar->chunked()) return std::nullopt;
  return state_->grammar->content_length().value_or(0);
}

void RequestParser::keep_body(std::size_t max_bytes) {
  state_->body.kept = true;
  state_->body.max_bytes = max_bytes;
}
std::string RequestParser::take_body() {
  return std::exchange(state_->body.bytes, {});
}

}  // namespace relay::net
