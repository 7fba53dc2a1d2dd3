// Subscriptions: who wants to hear what. Listen streams of the modern era live here; legacy sessions keep
// their own set of URIs. Both are counted together, so that the backend watches a resource once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/event.h"
#include "mcp/reply.h"
#include "protocol/jsonrpc.h"
#include "serving/backend.h"

namespace relay::mcp {

/// What a listen stream asked for, and what of it we honour.
struct ListenFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string, std::less<>> uris;
  std::set<std::string, std::less<>> tasks;
};

Result<ListenFilter> parse_listen_filter(const json::object& params);
std::string write_listen_filter(const ListenFilter& filter);

struct Listener {
  protocol::Id id;  // of the listen request: it names the subscription
  authority::Caller caller;
  ListenFilter filter;
  std::shared_ptr<Reply> reply;
};

class Subscriptions {
 public:
  explicit Subscriptions(serving::Backend& backend) : backend_(backend) {}

  /// Fails with `busy` over limits::kListenStreams.
  Result<void> add(std::shared_ptr<Listener> listener);
  void remove(const std::shared_ptr<Listener>& listener);
  /// Ends every stream properly.
  void stop(std::string_view server_info);

  /// Counts uses of a resource, each view for itself. A watch that fails is not counted, for nobody who
  /// waited for it.
  io::Task<void> watch(const authority::Caller& caller, std::string uri);
  void unwatch(const authority::Caller& caller, std::string_view uri);
  [[nodiscard]] std::size_t watched() const { return watched_.size(); }

  /// Sends a notification to the listeners that `wants` picks, each tagged with its subscription.
  template <class Wants>
  void notify(Wants wants, std::string_view method, std::string_view members) {
    for (const auto& listener : listeners_)
      if (wants(listener->filter)) send(*listener, method, members);
  }
  /// The listeners that subscribed to a resource and see it in this view.
  void notify_updated(std::string_view uri, std::string_view view, std::string_view members);
  static void send(Listener& listener, std::string_view method, std::string_view members);
  [[nodiscard]] std::size_t listeners() const { return listeners_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // view and URI
  struct Watch {
    explicit Watch(const io::Loop& executor) : settled(executor) {}
    std::size_t uses = 1;
    io::Event settled;  // the backend has answered
    Result<void> answer;
    void settle(Result<void> with) {
      answer = std::move(with);
      settled.set();
    }
  };
  struct Use;
  void leave(const Key& key, const authority::Caller& caller);

  serving::Backend& backend_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::map<Key, std::shared_ptr<Watch>> watched_;
};

}  // namespace relay::mcp
