#include "launch/cage_proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/fd_passing.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "policy/address_range.h"

namespace relay::launch {

namespace asio = io::asio;
using asio::ip::tcp;

namespace {

/// Two sockets and the bytes between them.
struct Tunnel {
  explicit Tunnel(tcp::socket accepted) : inside(std::move(accepted)), outside(inside.get_executor()) {}
  tcp::socket inside;
  tcp::socket outside;
  std::chrono::steady_clock::time_point moved = std::chrono::steady_clock::now();

  void close() {
    boost::system::error_code ignored;
    inside.close(ignored);   // NOLINT: closed is closed
    outside.close(ignored);  // NOLINT
  }
};

}  // namespace

struct CageProxy::State : std::enable_shared_from_this<CageProxy::State> {
  State(const io::Loop& loop, std::vector<policy::HostPattern> allowed,
        std::vector<policy::HostPattern> private_allowed, OutsideProxies proxies,
        std::shared_ptr<ServerLog> server_log)
      : executor(loop),
        hosts(std::move(allowed)),
        private_hosts(std::move(private_allowed)),
        outside(std::move(proxies)),
        log(std::move(server_log)),
        wire(loop),
        acceptor(loop) {}

  io::Loop executor;
  std::vector<policy::HostPattern> hosts;
  std::vector<policy::HostPattern> private_hosts;
  OutsideProxies outside;
  std::shared_ptr<ServerLog> log;
  std::function<void(const Error&)> on_refusal;
  asio::posix::stream_descriptor wire;  // the listening socket comes through it
  Fd cage_end;
  tcp::acceptor acceptor;
  std::set<std::shared_ptr<Tunnel>> tunnels;
  bool is_closed = false;

  void close() {
    is_closed = true;
    boost::system::error_code ignored;
    wire.close(ignored);      // NOLINT: closed is closed
    acceptor.close(ignored);  // NOLINT
    for (const auto& tunnel : tunnels) tunnel->close();
  }
};

namespace {

using State = CageProxy::State;

Result<Fd> receive_descriptor(int socket) {
  char byte = 0;
  ReceivedMessage received = receive_with_fd(socket, {&byte, 1});
  if (received.bytes != 1) return fail(unavailable("the cage ended before it had a way out"));
  if (!received.fd.is_open()) return fail(unavailable("the cage sent no socket"));
  return std::move(received.fd);
}

// ---- One request.

/// The head up to its empty line, and what came after it.
struct Head {
  std::string text;
  std::string rest;
};

io::Task<Head> read_head(Tunnel& tunnel) {
  Head head;
  boost::system::error_code error;
  const std::size_t length =
      co_await asio::async_read_until(tunnel.inside, asio::dynamic_buffer(head.text, limits::kCageHeadBytes),
                                      "\r\n\r\n", asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) co_return fail(invalid("the request has no end, or its head is too long"));
  head.rest = head.text.substr(length);
  head.text.resize(length);
  co_return head;
}

enum class Addresses : std::uint8_t { global, any };

io::Task<void> connect_to(Tunnel& tunnel, const std::string& name, std::uint16_t port, Addresses wanted) {
  tcp::resolver resolver(tunnel.inside.get_executor());
  boost::system::error_code error;
  const auto found = co_await resolver.async_resolve(name, std::to_string(port),
                                                     asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return fail(unavailable(fmt::format("{} cannot be resolved: {}", name, error.message())));
  std::vector<tcp::endpoint> allowed;
  for (const auto& entry : found) {
    const auto address = policy::find_address(entry.endpoint().address().to_string());
    if (wanted == Addresses::any || (address && policy::range_of(*address) == policy::AddressRange::global))
      allowed.push_back(entry.endpoint());
  }
  if (allowed.empty()) co_return fail(denied(fmt::format("{} leads to addresses that are not public", name)));
  co_await asio::async_connect(tunnel.outside, allowed, asio::redirect_error(asio::use_awaitable, error));
  if (error)
    co_return fail(unavailable(fmt::format("no connection to {}:{}: {}", name, port, error.message())));
  co_return Result<void>{};
}

io::Task<void> write_all(tcp::socket& to, std::string text) {
  boost::system::error_code error;
  co_await asio::async_write(to, asio::buffer(text), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) co_return fail(unavailable("the other side is gone"));
  co_return Result<void>{};
}

// The proxy resolves the name. Nothing may come after its answer: the host does not speak first.
io::Task<void> connect_through(Tunnel& tunnel, const OutsideProxy& proxy, const ProxyRequest& request) {
  RELAY_CO_CHECK(co_await connect_to(tunnel, proxy.host, proxy.port, Addresses::any));
  RELAY_CO_CHECK(co_await write_all(tunnel.outside, tunnel_request(proxy, request.host, request.port)));
  std::string answer;
  boost::system::error_code error;
  const std::size_t length =
      co_await asio::async_read_until(tunnel.outside, asio::dynamic_buffer(answer, limits::kCageHeadBytes),
                                      "\r\n\r\n", asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error || length != answer.size())
    co_return fail(unavailable("the proxy of this machine gave no answer that ends"));
  co_return check_tunnel_answer(answer);
}

// A literal that the configuration names is meant; a name may lead anywhere, so each of its addresses is
// judged, unless the owner of the cage vouches for it.
io::Task<void> connect_outside(const State& state, Tunnel& tunnel, const ProxyRequest& request) {
  if (const OutsideProxy* proxy = state.outside.find(request.host, request.port, request.is_tunnel))
    co_return co_await connect_through(tunnel, *proxy, request);
  const bool is_meant = request.host.address.has_value() ||
                        policy::matches_any(state.private_hosts, request.host, request.port);
  co_return co_await connect_to(tunnel, request.host.name, request.port,
                                is_meant ? Addresses::any : Addresses::global);
}

io::Task<void> pump(std::shared_ptr<Tunnel> tunnel, tcp::socket& from, tcp::socket& to) {
  std::vector<char> buffer(32 * limits::kKiB);
  boost::system::error_code error;
  while (!error) {
    const std::size_t got =
        co_await from.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    tunnel->moved = std::chrono::steady_clock::now();
    if (got > 0)
      co_await asio::async_write(to, asio::buffer(buffer.data(), got),
                                 asio::redirect_error(asio::use_awaitable, error));
  }
  // The other direction may have more to say.
  boost::system::error_code ignored;
  if (error == asio::error::eof)
    to.shutdown(tcp::socket::shutdown_send, ignored);  // NOLINT
  else
    tunnel->close();
  co_return Result<void>{};
}

io::Task<void> end_when_idle(std::shared_ptr<Tunnel> tunnel) {
  for (;;) {
    const auto left = tunnel->moved + limits::kCageIdle - std::chrono::steady_clock::now();
    if (left <= left.zero()) co_return Result<void>{};
    RELAY_CO_CHECK(co_await io::sleep_for(left));
  }
}

std::string refusal(const Error& error) {
  const std::string body = error.message + "\n";
  const int status = error.kind == ErrorKind::denied ? 403 : error.kind == ErrorKind::invalid ? 400 : 502;
  return fmt::format(
      "HTTP/1.1 {} refused\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
}

io::Task<void> prepare(const State& state, Tunnel& tunnel) {
  RELAY_CO_TRY(Head head, co_await io::with_timeout(read_head(tunnel), limits::kHeaderTimeout,
                                                    "the request's head did not come"));
  RELAY_CO_TRY(const ProxyRequest request, parse_proxy_request(head.text));
  RELAY_CO_CHECK(check_proxy_host(state.hosts, request.host, request.port));
  RELAY_CO_CHECK(co_await io::with_timeout(connect_outside(state, tunnel, request), limits::kConnectTimeout,
                                           "no connection in time"));
  if (request.is_tunnel) RELAY_CO_CHECK(co_await write_all(tunnel.inside, "HTTP/1.1 200 connected\r\n\r\n"));
  co_return co_await write_all(tunnel.outside, request.forwarded + head.rest);
}

io::Task<void> serve(std::shared_ptr<State> state, std::shared_ptr<Tunnel> tunnel) {
  struct Guard {
    State& state;
    std::shared_ptr<Tunnel> tunnel;
    ~Guard() {
      tunnel->close();
      state.tunnels.erase(tunnel);
    }
  } guard{*state, tunnel};
  if (const auto prepared = co_await prepare(*state, *tunnel); !prepared) {
    state->log->note("the cage's proxy refused: " + prepared.error().message);
    if (state->on_refusal) state->on_refusal(prepared.error());
    co_return co_await write_all(tunnel->inside, refusal(prepared.error()));
  }
  co_await io::race(
      io::both(pump(tunnel, tunnel->inside, tunnel->outside), pump(tunnel, tunnel->outside, tunnel->inside)),
      end_when_idle(tunnel));
  co_return Result<void>{};
}

// ---- All of them.

io::Task<void> receive_listener(std::shared_ptr<State> state) {
  boost::system::error_code error;
  co_await state->wire.async_wait(asio::posix::stream_descriptor::wait_read,
                                  asio::redirect_error(asio::use_awaitable, error));
  if (error || state->is_closed) co_return fail(cancelled());
  RELAY_CO_TRY(Fd listener, receive_descriptor(state->wire.native_handle()));
  RELAY_CO_CHECK(set_nonblocking(listener));
  state->acceptor.assign(tcp::v4(), listener.release(), error);
  if (error) co_return fail(unavailable("the cage's socket cannot be listened on: " + error.message()));
  co_return Result<void>{};
}

io::Task<void> accept_all(std::shared_ptr<State> state) {
  // A cage that ends before it has a way out says why on its own stderr.
  if (const auto received = co_await receive_listener(state); !received) co_return Result<void>{};
  while (!state->is_closed) {
    boost::system::error_code error;
    tcp::socket accepted =
        co_await state->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) break;
    if (error) {
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(50)));  // out of descriptors, perhaps
      continue;
    }
    if (state->tunnels.size() >= limits::kCageConnections) continue;
    auto tunnel = std::make_shared<Tunnel>(std::move(accepted));
    state->tunnels.insert(tunnel);
    auto serve_quietly = [](std::shared_ptr<State> proxy, std::shared_ptr<Tunnel> served) -> io::Task<void> {
      [[maybe_unused]] const auto done = co_await serve(std::move(proxy), std::move(served));
      co_return Result<void>{};
    };
    io::spawn(state->executor, serve_quietly(state, std::move(tunnel)), "a caged server's connection");
  }
  co_return Result<void>{};
}

Result<std::vector<policy::HostPattern>> parse_patterns(const std::vector<std::string>& hosts) {
  std::vector<policy::HostPattern> patterns;
  for (const std::string& text : hosts) {
    RELAY_TRY(policy::HostPattern pattern, policy::parse_host_pattern(text));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace

Result<std::unique_ptr<CageProxy>> CageProxy::make(const io::Loop& executor, const CageSpec& cage,
                                                   std::shared_ptr<ServerLog> log) {
  RELAY_TRY(std::vector<policy::HostPattern> hosts, parse_patterns(cage.hosts));
  RELAY_TRY(std::vector<policy::HostPattern> private_hosts, parse_patterns(cage.private_hosts));
  RELAY_TRY(FdPair ends, open_socket_pair(SOCK_STREAM));
  RELAY_CHECK(set_nonblocking(ends.first));
  auto state = std::make_shared<State>(executor, std::move(hosts), std::move(private_hosts), cage.outside,
                                       std::move(log));
  state->wire.assign(ends.first.release());
  state->cage_end = std::move(ends.second);
  return std::unique_ptr<CageProxy>(new CageProxy(std::move(state)));
}

CageProxy::~CageProxy() {
  state_->close();
}

int CageProxy::cage_socket() const {
  return state_->cage_end.get();
}

void CageProxy::cage_started() {
  state_->cage_end.reset();
  io::spawn(state_->executor, accept_all(state_), "a cage's way out");
}

void CageProxy::set_on_refusal(std::function<void(const Error&)> report) {
  state_->on_refusal = std::move(report);
}

}  // namespace relay::launch
