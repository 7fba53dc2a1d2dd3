#include "fetch/guarded_fetch.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"

namespace relay::fetch {
namespace {

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// As browsers do it: 303 and the habit of 301 and 302 turn a request into a GET without a body.
bool becomes_get(int status, std::string_view method) {
  if (status == 303) return method != "GET" && method != "HEAD";
  return (status == 301 || status == 302) && method == "POST";
}

void drop_body(FetchRequest& request) {
  request.method = "GET";
  request.body.clear();
  request.body_source = nullptr;
  for (const char* name : {"content-type", "content-encoding", "content-language", "content-location"})
    request.headers.remove(name);
}

Result<void> drop_credentials_across_origins(FetchRequest& request, const std::string& from,
                                             const std::string& to) {
  RELAY_TRY(const std::string before, net::origin_of(from));
  RELAY_TRY(const std::string after, net::origin_of(to));
  if (before != after)
    for (const char* name : {"authorization", "x-api-key", "api-key"}) request.headers.remove(name);
  return {};
}

std::optional<std::uint64_t> announced_bytes(const net::Headers& headers) {
  const std::string_view text = headers.find("content-length").value_or("");
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return text.empty() || error != std::errc() || end != text.data() + text.size() ? std::nullopt
                                                                                  : std::optional(bytes);
}

std::size_t authority_end(std::string_view url) {
  const std::size_t begin = url.find("://");
  return begin == std::string_view::npos ? url.size()
                                         : std::min(url.find_first_of("/?#", begin + 3), url.size());
}

}  // namespace

FetchRules rules_from(policy::NetworkPolicy network) {
  FetchRules rules;
  rules.max_body_bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, network.max_body_bytes));
  rules.max_redirects = static_cast<int>(std::clamp<std::int64_t>(network.max_redirects, 0, 20));
  const auto shared = std::make_shared<const policy::NetworkPolicy>(std::move(network));
  rules.check_url = [shared](std::string_view url) { return policy::check_url(*shared, url); };
  rules.check_address = [shared](const policy::Target& target, const policy::Address& address) {
    return policy::check_address(*shared, target, address);
  };
  return rules;
}

std::string_view name_of(BlockedFetch::What what) {
  switch (what) {
    case BlockedFetch::What::url: return "url";
    case BlockedFetch::What::redirect: return "redirect";
    case BlockedFetch::What::address: return "address";
    case BlockedFetch::What::body: return "body";
    case BlockedFetch::What::flood: return "flood";
  }
  return "";
}

authority::Ending ending_of(BlockedFetch::What what) {
  switch (what) {
    case BlockedFetch::What::url:
    case BlockedFetch::What::redirect:
    case BlockedFetch::What::address: return authority::Ending::denied;
    case BlockedFetch::What::body: return authority::Ending::too_large;
    case BlockedFetch::What::flood: return authority::Ending::busy;
  }
  return authority::Ending::denied;
}

std::string network_of(const policy::Address& address) {
  policy::Address cut = address;
  std::fill(cut.bytes.begin() + (address.v4 ? 3 : 6), cut.bytes.end(), std::uint8_t{0});
  return fmt::format("{}/{}", policy::to_text(cut), address.v4 ? 24 : 48);
}

std::string judged_url(const policy::Target& target, std::string_view original) {
  std::string_view rest = original.substr(authority_end(original));
  rest = rest.substr(0, rest.find('#'));
  const bool is_v6 = target.host.address && !target.host.address->v4;
  const std::string port =
      target.port == (target.scheme == "https" ? 443 : 80) ? "" : fmt::format(":{}", target.port);
  return fmt::format("{}://{}{}{}{}{}{}", target.scheme, is_v6 ? "[" : "", target.host.name, is_v6 ? "]" : "",
                     port, rest.starts_with('/') ? "" : "/", rest);
}

// A place among the requests in flight, given back when the response is dropped or has ended.
struct FetchResponse::Slot {
  explicit Slot(std::shared_ptr<GuardedFetch> of) : owner(std::move(of)) {}
  ~Slot() {
    --owner->in_flight_;
    owner->freed_.set();
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  std::shared_ptr<GuardedFetch> owner;
};

struct FetchResponse::Journey {
  GuardedFetch::Sent sent;
};

FetchResponse::FetchResponse() = default;

FetchResponse::~FetchResponse() {
  note_end(authority::Ending::ok);
}

void FetchResponse::note_end(authority::Ending ending, std::string reason) {
  if (const auto journey = std::move(journey_))
    owner_->note(journey->sent, received_bytes_, ending, std::move(reason));
}

void FetchResponse::rest() {
  slot_.reset();
}

io::Task<std::optional<std::string>> FetchResponse::read() {
  if (!transfer_) co_return std::optional<std::string>{};
  if (!slot_) {
    RELAY_CO_CHECK(co_await owner_->take_slot());
    slot_ = std::make_unique<Slot>(owner_);
  }
  auto piece = co_await transfer_->read();
  if (piece && *piece) {
    owner_->counters_.bytes_received += (*piece)->size();
    received_bytes_ += (*piece)->size();
    co_return piece;
  }
  if (!piece && piece.error().kind == ErrorKind::too_large)
    owner_->report({BlockedFetch::What::body, host_, "", piece.error().message});
  if (piece) note_end(authority::Ending::ok);
  if (!piece) note_end(authority::ending_of(piece.error().kind), piece.error().message);
  transfer_.reset();
  slot_.reset();
  co_return piece;
}

io::Task<std::string> FetchResponse::read_rest() {
  std::string body;
  for (;;) {
    RELAY_CO_TRY(std::optional<std::string> piece, co_await read());
    if (!piece) co_return body;
    body += *piece;
  }
}

GuardedFetch::GuardedFetch(std::shared_ptr<authority::Effects> effects, io::Loop executor,
                           net::HttpClient& client, FetchRules rules, FetchOptions options)
    : effects_(std::move(effects)),
      client_(client),
      rules_(std::move(rules)),
      options_(std::move(options)),
      freed_(std::move(executor)) {}

std::shared_ptr<GuardedFetch> GuardedFetch::make(const authority::Recorded& recorded, io::Loop executor,
                                                 net::HttpClient& client, FetchRules rules,
                                                 FetchOptions options) {
  return std::shared_ptr<GuardedFetch>(new GuardedFetch(recorded.effects(), std::move(executor), client,
                                                        std::move(rules), std::move(options)));
}

void GuardedFetch::note(const Sent& sent, std::uint64_t received_bytes, authority::Ending ending,
                        std::string reason) {
  const bool only_reads = sent.method == "GET" || sent.method == "HEAD";
  effects_->add({.tool = "fetch",
                 .tier = only_reads ? authority::Tier::read_only : authority::Tier::stateful,
                 .target = {{"host", sent.host}, {"method", sent.method}},
                 .sent_bytes = sent.streamed_bytes ? *sent.streamed_bytes : sent.sent_bytes,
                 .received_bytes = received_bytes,
                 .ending = ending,
                 .reason = std::move(reason)});
}

void GuardedFetch::report(BlockedFetch refusal) {
  switch (refusal.what) {
    case BlockedFetch::What::url: ++counters_.refused_urls; break;
    case BlockedFetch::What::redirect: ++counters_.refused_redirects; break;
    case BlockedFetch::What::address: ++counters_.refused_addresses; break;
    case BlockedFetch::What::body: ++counters_.refused_bodies; break;
    case BlockedFetch::What::flood: ++counters_.refused_floods; break;
  }
  json::object target{{"what", name_of(refusal.what)}};
  if (!refusal.host.empty()) target["host"] = refusal.host;
  if (!refusal.network.empty()) target["network"] = refusal.network;
  effects_->add({.tool = "fetch",
                 .target = std::move(target),
                 .ending = ending_of(refusal.what),
                 .rung = "network",
                 .reason = refusal.reason});
  if (options_.on_refusal) options_.on_refusal(refusal);
}

Result<policy::Target> GuardedFetch::judge(const std::string& url, BlockedFetch::What what) {
  Result<policy::Target> target = rules_.check_url(url);
  if (target && target->has_credentials)
    target = fail(
        denied("fetch: a URL with a user name or password in it is not taken; send an Authorization header"));
  if (!target) {
    const auto parsed = policy::parse_target(url);
    report({what, parsed ? parsed->host.name : "", "", target.error().message});
  }
  return target;
}

Result<void> GuardedFetch::judge_address(const std::string& ip, const policy::Target& target) {
  const auto address = policy::find_address(ip);
  Result<void> verdict = address
                             ? rules_.check_address(target, *address)
                             : fail(denied("fetch: the name resolves to something that is not an address"));
  if (!verdict)
    report({BlockedFetch::What::address, target.host.name, address ? network_of(*address) : "",
            verdict.error().message});
  return verdict;
}

io::Task<void> GuardedFetch::take_slot() {
  while (in_flight_ >= options_.in_flight) {
    freed_.clear();
    RELAY_CO_CHECK(co_await freed_.wait());
  }
  ++in_flight_;
  co_return Result<void>{};
}

io::Task<std::unique_ptr<FetchResponse>> GuardedFetch::send(FetchRequest request) {
  const std::shared_ptr<GuardedFetch> self = shared_from_this();
  if (request.body.size() > rules_.max_body_bytes) {
    const Error error = too_large(fmt::format("fetch: a request body of {} bytes is over the limit of {}",
                                              request.body.size(), rules_.max_body_bytes));
    report({BlockedFetch::What::body, "", "", error.message});
    co_return fail(error);
  }
  RELAY_CO_CHECK(co_await take_slot());
  auto slot = std::make_unique<FetchResponse::Slot>(self);
  RELAY_CO_TRY(std::unique_ptr<FetchResponse> response, co_await follow(std::move(request)));
  response->slot_ = std::move(slot);
  co_return response;
}

io::Task<std::unique_ptr<net::ClientResponse>> GuardedFetch::send_hop(const FetchRequest& request,
                                                                      const Hop& hop) {
  net::ClientRequest sent;
  sent.method = request.method;
  sent.url = hop.url;
  sent.headers = request.headers;
  sent.body = request.body;
  sent.body_source = request.body_source;
  sent.connect_timeout = options_.connect_timeout;
  sent.idle_timeout = options_.idle_timeout;
  sent.total_timeout = options_.total_timeout;
  sent.max_body_bytes = rules_.max_body_bytes;
  sent.ca_file = options_.ca_file;
  if (options_.resolver) sent.resolve = options_.resolver(hop.target);
  sent.on_address = [self = shared_from_this(), target = hop.target](const std::string& ip, std::uint16_t) {
    return self->judge_address(ip, target);
  };
  ++counters_.requests;
  co_return co_await client_.send(std::move(sent));
}

Result<GuardedFetch::Hop> GuardedFetch::next_hop(const Hop& from, std::string_view location) {
  if (from.count >= rules_.max_redirects) {
    const Error error = denied(fmt::format("fetch: more than {} redirects", rules_.max_redirects));
    report({BlockedFetch::What::redirect, from.target.host.name, "", error.message});
    return fail(error);
  }
  const auto next = net::resolve_url(from.url, std::string(location));
  if (!next) {
    report({BlockedFetch::What::redirect, from.target.host.name, "", next.error().message});
    return fail(denied(fmt::format("fetch: the server redirects to something that is not http or https: {}",
                                   next.error().message)));
  }
  RELAY_TRY(policy::Target target, judge(*next, BlockedFetch::What::redirect));
  std::string url = judged_url(target, *next);
  return Hop{std::move(target), std::move(url), from.count + 1};
}

Result<void> GuardedFetch::adapt(FetchRequest& request, int status, const Hop& from, const Hop& to) {
  if (becomes_get(status, request.method)) drop_body(request);
  if (request.body_source) return fail(invalid("fetch: a redirect cannot repeat a body that was streamed"));
  return drop_credentials_across_origins(request, from.url, to.url);
}

// A body that streams is counted while it is sent.
GuardedFetch::Sent GuardedFetch::sent_of(FetchRequest& request, const Hop& hop) {
  const policy::Target& target = hop.target;
  const bool usual_port = target.port == (target.scheme == "https" ? 443 : 80);
  Sent sent{.method = request.method,
            .host = usual_port ? target.host.name : fmt::format("{}:{}", target.host.name, target.port),
            .sent_bytes = request.body.size()};
  if (!request.body_source) return sent;
  sent.streamed_bytes = std::make_shared<std::uint64_t>(0);
  request.body_source = [source = std::move(request.body_source),
                         bytes = sent.streamed_bytes]() -> io::Task<std::optional<std::string>> {
    auto piece = co_await source();
    if (piece && *piece) *bytes += (*piece)->size();
    co_return piece;
  };
  return sent;
}

std::unique_ptr<FetchResponse> GuardedFetch::make_response(Hop hop, Sent sent,
                                                           std::unique_ptr<net::ClientResponse> transfer) {
  std::unique_ptr<FetchResponse> response(new FetchResponse());
  response->head_ = {transfer->status(), std::move(hop.url), hop.count > 0,
                     guest_headers(transfer->headers())};
  response->host_ = std::move(hop.target.host.name);
  response->announced_bytes_ = announced_bytes(transfer->headers());
  response->owner_ = shared_from_this();
  response->transfer_ = std::move(transfer);
  response->journey_ = std::make_unique<FetchResponse::Journey>(std::move(sent));
  return response;
}

io::Task<std::unique_ptr<FetchResponse>> GuardedFetch::follow(FetchRequest request) {
  RELAY_CO_TRY(policy::Target target, judge(request.url, BlockedFetch::What::url));
  std::string url = judged_url(target, request.url);
  for (Hop hop{std::move(target), std::move(url), 0};;) {
    Sent sent = sent_of(request, hop);
    Result<std::unique_ptr<net::ClientResponse>> answer = co_await send_hop(request, hop);
    // A refused address has its own line, and nothing was sent.
    if (!answer && answer.error().kind != ErrorKind::denied)
      note(sent, 0, authority::ending_of(answer.error().kind), answer.error().message);
    RELAY_CO_TRY(std::unique_ptr<net::ClientResponse> transfer, std::move(answer));
    const auto location = transfer->headers().find("location");
    if (!is_redirect(transfer->status()) || !location || request.redirects == Redirects::manual)
      co_return make_response(std::move(hop), std::move(sent), std::move(transfer));
    note(sent, 0, authority::Ending::ok, {});
    if (request.redirects == Redirects::error)
      co_return fail(denied("fetch: the server redirects, and the request says redirect: \"error\""));
    RELAY_CO_TRY(Hop next, next_hop(hop, *location));
    RELAY_CO_CHECK(adapt(request, transfer->status(), hop, next));
    hop = std::move(next);
    ++counters_.redirects;
  }
}

}  // namespace relay::fetch
