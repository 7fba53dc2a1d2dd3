#include "runs/run_host.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/media_type.h"

namespace relay::runs {
namespace {

using executors::HostCall;
using executors::HostFailure;
using executors::HostReply;
using protocol::Content;

HostReply failure(std::string type, std::string message, std::string errno_name = {}) {
  return {.result = nullptr,
          .body = {},
          .failure = HostFailure{std::move(type), std::move(message), std::move(errno_name)}};
}

HostReply failure(const vfs::FileError& error) {
  const json::object told = vfs::to_guest_error(error);
  return failure(std::string(json::find_string(told, "type").value_or("Error")),
                 std::string(json::find_string(told, "message").value_or("")),
                 std::string(json::find_string(told, "errno").value_or("")));
}

std::string argument(const HostCall& call, std::string_view name) {
  return std::string(json::find_string(call.args, name).value_or(""));
}

// Calls that may leave a file where a user looks for results.
std::string written_path(const HostCall& call) {
  if (call.op == "fs.write" || call.op == "fs.truncate") return argument(call, "path");
  if (call.op == "fs.rename") return argument(call, "to");
  return {};
}

FileChange change_of(const HostCall& call) {
  const bool is_rename = call.op == "fs.rename";
  if (!is_rename && call.op != "fs.write" && call.op != "fs.truncate" && call.op != "fs.mkdir" &&
      call.op != "fs.remove")
    return {};
  return {.op = call.op,
          .path = argument(call, is_rename ? "from" : "path"),
          .to = is_rename ? argument(call, "to") : std::string(),
          .bytes = call.body.size()};
}

// As rules spell it, so that a path has one line however the guest writes it.
std::string clean(const std::string& text) {
  const auto path = vfs::parse_tree_path(text);
  return path ? path->text() : to_valid_utf8(text);
}

Content shown(std::string bytes, std::string mime_type, const std::string& name) {
  if (mime_type.starts_with("image/")) return protocol::image_content(bytes, std::move(mime_type));
  if (mime_type.starts_with("audio/")) return protocol::audio_content(bytes, std::move(mime_type));
  protocol::ResourceContents contents{
      .uri = "relay://display/" + name, .mime_type = mime_type, .body = {}, .meta = {}};
  if (is_valid_utf8(bytes))
    contents.body = std::move(bytes);
  else
    contents.body = std::vector<std::byte>(as_bytes(bytes).begin(), as_bytes(bytes).end());
  return protocol::EmbeddedResource{std::move(contents), {}};
}

// What a piece of content takes in the answer: escapes make text six times as long, base64 makes bytes a
// third longer, and names and types are the guest's, too.
std::size_t answer_bytes(const Content& content) {
  std::string text;
  protocol::append_json(text, content, protocol::kLatestModern);
  return text.size();
}

HostReply too_much_displayed() {
  return failure("OutputLimitExceeded",
                 fmt::format("what display() gives may take {} bytes of one run's answer, escapes and base64 "
                             "included; write the rest to /out",
                             limits::kDisplayBytes));
}

}  // namespace

io::Task<HostReply> RunHost::call(HostCall call, executors::HostStream&) {
  if (vfs::GuestFiles::handles(call.op)) co_return co_await file_call(std::move(call));
  if (call.op == "fetch" || call.op.starts_with("fetch.")) co_return co_await network_->call(std::move(call));
  if (call.op == "display") co_return co_await display(std::move(call));
  if (call.op == "input") co_return co_await input();
  if (codemode::RunServers::handles(call.op)) co_return co_await mcp_call(std::move(call));
  co_return failure("ValidationError", fmt::format("unknown operation \"{}\"", utf8_prefix(call.op, 64)));
}

io::Task<HostReply> RunHost::input() {
  std::string piece;
  if (read_input_) {
    auto read = co_await pool_.run(read_input_);
    if (!read) co_return failure(std::string(read.error().face().type), read.error().message);
    piece = std::move(*read);
  }
  json::object result{{"eof", piece.empty()}};
  co_return HostReply{.result = std::move(result), .body = std::move(piece), .failure = {}};
}

io::Task<HostReply> RunHost::file_call(HostCall call) {
  const std::string output = written_path(call);
  const FileChange change = change_of(call);
  auto work = [files = files_, moved = std::move(call)]() mutable {
    return files->perform(moved.op, moved.args, std::move(moved.body));
  };
  FileOutcome done = co_await pool_.run(std::move(work));
  if (!change.op.empty()) note_change(change, done);
  if (!done) co_return failure(done.error());
  note_output(output);
  co_return HostReply{.result = std::move(done->result), .body = std::move(done->body), .failure = {}};
}

void RunHost::note_output(std::string_view path) {
  if (path.starts_with("/out/") && outputs_.size() < limits::kRunArtifacts) outputs_.emplace(path);
}

// The workspace is the guest's own; what it does to the user's files is on record, refusals of a policy too.
void RunHost::note_change(const FileChange& change, const FileOutcome& done) {
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

io::Task<HostReply> RunHost::display(HostCall call) {
  const std::string path = argument(call, "path");
  std::string mime_type = argument(call, "mime");
  std::string bytes = std::move(call.body);
  if (!path.empty()) {
    auto read =
        co_await pool_.run([tree = tree_, path] { return tree->read(path, 0, limits::kDisplayBytes + 1); });
    if (!read) co_return failure(read.error());
    bytes = std::move(read->bytes);
  }
  if (bytes.size() > limits::kDisplayBytes) co_return too_much_displayed();
  if (mime_type.empty()) mime_type = media_type_of(path, bytes);
  const std::string name = path.empty() ? argument(call, "name") : path.substr(path.rfind('/') + 1);
  Content content = shown(std::move(bytes), std::move(mime_type), name);
  const std::size_t size = answer_bytes(content);
  if (size > limits::kDisplayBytes - displayed_bytes_) co_return too_much_displayed();
  displayed_bytes_ += size;
  displayed_.push_back(std::move(content));
  co_return HostReply{};
}

io::Task<HostReply> RunHost::mcp_call(HostCall call) {
  if (!servers_) co_return failure("NotFound", "there are no MCP servers in this run");
  auto answer =
      co_await servers_->perform(std::move(call.op), std::move(call.args), std::move(call.args_text));
  if (!answer) co_return failure(std::string(answer.error().face().type), answer.error().message);
  co_return HostReply{.result = nullptr, .body = {}, .failure = {}, .result_text = *std::move(answer)};
}

io::Task<std::vector<Artifact>> RunHost::artifacts() {
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
