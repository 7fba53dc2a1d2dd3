// GuardedFetch: the network of one run. Whatever a guest fetches goes through here, and nothing else of it
// reaches out.
//
//   URL ── allowed? ──▶ resolved ── each address allowed? ──▶ connected to exactly that address ──▶ redirect?
//   ── again
//
// The address is checked after DNS and right before the connection that uses it, so that a name that changes
// its answer in between gains nothing. Redirects are followed here, one at a time, each judged like a first
// request; the URL that is sent is rebuilt from the parts that were judged, so that client and judge cannot
// read it differently. Credentials do not follow to another origin. No cookies, no proxies, bodies stream
// both ways and are capped, unpacked, while they stream. What was sent and what was refused is written down
// as an effect of the run's record; refusals are also reported to the observer and counted.
//
// One object for a run, made from its record and its effective policy; shared by its calls. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/recorded.h"
#include "fetch/fetch_request.h"
#include "io/event.h"
#include "net/http_client.h"
#include "policy/network_policy.h"

namespace relay::fetch {

/// What policy decides, as two questions. rules_from() asks a NetworkPolicy.
struct FetchRules {
  std::function<Result<policy::Target>(std::string_view url)> check_url;
  std::function<Result<void>(const policy::Target& target, const policy::Address& address)> check_address;
  std::size_t max_body_bytes = 0;
  int max_redirects = 0;
};
FetchRules rules_from(policy::NetworkPolicy network);

/// Something that was refused, for the audit log. The address is only as exact as an audit needs: its /24 or
/// /48.
struct BlockedFetch {
  enum class What : std::uint8_t { url, redirect, address, body, flood } what = What::url;
  std::string host;
  std::string network;  // "10.1.2.0/24"; for addresses only
  std::string reason;
};
std::string_view name_of(BlockedFetch::What what);
authority::Ending ending_of(BlockedFetch::What what);

struct FetchCounters {
  std::uint64_t requests = 0, redirects = 0, refused_urls = 0, refused_redirects = 0, refused_addresses = 0,
                refused_bodies = 0, refused_floods = 0;
  std::uint64_t bytes_received = 0;
};

struct FetchOptions {
  std::chrono::milliseconds connect_timeout = limits::kConnectTimeout;
  std::chrono::milliseconds idle_timeout = limits::kClientIdleTimeout;
  std::chrono::milliseconds total_timeout = limits::kFetchTimeout;
  std::size_t in_flight = limits::kFetchesInFlight;
  std::function<void(const BlockedFetch&)> on_refusal;
  /// Answers DNS instead of the system, for tests: "host:port:address" lines, asked for each hop.
  std::function<std::vector<std::string>(const policy::Target&)> resolver;
  std::string ca_file;
};

class GuardedFetch;

/// A response whose head has arrived. Dropping it ends the transfer.
class FetchResponse {
 public:
  ~FetchResponse();
  [[nodiscard]] const ReplyHead& head() const { return head_; }
  /// What the server says the body will be, packed; nothing when it does not say.
  [[nodiscard]] std::optional<std::uint64_t> announced_bytes() const { return announced_bytes_; }
  /// Until somebody reads again: gives its place among the requests in flight to another one. read() takes
  /// one again.
  void rest();
  /// The next piece, nothing at the end. Fails with too_large when the cap is reached.
  io::Task<std::optional<std::string>> read();
  io::Task<std::string> read_rest();

 private:
  friend class GuardedFetch;
  struct Slot;
  FetchResponse();
  ReplyHead head_;
  /// The request is over: it becomes an effect of the run, once.
  void note_end(authority::Ending ending, std::string reason = {});

  std::string host_;
  struct Journey;  // what is written down about it
  std::unique_ptr<Journey> journey_;
  std::uint64_t received_bytes_ = 0;
  std::optional<std::uint64_t> announced_bytes_;
  std::shared_ptr<GuardedFetch> owner_;
  std::unique_ptr<net::ClientResponse> transfer_;
  std::unique_ptr<Slot> slot_;
};

class GuardedFetch : public std::enable_shared_from_this<GuardedFetch> {
 public:
  static std::shared_ptr<GuardedFetch> make(const authority::Recorded& recorded, io::Loop executor,
                                            net::HttpClient& client, FetchRules rules, FetchOptions options);

  /// Waits for its turn when too many of this run's requests are in flight. PolicyDenied when policy says no.
  io::Task<std::unique_ptr<FetchResponse>> send(FetchRequest request);

  /// For refusals that only the caller can see, such as too many open responses.
  void report(BlockedFetch refusal);

  [[nodiscard]] const FetchCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t max_body_bytes() const { return rules_.max_body_bytes; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }

 private:
  friend class FetchResponse;
  struct Hop {
    policy::Target target;
    std::string url;
    int count = 0;  // redirects that led here
  };
  GuardedFetch(std::shared_ptr<authority::Effects> effects, io::Loop executor, net::HttpClient& client,
               FetchRules rules, FetchOptions options);

  /// One request that left, with what is known of it when it is over.
  struct Sent {
    std::string method;
    std::string host;  // with the port where it is not the scheme's
    std::uint64_t sent_bytes = 0;
    std::shared_ptr<std::uint64_t> streamed_bytes = {};  // of a body that came in pieces
  };
  void note(const Sent& sent, std::uint64_t received_bytes, authority::Ending ending, std::string reason);
  io::Task<void> take_slot();
  io::Task<std::unique_ptr<FetchResponse>> follow(FetchRequest request);
  io::Task<std::unique_ptr<net::ClientResponse>> send_hop(const FetchRequest& request, const Hop& hop);
  Result<Hop> next_hop(const Hop& from, std::string_view location);
  static Result<void> adapt(FetchRequest& request, int status, const Hop& from, const Hop& to);
  std::unique_ptr<FetchResponse> make_response(Hop hop, Sent sent,
                                               std::unique_ptr<net::ClientResponse> transfer);
  static Sent sent_of(FetchRequest& request, const Hop& hop);
  Result<policy::Target> judge(const std::string& url, BlockedFetch::What what);
  Result<void> judge_address(const std::string& ip, const policy::Target& target);

  std::shared_ptr<authority::Effects> effects_;
  net::HttpClient& client_;
  FetchRules rules_;
  FetchOptions options_;
  FetchCounters counters_;
  std::size_t in_flight_ = 0;
  io::Event freed_;
};

/// "203.0.113.9" -> "203.0.113.0/24", "2001:db8:1:2::3" -> "2001:db8:1::/48"
std::string network_of(const policy::Address& address);

/// The URL that was judged, spelled from the judged parts: no credentials, no fragment, the normalised host.
std::string judged_url(const policy::Target& target, std::string_view original);

}  // namespace relay::fetch
