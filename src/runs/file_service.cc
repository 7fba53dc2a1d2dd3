#include "runs/file_service.h"

#include <utility>

#include "base/bytes.h"
#include "base/media_type.h"

namespace relay::runs {
namespace {

using executors::HostCall;
using executors::HostReply;

// Calls that may leave a file where a user looks for results.
std::string written_path(const HostCall& call) {
  if (call.op == "fs.write" || call.op == "fs.truncate") return text_argument(call, "path");
  if (call.op == "fs.rename") return text_argument(call, "to");
  return {};
}

FileChange change_of(const HostCall& call) {
  const bool is_rename = call.op == "fs.rename";
  if (!is_rename && call.op != "fs.write" && call.op != "fs.truncate" && call.op != "fs.mkdir" &&
      call.op != "fs.remove")
    return {};
  return {.op = call.op,
          .path = text_argument(call, is_rename ? "from" : "path"),
          .to = is_rename ? text_argument(call, "to") : std::string(),
          .bytes = call.body.size()};
}

// As rules spell it, so that a path has one line however the guest writes it.
std::string clean(const std::string& text) {
  const auto path = vfs::parse_tree_path(text);
  return path ? path->text() : to_valid_utf8(text);
}

}  // namespace

HostReply failed_reply(const vfs::FileError& error) {
  const json::object told = vfs::to_guest_error(error);
  return failed_reply(std::string(json::find_string(told, "type").value_or("Error")),
                      std::string(json::find_string(told, "message").value_or("")),
                      std::string(json::find_string(told, "errno").value_or("")));
}

io::Task<HostReply> FileService::call(HostCall call) {
  const auto self = shared_from_this();
  const std::string output = written_path(call);
  const FileChange change = change_of(call);
  auto work = [files = files_, moved = std::move(call)]() mutable {
    return files->perform(moved.op, moved.args, std::move(moved.body));
  };
  Done done = co_await pool_.run(std::move(work));
  if (!change.op.empty()) note_change(change, done);
  if (!done) co_return failed_reply(done.error());
  note_output(output);
  co_return HostReply{.result = std::move(done->result), .body = std::move(done->body), .failure = {}};
}

void FileService::note_output(std::string_view path) {
  if (path.starts_with("/out/") && outputs_.size() < limits::kRunArtifacts) outputs_.emplace(path);
}

// The workspace is the guest's own; what it does to the user's files is on record, refusals of a policy too.
void FileService::note_change(const FileChange& change, const Done& done) {
  const auto is_host = [this](const std::string& path) {
    return !path.empty() && tree_->area_of(path) == vfs::Tree::Area::host;
  };
  if (!is_host(change.path) && !is_host(change.to)) return;
  const bool refused = !done && done.error().kind == ErrorKind::denied;
  if (!done && !refused) return;
  authority::SideEffect effect{
      .tool = change.op, .tier = authority::Tier::stateful, .target = {{"path", clean(change.path)}}};
  if (!change.to.empty()) effect.target["to"] = clean(change.to);
  if (done) effect.sent_bytes = change.bytes;
  if (refused) {
    effect.ending = authority::Ending::denied;
    effect.rung = "filesystem";
    effect.reason = done.error().message;
  }
  effects_->add(std::move(effect));
}

io::Task<std::vector<Artifact>> FileService::artifacts() {
  if (outputs_.empty()) co_return std::vector<Artifact>{};
  auto stat_all = [tree = tree_, paths = outputs_]() -> Result<std::vector<Artifact>> {
    std::vector<Artifact> found;
    for (const std::string& path : paths)
      if (const auto stat = tree->stat(path)) found.push_back({path, stat->size, media_type_of(path)});
    return found;
  };
  co_return co_await pool_.run(std::move(stat_all));
}

}  // namespace relay::runs
