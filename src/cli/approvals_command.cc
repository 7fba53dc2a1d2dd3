#include "cli/approvals_command.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/printable.h"
#include "world/approval_files.h"

namespace relay::cli {
namespace {

using world::PendingApproval;

constexpr auto kAnswerPatience = std::chrono::seconds(10);  // a Relay that runs takes an answer at once
constexpr auto kAnswerPause = std::chrono::milliseconds(20);

json::object to_json(const PendingApproval& pending) {
  return {{"id", pending.id},        {"kind", world::name_of(pending.kind)}, {"summary", pending.summary},
          {"since", pending.since},  {"expires", pending.expires},           {"pid", pending.pid},
          {"detail", pending.detail}};
}

// Texts come from clients and servers: a terminal must not obey them.
std::string plain(std::string_view text) {
  return printable(text, '?');
}

int list(const CommandOptions& options, const std::vector<PendingApproval>& all) {
  if (options.json) {
    json::array items;
    for (const PendingApproval& pending : all) items.push_back(to_json(pending));
    fmt::print("{}\n", json::write_pretty(items));
    return 0;
  }
  for (const PendingApproval& pending : all)
    fmt::print("{}  {:6}  {}  {}\n", pending.id, world::name_of(pending.kind), pending.since,
               plain(pending.summary));
  if (all.empty()) fmt::print("nothing waits\n");
  return 0;
}

int show(const CommandOptions& options, const PendingApproval& pending) {
  if (options.json) {
    fmt::print("{}\n", json::write_pretty(to_json(pending)));
    return 0;
  }
  fmt::print("{}  {}\n{}\nsince {}{}\n", pending.id, world::name_of(pending.kind), plain(pending.summary),
             pending.since, pending.expires.empty() ? "" : ", until " + pending.expires);
  for (const auto& member : pending.detail) {
    const json::value& value = member.value();
    fmt::print("{}: {}\n", std::string_view(member.key()),
               plain(value.is_string() ? json::view(value.get_string()) : json::write(value)));
  }
  return 0;
}

std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? fmt::format("{} (uid {})", entry->pw_name, ::getuid()) : fmt::format("uid {}", ::getuid());
}

bool waits(const std::filesystem::path& state, const std::string& id) {
  return std::ranges::any_of(world::list_pending(state),
                             [&](const PendingApproval& pending) { return pending.id == id; });
}

// Relay removes what was answered; until then nothing is certain.
int answer(const CommandOptions& options, const std::filesystem::path& state,
           const PendingApproval& pending) {
  const bool approved = options.command == Command::approvals_approve;
  const world::ApprovalAnswer given{pending.id, approved, options.reason, user_name()};
  if (const auto written = world::write_answer(state, given); !written) {
    fmt::print(stderr, "relay: {}\n", written.error().message);
    return 1;
  }
  const auto end = std::chrono::steady_clock::now() + kAnswerPatience;
  while (waits(state, pending.id)) {
    if (std::chrono::steady_clock::now() > end) {
      fmt::print(stderr, "relay: the answer is written, but process {} has not taken it yet\n", pending.pid);
      return 1;
    }
    std::this_thread::sleep_for(kAnswerPause);
  }
  const char* done = approved ? "approved" : "denied";
  if (options.json)
    fmt::print("{}\n", json::write_pretty(json::object{{"id", pending.id}, {"answer", done}}));
  else
    fmt::print("{} {}: {}\n", done, pending.id, plain(pending.summary));
  return 0;
}

// Without an id the only one that waits is meant. The beginning of an id is enough when it is the only one.
const PendingApproval* choose(const std::vector<PendingApproval>& all, const std::string& id) {
  const PendingApproval* chosen = nullptr;
  for (const PendingApproval& pending : all) {
    if (!pending.id.starts_with(id)) continue;
    if (chosen) {
      fmt::print(stderr, "relay: several wait; `relay approvals list` names them, add an id\n");
      return nullptr;
    }
    chosen = &pending;
  }
  if (!chosen)
    fmt::print(stderr, "relay: {}; `relay approvals list` says what waits\n",
               id.empty() ? "nothing waits" : fmt::format("nothing waits under the id {}", plain(id)));
  return chosen;
}

}  // namespace

int run_approvals(const CommandOptions& options, const config::Config& config) {
  const std::vector<PendingApproval> all = world::list_pending(config.state);
  if (options.command == Command::approvals_list) return list(options, all);
  const PendingApproval* chosen = choose(all, options.request_id);
  if (!chosen) return 2;
  if (options.command == Command::approvals_show) return show(options, *chosen);
  return answer(options, config.state, *chosen);
}

}  // namespace relay::cli
