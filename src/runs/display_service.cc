#include "runs/display_service.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/media_type.h"
#include "runs/file_service.h"

namespace relay::runs {
namespace {

using executors::HostCall;
using executors::HostReply;
using protocol::Content;

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
  return failed_reply(
      "OutputLimitExceeded",
      fmt::format("what display() gives may take {} bytes of one run's answer, escapes and base64 "
                  "included; write the rest to /out",
                  limits::kDisplayBytes));
}

}  // namespace

io::Task<HostReply> DisplayService::call(HostCall call) {
  const auto self = shared_from_this();
  const std::string path = text_argument(call, "path");
  std::string mime_type = text_argument(call, "mime");
  std::string bytes = std::move(call.body);
  if (!path.empty()) {
    auto read =
        co_await pool_.run([tree = tree_, path] { return tree->read(path, 0, limits::kDisplayBytes + 1); });
    if (!read) co_return failed_reply(read.error());
    bytes = std::move(read->bytes);
  }
  if (bytes.size() > limits::kDisplayBytes) co_return too_much_displayed();
  if (mime_type.empty()) mime_type = media_type_of(path, bytes);
  const std::string name = path.empty() ? text_argument(call, "name") : path.substr(path.rfind('/') + 1);
  Content content = shown(std::move(bytes), std::move(mime_type), name);
  const std::size_t size = answer_bytes(content);
  if (size > limits::kDisplayBytes - displayed_bytes_) co_return too_much_displayed();
  displayed_bytes_ += size;
  displayed_.push_back(std::move(content));
  co_return HostReply{};
}

}  // namespace relay::runs
