#include "net/router.h"

#include <algorithm>

namespace relay::net {
namespace {

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    segments.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return segments;
}

std::string_view raw_path(const HttpRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

// Segments are compared decoded, one by one: an encoded slash stays inside its segment.
bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& segments,
             Routed& routed) {
  routed.params.clear();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string& want = pattern[i];
    if (want.starts_with('*')) {
      std::string rest;
      for (std::size_t j = i; j < segments.size(); ++j) rest += (j == i ? "" : "/") + segments[j];
      routed.params.emplace_back(want.substr(1), std::move(rest));
      return i < segments.size();
    }
    if (i >= segments.size()) return false;
    if (want.starts_with(':')) {
      if (segments[i].empty()) return false;
      routed.params.emplace_back(want.substr(1), segments[i]);
    } else if (want != segments[i]) {
      return false;
    }
  }
  return pattern.size() == segments.size();
}

// Adds the fields that let a page read the answer, whichever way the handler answers.
class CorsExchange final : public HttpExchange {
 public:
  CorsExchange(HttpExchange& inner, Headers fields) : inner_(inner), fields_(std::move(fields)) {}

  [[nodiscard]] const HttpRequest& request() const override { return inner_.request(); }
  io::Task<std::string> read_body(std::size_t max_bytes) override { return inner_.read_body(max_bytes); }
  io::Event& peer_gone() override { return inner_.peer_gone(); }
  io::Task<void> respond(HttpResponse response) override {
    for (const auto& [name, value] : fields_) response.headers.add(name, value);
    answered_ = true;
    return inner_.respond(std::move(response));
  }
  io::Task<std::unique_ptr<BodyStream>> start_stream(int status, Headers headers) override {
    for (const auto& [name, value] : fields_) headers.add(name, value);
    answered_ = true;
    return inner_.start_stream(status, std::move(headers));
  }
  [[nodiscard]] bool answered() const { return answered_; }

 private:
  HttpExchange& inner_;
  Headers fields_;
  bool answered_ = false;
};

std::string allow_list(const auto& methods) {
  std::string list = "OPTIONS";
  for (const auto& [method, endpoint] : methods) {
    list += ", " + method;
    if (method == "GET" && !methods.contains("HEAD")) list += ", HEAD";
  }
  return list;
}

}  // namespace

std::string_view Routed::param(std::string_view name) const {
  const auto found =
      std::ranges::find(params, name, [](const auto& param) { return std::string_view(param.first); });
  return found == params.end() ? std::string_view{} : std::string_view(found->second);
}

Router::Router(OriginGuard guard, std::shared_ptr<Authenticator> authenticator)
    : guard_(std::move(guard)), authenticator_(std::move(authenticator)) {}

void Router::add(std::string method, std::string_view pattern, Handler handler, Access access) {
  Endpoint endpoint{std::move(handler), access};
  if (pattern.find_first_of(":*") == std::string_view::npos) {
    exact_[std::string(pattern)].methods.insert_or_assign(std::move(method), std::move(endpoint));
    return;
  }
  auto found =
      std::ranges::find(patterns_, pattern, [](const auto& entry) { return std::string_view(entry.first); });
  if (found == patterns_.end())
    found = patterns_.insert(patterns_.end(), {std::string(pattern), Resource{split_path(pattern), {}}});
  found->second.methods.insert_or_assign(std::move(method), std::move(endpoint));
}

const Router::Resource* Router::find(std::string_view path, Routed& routed) const {
  if (const auto exact = exact_.find(path); exact != exact_.end()) return &exact->second;
  std::vector<std::string> segments = split_path(path);
  for (std::string& segment : segments) {
    auto decoded = find_percent_decoded(segment);
    if (!decoded) return nullptr;
    segment = std::move(*decoded);
  }
  for (const auto& [pattern, resource] : patterns_)
    if (matches(resource.segments, segments, routed)) return &resource;
  return nullptr;
}

io::Task<void> Router::handle(HttpExchange& exchange) {
  if (auto allowed = guard_.check(exchange.request()); !allowed) {
    HttpResponse refusal = error_response(allowed.error());
    co_return co_await exchange.respond(std::move(refusal));
  }
  if (!exchange.request().headers.find("Origin")) co_return co_await dispatch(exchange);
  CorsExchange readable(exchange, guard_.cors_headers(exchange.request()));
  auto done = co_await dispatch(readable);
  if (done || readable.answered()) co_return done;
  HttpResponse failure = error_response(done.error());
  co_return co_await readable.respond(std::move(failure));
}

io::Task<void> Router::dispatch(HttpExchange& exchange) {
  const HttpRequest& request = exchange.request();
  if (request.method == "OPTIONS" && request.headers.find("Access-Control-Request-Method")) {
    HttpResponse preflight = guard_.answer_preflight(request);
    // The surrounding exchange adds the origin fields itself.
    for (const auto& [name, value] : guard_.cors_headers(request)) preflight.headers.remove(name);
    co_return co_await exchange.respond(std::move(preflight));
  }
  Routed routed;
  const Resource* resource = find(raw_path(request), routed);
  if (!resource) co_return fail(not_found("there is nothing at " + request.path));
  const std::string_view method = request.method;
  auto endpoint = resource->methods.find(method);
  if (endpoint == resource->methods.end() && method == "HEAD")
    endpoint = resource->methods.find(std::string_view("GET"));
  if (endpoint != resource->methods.end())
    co_return co_await call(exchange, endpoint->second, std::move(routed));
  HttpResponse response =
      text_response(method == "OPTIONS" ? 204 : 405, method == "OPTIONS" ? "" : "method not allowed\n");
  response.headers.add("Allow", allow_list(resource->methods));
  co_return co_await exchange.respond(std::move(response));
}

io::Task<void> Router::call(HttpExchange& exchange, const Endpoint& endpoint, Routed routed) {
  if (endpoint.access == Access::authenticated) {
    auto principal =
        authenticator_ ? authenticator_->authenticate(exchange.request()) : Result<std::string>("local");
    if (!principal) {
      HttpResponse refusal = error_response(principal.error());
      if (refusal.status == 401)
        refusal.headers.add("WWW-Authenticate", authenticator_->challenge(exchange.request()));
      co_return co_await exchange.respond(std::move(refusal));
    }
    routed.principal = std::move(*principal);
  }
  co_return co_await endpoint.handler(exchange, routed);
}

}  // namespace relay::net
