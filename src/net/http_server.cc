#include "net/http_server.h"

#include <fmt/format.h>
#include <boost/asio/ssl/context.hpp>

#include "io/spawn.h"
#include "net/http_connection.h"

namespace relay::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRefusalsAtOnce =
    64;                              // polite refusals in progress; beyond that a full server just closes
constexpr auto kAcceptPause = 50ms;  // when the process is out of descriptors
constexpr auto kAbortGrace = 2s;     // for handlers to unwind after their connections were closed
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

Result<std::shared_ptr<asio::ssl::context>> load_tls(const ServerTls& tls) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  error_code error;
  context->use_certificate_chain_file(tls.certificate_path, error);
  if (error)
    return fail(invalid(fmt::format("TLS certificate {}: {}", tls.certificate_path, error.message())));
  context->use_private_key_file(tls.key_path, asio::ssl::context::pem, error);
  if (error) return fail(invalid(fmt::format("TLS key {}: {}", tls.key_path, error.message())));
  return context;
}

Result<tcp::acceptor> listen(const io::Loop& executor, const HttpServerOptions& options) {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) return fail(invalid(fmt::format("'{}' is not an address to listen on", options.address)));
  const tcp::endpoint endpoint(address, options.port);
  tcp::acceptor acceptor(executor);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return acceptor;
  Error failure = from_errno(error.value(), fmt::format("listen on {}:{}", options.address, options.port));
  if (error == asio::error::address_in_use)
    failure.message += "; another program listens there, choose a free port with --port";
  return fail(std::move(failure));
}

std::string address_text(const tcp::socket& socket) {
  error_code error;
  asio::ip::address address = socket.remote_endpoint(error).address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return error ? std::string() : address.to_string();
}

class BeastServer final : public HttpServer {
 public:
  BeastServer(tcp::acceptor acceptor, std::shared_ptr<asio::ssl::context> tls,
              std::shared_ptr<ServerCore> core)
      : port_(acceptor.local_endpoint().port()),
        state_(std::make_shared<State>(std::move(acceptor), std::move(tls), std::move(core))) {
    io::spawn(state_->acceptor.get_executor(), accept_all(state_), "http accept");
  }
  // A server that was not stopped ends without manners; handlers unwind in the next turns of the loop.
  ~BeastServer() override {
    close();
    state_->core->registry->shut_down_all();
    state_->core->registry->abort_all();
  }

  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] std::size_t connection_count() const override { return state_->core->registry->size(); }
  io::Task<void> stop(std::chrono::steady_clock::duration grace) override;

 private:
  struct State {
    State(tcp::acceptor accepting, std::shared_ptr<asio::ssl::context> context,
          std::shared_ptr<ServerCore> shared)
        : acceptor(std::move(accepting)), tls(std::move(context)), core(std::move(shared)) {}
    tcp::acceptor acceptor;
    std::shared_ptr<asio::ssl::context> tls;
    std::shared_ptr<ServerCore> core;
    std::size_t refusals = 0;
  };

  static io::Task<void> accept_all(std::shared_ptr<State> state);
  static void admit(const std::shared_ptr<State>& state, tcp::socket socket);
  static io::Task<void> refuse(std::shared_ptr<State> state, tcp::socket socket);
  void close() {
    error_code ignored;
    state_->core->stopping = true;
    state_->acceptor.close(ignored);
  }

  std::uint16_t port_;
  std::shared_ptr<State> state_;
};

io::Task<void> BeastServer::accept_all(std::shared_ptr<State> state) {
  while (state->acceptor.is_open()) {
    error_code error;
    tcp::socket socket =
        co_await state->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      admit(state, std::move(socket));
    } else if (state->acceptor.is_open()) {
      RELAY_CO_CHECK(co_await io::sleep_for(kAcceptPause));
    }
  }
  co_return Result<void>{};
}

void BeastServer::admit(const std::shared_ptr<State>& state, tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  std::string address = address_text(socket);
  const io::Loop executor = socket.get_executor();
  if (!state->core->registry->has_room(address)) {
    if (state->refusals < kRefusalsAtOnce)
      io::spawn(executor, refuse(state, std::move(socket)), "http refusal");
  } else if (state->tls) {
    using Tls = HttpConnection<TlsStream>;
    Tls::start(
        std::make_shared<Tls>(TlsStream(std::move(socket), *state->tls), state->core, std::move(address)));
  } else {
    using Plain = HttpConnection<tcp::socket>;
    Plain::start(std::make_shared<Plain>(std::move(socket), state->core, std::move(address)));
  }
}

/// Waits for the peer to read the answer and go, so that its request does not reset the connection first.
io::Task<void> BeastServer::refuse(std::shared_ptr<State> state, tcp::socket socket) {
  ++state->refusals;
  error_code ignored;
  if (!state->tls) socket.write_some(asio::buffer(kFull), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  auto drain = [](tcp::socket& peer) -> io::Task<void> {
    char bytes[1024];
    error_code error;
    for (int reads = 0; reads < 64 && !error; ++reads)
      co_await peer.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
    co_return Result<void>{};
  };
  co_await io::with_timeout(drain(socket), 1s, "refusal");
  --state->refusals;
  co_return Result<void>{};
}

io::Task<void> BeastServer::stop(std::chrono::steady_clock::duration grace) {
  close();
  const std::shared_ptr<State> state = state_;
  ConnectionRegistry& registry = *state->core->registry;
  registry.shut_down_all();
  RELAY_CO_TRY(const bool empty,
               co_await registry.wait_until_empty(std::chrono::steady_clock::now() + grace));
  if (empty) co_return Result<void>{};
  registry.abort_all();
  RELAY_CO_CHECK(co_await registry.wait_until_empty(std::chrono::steady_clock::now() + kAbortGrace));
  co_return Result<void>{};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(io::Loop executor, HttpServerOptions options,
                                                     HttpHandler handler) {
  std::shared_ptr<asio::ssl::context> tls;
  if (options.tls) {
    RELAY_TRY(tls, load_tls(*options.tls));
  }
  RELAY_TRY(tcp::acceptor acceptor, listen(executor, options));
  auto core = std::make_shared<ServerCore>();
  core->limits = options.limits;
  core->handler = std::move(handler);
  core->registry = std::make_shared<ConnectionRegistry>(executor, options.limits);
  std::unique_ptr<HttpServer> server =
      std::make_unique<BeastServer>(std::move(acceptor), std::move(tls), std::move(core));
  return server;
}

}  // namespace relay::net
