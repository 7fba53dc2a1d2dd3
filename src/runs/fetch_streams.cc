#include "runs/fetch_streams.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::runs {
namespace {

constexpr std::size_t kAheadBytes = 256 * limits::kKiB;  // read for a guest that has not asked yet

}  // namespace

struct Download::State {
  State(const io::Loop& loop, std::unique_ptr<fetch::FetchResponse> of)
      : response(std::move(of)), arrived(loop), taken(loop) {}

  std::unique_ptr<fetch::FetchResponse> response;
  std::string buffer;
  std::optional<Error> failure;
  bool ended = false, reading = false;
  io::Event arrived, taken;
};

Download::Download(io::Loop loop, std::unique_ptr<fetch::FetchResponse> response)
    : state_(std::make_shared<State>(loop, std::move(response))) {
  io::spawn(std::move(loop), pump(state_), "fetch body", cancel_);
}

Download::~Download() {
  cancel_.cancel();
}

io::Task<void> Download::pump(std::shared_ptr<State> state) {
  while (!state->ended) {
    while (state->buffer.size() >= kAheadBytes) {
      state->response->rest();
      state->taken.clear();
      RELAY_CO_CHECK(co_await state->taken.wait());
    }
    auto piece = co_await state->response->read();
    if (!piece) state->failure = piece.error();
    state->ended = !piece || !*piece;
    if (!state->ended) state->buffer += **piece;
    state->arrived.set();
  }
  state->response.reset();
  co_return Result<void>{};
}

io::Task<std::optional<std::string>> Download::read() {
  const std::shared_ptr<State> state = state_;
  if (state->reading) co_return fail(invalid("fetch: the body is being read already"));
  const std::shared_ptr<void> done(nullptr, [state](void*) { state->reading = false; });
  state->reading = true;
  while (state->buffer.empty() && !state->ended) {
    state->arrived.clear();
    RELAY_CO_CHECK(co_await state->arrived.wait());
  }
  if (!state->buffer.empty()) {
    state->taken.set();
    co_return std::optional<std::string>(std::exchange(state->buffer, {}));
  }
  if (state->failure) co_return fail(*state->failure);
  co_return std::optional<std::string>{};
}

io::Task<void> Upload::write(std::string piece) {
  const std::shared_ptr<Upload> self = shared_from_this();
  bytes_ += piece.size();
  if (bytes_ > max_bytes_ && !failure_) {
    failure_ =
        too_large(fmt::format("fetch: a request body of more than {} bytes is over the limit", max_bytes_));
    given_.set();
  }
  while (piece_ && !closed_ && !failure_) {
    taken_.clear();
    RELAY_CO_CHECK(co_await taken_.wait());
  }
  if (failure_) co_return fail(*failure_);
  if (closed_ || finished_) co_return fail(cancelled("fetch: the request is over"));
  piece_ = std::move(piece);
  given_.set();
  co_return Result<void>{};
}

void Upload::finish() {
  finished_ = true;
  given_.set();
}

void Upload::abort() {
  if (!failure_) failure_ = cancelled("fetch: the program could not go on with the request's body");
  given_.set();
}

void Upload::close() {
  closed_ = true;
  taken_.set();
  given_.set();
}

io::Task<std::optional<std::string>> Upload::next() {
  const std::shared_ptr<Upload> self = shared_from_this();
  while (!piece_ && !finished_ && !failure_ && !closed_) {
    given_.clear();
    RELAY_CO_CHECK(co_await given_.wait());
  }
  if (failure_) co_return fail(*failure_);
  std::optional<std::string> piece = std::exchange(piece_, std::nullopt);
  taken_.set();
  co_return piece;
}

net::BodySource Upload::source() {
  return [self = shared_from_this()] { return self->next(); };
}

}  // namespace relay::runs
