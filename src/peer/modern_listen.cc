#include "peer/modern_listen.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/json_writer.h"

namespace relay::peer {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause =
    std::chrono::milliseconds(500);  // before a stream that ended is opened again; doubles
constexpr auto kLongestPause = std::chrono::milliseconds(60'000);
constexpr auto kStable = 30s;  // a stream that lived so long begins with the shortest pause again
constexpr auto kAcknowledgement = 10s;

bool declares(const PeerInfo& info, std::string_view capability, std::string_view flag) {
  const json::object* found = json::find_object(info.capabilities, capability);
  return found && json::find_bool(*found, flag).value_or(false);
}

}  // namespace

ModernListen::ModernListen(std::shared_ptr<Dialogue> dialogue, const ModernSpeech& speech,
                           const PeerInfo& info)
    : dialogue_(dialogue),
      speech_(speech),
      tools_(declares(info, "tools", "listChanged")),
      prompts_(declares(info, "prompts", "listChanged")),
      resources_(declares(info, "resources", "listChanged")),
      subscribes_(declares(info, "resources", "subscribe")) {}

void ModernListen::start() {
  if (tools_ || prompts_ || resources_) current_ = open();
}

void ModernListen::stop() {
  if (current_) current_->cancel.cancel();
}

io::Task<void> ModernListen::watch(Uris uris) {
  const auto keep = shared_from_this();
  const auto dialogue = dialogue_.lock();
  if (!dialogue) co_return fail(cancelled());
  if (!subscribes_ && !uris.empty()) co_return fail(invalid("the server does not offer to watch resources"));
  if (uris == uris_) co_return Result<void>{};
  uris_ = std::move(uris);
  const auto before = std::exchange(current_, filter() == "{}" ? nullptr : open());
  const auto now = current_;
  if (now)
    RELAY_CO_CHECK(co_await now->settled.wait_until(std::chrono::steady_clock::now() + kAcknowledgement));
  if (before) before->cancel.cancel();
  if (now && now->error) co_return fail(*now->error);
  if (now && !now->acknowledged)
    co_return fail(timed_out("the server did not acknowledge what is to be watched"));
  co_return Result<void>{};
}

std::string ModernListen::filter() const {
  std::string out;
  protocol::ObjectWriter writer(out);
  if (tools_) writer.flag("toolsListChanged", true);
  if (prompts_) writer.flag("promptsListChanged", true);
  if (resources_) writer.flag("resourcesListChanged", true);
  if (!uris_.empty())
    writer.array("resourceSubscriptions", uris_,
                 [](std::string& to, const std::string& uri) { json::append_quoted(to, uri); });
  writer.finish();
  return out;
}

std::shared_ptr<ModernListen::Stream> ModernListen::open() {
  const auto dialogue = dialogue_.lock();
  if (!dialogue) return nullptr;
  auto stream = std::make_shared<Stream>(dialogue->executor());
  io::spawn(dialogue->executor(),
            keep_open(shared_from_this(), stream, R"({"notifications":)" + filter() + "}"), "upstream listen",
            stream->cancel);
  return stream;
}

io::Task<void> ModernListen::keep_open(std::shared_ptr<ModernListen> self, std::shared_ptr<Stream> stream,
                                       std::string params) {
  auto pause = kFirstPause;
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    RELAY_CO_TRY(const Result<void> ended, co_await self->listen_once(stream, params));
    if (!ended) stream->error = ended.error();
    stream->settled.set();
    const auto dialogue = self->dialogue_.lock();
    if (!dialogue || !dialogue->is_open()) co_return Result<void>{};
    // A server that refuses the very first stream refuses the next one too.
    if (!ended && !stream->acknowledged && ended.error().kind == ErrorKind::invalid) co_return Result<void>{};
    if (std::chrono::steady_clock::now() - began > kStable) pause = kFirstPause;
    RELAY_CO_CHECK(co_await io::sleep_for(pause));
    pause = std::min(2 * pause, kLongestPause);
  }
}

// The outer result is a cancelled or vanished connection, the inner one how the stream ended.
io::Task<Result<void>> ModernListen::listen_once(std::shared_ptr<Stream> stream, std::string_view params) {
  const auto dialogue = dialogue_.lock();
  if (!dialogue) co_return fail(cancelled());
  SilentScope nobody;
  auto acknowledged = [weak = weak_from_this(), stream](const json::object& honoured) {
    if (const auto self = weak.lock()) self->take_acknowledgement(*stream, honoured);
  };
  const auto answer =
      co_await dialogue->listen(speech_.put("subscriptions/listen", params, nobody), acknowledged);
  if (!answer) co_return Result<void>(std::unexpected(answer.error()));
  if (answer->outcome) co_return Result<void>{};
  co_return Result<void>(
      fail(invalid("the server refused subscriptions/listen: " + answer->outcome.error().message)));
}

void ModernListen::take_acknowledgement(Stream& stream, const json::object& params) {
  stream.acknowledged = true;
  stream.error.reset();
  stream.settled.set();
  const auto dialogue = dialogue_.lock();
  const json::object* honoured = json::find_object(params, "notifications");
  if (!dialogue || !honoured || uris_.empty()) return;
  const json::array* watched = json::find_array(*honoured, "resourceSubscriptions");
  const std::size_t count = watched ? watched->size() : 0;
  if (count < uris_.size())
    dialogue->oddity(fmt::format("the server watches only {} of {} resources", count, uris_.size()));
}

}  // namespace relay::peer
