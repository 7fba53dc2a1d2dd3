#include "mcp/server.h"

#include <boost/asio/post.hpp>

#include "mcp/open_calls.h"
#include "mcp/parked_calls.h"
#include "mcp/session_store.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

constexpr auto kSweepEvery = std::chrono::seconds(30);

io::Task<void> sweep(std::weak_ptr<SessionStore> weak) {
  for (;;) {
    RELAY_CO_CHECK(co_await io::sleep_for(kSweepEvery));
    const auto sessions = weak.lock();
    if (!sessions) co_return Result<void>{};
    sessions->sweep();
  }
}

ServerOptions with_key(ServerOptions options, const IdMaker& ids) {
  if (options.state_key.empty()) options.state_key = ids.make_secret(32);
  return options;
}

std::string write_info(const serving::Backend& backend) {
  std::string out;
  protocol::append_json(out, backend.identity().info, protocol::kLatestModern);
  return out;
}

std::string uri_member(std::string_view uri) {
  std::string out = "\"uri\":";
  json::append_quoted(out, uri);
  return out;
}

}  // namespace

Server::Server(io::Loop executor, serving::Backend& backend, const Clock& clock, IdMaker ids,
               ServerOptions options)
    : executor_(std::move(executor)),
      backend_(backend),
      clock_(clock),
      ids_(std::move(ids)),
      options_(with_key(std::move(options), ids_)),
      server_info_(write_info(backend)),
      open_calls_(std::make_shared<OpenCalls>(executor_)),
      sessions_(std::make_shared<SessionStore>(clock, ids_, options_.session_idle)),
      parked_(std::make_unique<ParkedCalls>()),
      subscriptions_(std::make_unique<Subscriptions>(backend)),
      tasks_(std::make_unique<TaskStore>(executor_, clock, ids_,
                                         [this](const TaskRecord& task) { announce_task(task); })) {
  backend_.set_event_sink([this](const protocol::ServerEvent& event) { tell_clients(event); });
  io::spawn(executor_, sweep(sessions_), "session sweep", sweeping_);
}

Server::~Server() {
  stop();
}

io::Task<void> Server::answer_all() {
  co_return co_await io::with_timeout(open_calls_->stop(), limits::kShutdownGrace,
                                      "some calls did not end in time");
}

void Server::stop() {
  backend_.set_event_sink({});
  sweeping_.cancel();
  sessions_->end_all();
  subscriptions_->stop(server_info_);
  parked_->stop();
  tasks_->stop();
}

void Server::tell_clients(const protocol::ServerEvent& event) {
  if (const auto* change = std::get_if<protocol::ListChanged>(&event)) return announce_later(change->list);
  if (const auto* update = std::get_if<protocol::ResourceUpdated>(&event)) return announce_update(*update);
  announce_log(std::get<protocol::LogLine>(event));
}

void Server::announce_later(protocol::ListKind list) {
  if (std::exchange(announcing_[static_cast<std::size_t>(list)], true)) return;
  io::asio::post(executor_, [this, list, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) announce(list);
  });
}

void Server::announce(protocol::ListKind list) {
  announcing_[static_cast<std::size_t>(list)] = false;
  constexpr std::string_view kMethods[] = {"notifications/tools/list_changed",
                                           "notifications/resources/list_changed",
                                           "notifications/prompts/list_changed"};
  const std::string_view method = kMethods[static_cast<std::size_t>(list)];
  sessions_->for_each([&](Session& session) {
    if (session.initialized) session.unsolicited->send(protocol::write_notification(method, {}));
  });
  const auto wants = [list](const ListenFilter& filter) {
    switch (list) {
      case protocol::ListKind::tools: return filter.tools;
      case protocol::ListKind::prompts: return filter.prompts;
      case protocol::ListKind::resources: return filter.resources;
    }
    return false;
  };
  subscriptions_->notify(wants, method, {});
}

void Server::announce_update(const protocol::ResourceUpdated& update) {
  const auto& [uri, view] = update;
  const std::string member = uri_member(uri);
  sessions_->for_each([&](Session& session) {
    if (session.subscriptions.contains(uri) && backend_.view_of(session.caller, uri) == view)
      session.unsolicited->send(
          protocol::write_notification("notifications/resources/updated", "{" + member + "}"));
  });
  subscriptions_->notify_updated(uri, view, member);
}

void Server::announce_log(const protocol::LogLine& line) {
  const protocol::LogLevel level = line.level;
  std::string params;
  protocol::ObjectWriter writer(params);
  writer.text("level", protocol::name_of(level));
  writer.text_if("logger", line.logger);
  writer.raw("data", json::write(line.data));
  writer.finish();
  sessions_->for_each([&](Session& session) {
    if (session.initialized && level >= session.level)
      session.unsolicited->send(protocol::write_notification("notifications/message", params));
  });
}

void Server::announce_task(const TaskRecord& task) {
  if (task.era == protocol::Era::modern) {
    const auto wants = [&](const ListenFilter& filter) { return filter.tasks.contains(task.id); };
    subscriptions_->notify(wants, "notifications/tasks",
                           write_modern_task_details(task, protocol::kLatestModern, server_info_));
    return;
  }
  sessions_->for_each([&](Session& session) {
    if (session.caller.session_id == task.session_id)
      session.unsolicited->send(
          protocol::write_notification("notifications/tasks/status", write_legacy_task(task)));
  });
}

}  // namespace relay::mcp
