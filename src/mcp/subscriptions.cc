#include "mcp/subscriptions.h"

#include "base/limits.h"
#include "mcp/result_members.h"
#include "protocol/json_writer.h"
#include "protocol/modern_envelope.h"

namespace relay::mcp {
namespace {

Result<std::set<std::string, std::less<>>> parse_texts(const json::object& members, std::string_view key) {
  std::set<std::string, std::less<>> texts;
  const json::value* given = json::find(members, key);
  if (!given) return texts;
  if (!given->is_array()) return fail(invalid(std::string(key) + " must be an array of strings"));
  if (given->get_array().size() > limits::kSubscriptionsPerClient)
    return fail(invalid(std::string(key) + " has too many entries"));
  for (const json::value& item : given->get_array()) {
    if (!item.is_string() || item.get_string().size() > limits::kUriBytes)
      return fail(invalid(std::string(key) + " must be an array of strings"));
    texts.emplace(json::view(item.get_string()));
  }
  return texts;
}

void write_texts(protocol::ObjectWriter& writer, std::string_view key,
                 const std::set<std::string, std::less<>>& texts) {
  if (texts.empty()) return;
  writer.array(key, texts, [](std::string& out, const std::string& text) { json::append_quoted(out, text); });
}

std::string subscription_meta(const protocol::Id& id) {
  std::string meta;
  protocol::ObjectWriter writer(meta);
  writer.raw(protocol::meta::kSubscription, id.text());
  writer.finish();
  return meta;
}

}  // namespace

Result<ListenFilter> parse_listen_filter(const json::object& params) {
  const json::object* wanted = json::find_object(params, "notifications");
  if (!wanted) return fail(invalid("params.notifications must be an object"));
  ListenFilter filter;
  filter.tools = json::find_bool(*wanted, "toolsListChanged").value_or(false);
  filter.prompts = json::find_bool(*wanted, "promptsListChanged").value_or(false);
  filter.resources = json::find_bool(*wanted, "resourcesListChanged").value_or(false);
  RELAY_TRY(filter.uris, parse_texts(*wanted, "resourceSubscriptions"));
  RELAY_TRY(filter.tasks, parse_texts(*wanted, "taskIds"));
  return filter;
}

std::string write_listen_filter(const ListenFilter& filter) {
  std::string out;
  protocol::ObjectWriter writer(out);
  if (filter.tools) writer.flag("toolsListChanged", true);
  if (filter.prompts) writer.flag("promptsListChanged", true);
  if (filter.resources) writer.flag("resourcesListChanged", true);
  write_texts(writer, "resourceSubscriptions", filter.uris);
  write_texts(writer, "taskIds", filter.tasks);
  writer.finish();
  return out;
}

Result<void> Subscriptions::add(std::shared_ptr<Listener> listener) {
  if (listeners_.size() >= limits::kListenStreams) return fail(busy("too many listen streams: close one"));
  listeners_.push_back(std::move(listener));
  return {};
}

void Subscriptions::remove(const std::shared_ptr<Listener>& listener) {
  if (std::erase(listeners_, listener) == 0) return;
  for (const std::string& uri : listener->filter.uris) unwatch(listener->caller, uri);
}

void Subscriptions::stop(std::string_view server_info) {
  for (const auto& listener : std::exchange(listeners_, {})) {
    ResultMembers outcome;
    const std::string meta = subscription_meta(listener->id);
    outcome.meta_members = members_of(meta);
    listener->reply->finish(
        {protocol::write_result(listener->id, write_modern_result(outcome, server_info)), 200});
  }
}

// Lives in a coroutine that may be unwound while it waits: then its use is given back, and whoever waits for
// the same answer hears that there is none.
struct Subscriptions::Use {
  std::shared_ptr<Watch> watch;
  enum class Part : std::uint8_t { asking, waiting } part;
  bool done = false;
  ~Use() {
    if (done) return;
    --watch->uses;
    if (part == Part::asking) watch->settle(fail(busy("the subscription was given up; try again")));
  }
};

io::Task<void> Subscriptions::watch(const authority::Caller& caller, std::string uri) {
  const authority::Caller who = caller;
  const Key key{backend_.view_of(who, uri), uri};
  const auto found = watched_.find(key);
  const bool shared = found != watched_.end() && (!found->second->settled.is_set() || found->second->answer);
  if (shared) {
    Use use{found->second, Use::Part::waiting};
    ++use.watch->uses;
    RELAY_CO_CHECK(co_await use.watch->settled.wait());
    use.done = true;
    co_return use.watch->answer;
  }
  const io::Loop executor = co_await io::asio::this_coro::executor;
  Use use{std::make_shared<Watch>(executor), Use::Part::asking};
  watched_.insert_or_assign(key, use.watch);
  auto answer = co_await backend_.watch(who, std::move(uri));
  use.done = true;
  use.watch->settle(std::move(answer));
  if (!use.watch->answer) {
    watched_.erase(key);
  } else if (use.watch->uses == 0) {  // everybody left while the backend was at it
    ++use.watch->uses;
    leave(key, who);
  }
  co_return use.watch->answer;
}

void Subscriptions::leave(const Key& key, const authority::Caller& caller) {
  const auto found = watched_.find(key);
  if (found == watched_.end() || --found->second->uses > 0 || !found->second->settled.is_set()) return;
  watched_.erase(found);
  backend_.unwatch(caller, key.second);
}

void Subscriptions::unwatch(const authority::Caller& caller, std::string_view uri) {
  leave({backend_.view_of(caller, uri), std::string(uri)}, caller);
}

void Subscriptions::notify_updated(std::string_view uri, std::string_view view, std::string_view members) {
  for (const auto& listener : listeners_) {
    const bool wants = listener->filter.uris.contains(uri) && backend_.view_of(listener->caller, uri) == view;
    if (wants) send(*listener, "notifications/resources/updated", members);
  }
}

void Subscriptions::send(Listener& listener, std::string_view method, std::string_view members) {
  std::string params;
  protocol::ObjectWriter writer(params);
  writer.members(members);
  writer.raw("_meta", subscription_meta(listener.id));
  writer.finish();
  listener.reply->send(protocol::write_notification(method, params));
}

}  // namespace relay::mcp
