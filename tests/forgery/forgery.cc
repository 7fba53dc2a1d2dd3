// Attempts to run something without permission or without a record. Each case must fail to compile, for the
// reason that CMakeLists.txt expects; the control must compile, so that a failure is never about something
// else.
#include "authority/recorded.h"
#include "policy/engine.h"
#ifdef WITH_JOURNAL
#include "audit/journal.h"
#endif
#ifdef WITH_EXECUTOR
#include "executors/executor.h"
#endif
#ifdef WITH_UPSTREAM
#include "upstream/upstream.h"
#endif
#ifdef WITH_FILES
#include "vfs/workspace.h"
#endif
#ifdef WITH_FETCH
#include "fetch/guarded_fetch.h"
#endif
#ifdef WITH_PACKAGES
#include "packages/packages.h"
#endif
#ifdef WITH_RUNS
#include "runs/file_service.h"
#include "runs/run_code.h"
#endif

using namespace relay;

// What every executor looks like.
int execute(const authority::Recorded& recorded);

#ifdef CONTROL
authority::Grant admit(const policy::PolicyEngine& engine, authority::Call call) {
  return std::get<authority::Grant>(engine.admit(std::move(call)));
}
int run(const authority::Recorded& recorded) {
  return execute(recorded);
}
#endif

#ifdef CONTROL_JOURNAL
io::Task<void> whole_life(audit::Journal& journal, authority::Grant grant) {
  RELAY_CO_TRY(authority::Recorded recorded, co_await journal.open(std::move(grant)));
  execute(recorded);
  co_return co_await journal.close(std::move(recorded), authority::Outcome{});
}
#endif

#ifdef MINT_GRANT
authority::Grant forge(authority::Call call, authority::Decision decision) {
  return authority::Grant(std::move(call), std::move(decision));
}
#endif

#ifdef COPY_GRANT
authority::Grant twice(const authority::Grant& grant) {
  return grant;
}
#endif

#ifdef MINT_RECORDED
authority::Recorded forge(authority::RecordKeeper& keeper, authority::Grant grant) {
  return authority::Recorded(keeper, std::move(grant));
}
#endif

#ifdef COPY_RECORDED
authority::Recorded twice(const authority::Recorded& recorded) {
  return recorded;
}
#endif

#ifdef MINT_CONFIRMED
policy::Confirmed forge(const Sha256& digest) {
  return policy::Confirmed(digest, "token");
}
#endif

#ifdef EXECUTE_UNRECORDED
int run(const authority::Grant& grant) {
  return execute(grant);
}
#endif

#ifdef RUN_RECORDED
io::Task<executors::RunOutcome> run(executors::Executor& local, const authority::Recorded& recorded,
                                    executors::RunRequest request, executors::RunObserver& observer) {
  return local.run(recorded, std::move(request), nullptr, observer);
}
#endif

#ifdef RUN_UNRECORDED
io::Task<executors::RunOutcome> run(executors::Executor& local, executors::RunRequest request,
                                    executors::RunObserver& observer) {
  return local.run(std::move(request), nullptr, observer);
}
#endif

#ifdef RUN_GRANTED
io::Task<executors::RunOutcome> run(executors::Executor& local, const authority::Grant& grant,
                                    executors::RunRequest request, executors::RunObserver& observer) {
  return local.run(grant, std::move(request), nullptr, observer);
}
#endif

#ifdef CLOSE_TWICE
io::Task<void> twice(audit::Journal& journal, authority::Recorded& recorded) {
  co_return co_await journal.close(recorded, authority::Outcome{});
}
#endif

#ifdef CLOSE_BORROWED
io::Task<void> from_inside_an_executor(audit::Journal& journal, const authority::Recorded& recorded) {
  co_return co_await journal.close(std::move(recorded), authority::Outcome{});
}
#endif

#ifdef MINT_EFFECTS
void forge(std::shared_ptr<authority::EffectWriter> writer, const authority::Call& call) {
  authority::Effects effects(std::move(writer), call);
}
#endif

#ifdef ASK_RECORDED
io::Task<peer::PeerAnswer> ask(upstream::Upstream& server, const authority::Recorded& recorded,
                               upstream::PassedCall call, peer::RequestScope& scope) {
  return server.request(recorded, std::move(call), scope);
}
io::Task<peer::PeerAnswer> complete(upstream::Upstream& server, const authority::Caller& caller,
                                    std::string params, peer::RequestScope& scope) {
  return server.complete(authority::Unrecorded::completion(caller), std::move(params), scope);
}
io::Task<void> watch(upstream::Upstream& server, const authority::Recorded& recorded) {
  return server.watch(recorded, "file:///a");
}
#endif

#ifdef ASK_UNRECORDED
io::Task<peer::PeerAnswer> ask(upstream::Upstream& server, upstream::PassedCall call,
                               peer::RequestScope& scope) {
  return server.request(call, call, scope);
}
#endif

#ifdef ASK_GRANTED
io::Task<peer::PeerAnswer> ask(upstream::Upstream& server, const authority::Grant& grant,
                               upstream::PassedCall call, peer::RequestScope& scope) {
  return server.request(grant, std::move(call), scope);
}
#endif

#ifdef ASK_EXEMPT
io::Task<peer::PeerAnswer> ask(upstream::Upstream& server, authority::Unrecorded permit,
                               upstream::PassedCall call, peer::RequestScope& scope) {
  return server.request(permit, std::move(call), scope);
}
#endif

#ifdef ASK_BEHIND_THE_DOOR
io::Task<peer::PeerAnswer> ask(upstream::Upstream& server, peer::Outgoing outgoing,
                               peer::RequestScope& scope) {
  return server.send(std::move(outgoing), scope);
}
#endif

#ifdef WATCH_UNRECORDED
io::Task<void> watch(upstream::Upstream& server) {
  return server.watch("file:///a");
}
#endif

#ifdef MINT_UNRECORDED
authority::Unrecorded forge(authority::Caller caller) {
  return authority::Unrecorded(authority::Unrecorded::Reason::listing, std::move(caller));
}
#endif

#ifdef OPEN_FILES_RECORDED
Result<std::shared_ptr<vfs::Tree>> open(vfs::Trees& trees, const authority::Recorded& recorded) {
  return trees.open_tree(recorded);
}
Result<std::shared_ptr<vfs::Tree>> list(vfs::Trees& trees, const authority::Caller& caller) {
  return trees.open_tree(authority::Unrecorded::listing(caller));
}
#endif

#ifdef OPEN_FILES_UNRECORDED
Result<std::shared_ptr<vfs::Tree>> open(vfs::Trees& trees, const vfs::Holder& holder) {
  return trees.open_tree(holder);
}
#endif

#ifdef OPEN_FILES_GRANTED
Result<std::shared_ptr<vfs::Tree>> open(vfs::Trees& trees, const authority::Grant& grant) {
  return trees.open_tree(grant);
}
#endif

#ifdef FETCH_RECORDED
auto fetch_for(const authority::Recorded& recorded, io::Loop loop, net::HttpClient& http,
               fetch::FetchRules rules) {
  return fetch::GuardedFetch::make(recorded, loop, http, rules, {});
}
#endif

#ifdef FETCH_UNRECORDED
auto fetch_for(io::Loop loop, net::HttpClient& http, fetch::FetchRules rules) {
  return fetch::GuardedFetch::make(loop, http, rules, {});
}
#endif

#ifdef FETCH_GRANTED
auto fetch_for(const authority::Grant& grant, io::Loop loop, net::HttpClient& http, fetch::FetchRules rules) {
  return fetch::GuardedFetch::make(grant, loop, http, rules, {});
}
#endif

#ifdef INSTALL_RECORDED
auto install(packages::Packages& packages, const authority::Recorded& recorded, const json::object& wanted) {
  return packages.resolve(recorded, capsule::Language::js, wanted, "", {}, {}, {});
}
auto start(packages::ToolRunner& tools, const authority::Recorded& recorded, packages::ToolCall call) {
  return tools.run(recorded.effects(), std::move(call), {});
}
#endif

#ifdef INSTALL_UNRECORDED
auto install(packages::Packages& packages, const json::object& wanted) {
  return packages.resolve(capsule::Language::js, wanted, "", {}, {}, {});
}
#endif

#ifdef START_PROCESS_UNRECORDED
auto start(packages::ToolRunner& tools, packages::ToolCall call) {
  return tools.run(std::move(call), {});
}
#endif

#ifdef SERVE_GUEST_RECORDED
runs::FileService serve(const authority::Recorded& recorded, io::ThreadPool& pool,
                        std::shared_ptr<vfs::Tree> tree) {
  return runs::FileService(recorded, pool, std::move(tree));
}
auto run(const runs::RunDependencies& world, const authority::Recorded& recorded,
         executors::RunObserver& observer) {
  return runs::run_code(world, recorded, runs::CodeRun{}, observer);
}
#endif

#ifdef SERVE_GUEST_UNRECORDED
std::shared_ptr<runs::FileService> serve(io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree) {
  return std::shared_ptr<runs::FileService>(new runs::FileService(pool, std::move(tree)));
}
#endif

#ifdef RUN_CODE_UNRECORDED
auto run(const runs::RunDependencies& world, executors::RunObserver& observer) {
  return runs::run_code(world, runs::CodeRun{}, observer);
}
#endif
