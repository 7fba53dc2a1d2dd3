#include "practice.h"

#include <fmt/format.h>

#include "base/json.h"

namespace relay::zygote {

using sandbox::FrameKind;

namespace {

std::string refusal(std::string_view call_header) {
  const Result<json::object> call = json::parse_object(call_header);
  const std::int64_t id = call ? json::find_int(*call, "id").value_or(0) : 0;
  return fmt::format(
      R"({{"id":{},"ok":false,"error":{{"type":"Error","message":"no such file","errno":"ENOENT"}}}})", id);
}

}  // namespace

void Practice::start(std::string header, std::string body) {
  frames_.push_back({FrameKind::start, std::move(header), std::move(body)});
}

void Practice::send(FrameKind kind, std::string_view header) {
  if (kind == FrameKind::call) frames_.push_front({FrameKind::reply, refusal(header), {}});
  if (kind == FrameKind::done && first_done_.empty()) first_done_ = header;
}

std::optional<sandbox::FrameView> Practice::receive(double timeout_ms) {
  if (frames_.empty() || (frames_.front().kind == FrameKind::start && timeout_ms >= 0)) return std::nullopt;
  shown_ = std::move(frames_.front());
  frames_.pop_front();
  return sandbox::FrameView{shown_.kind, shown_.header, shown_.body};
}

void Practice::clear() {
  frames_.clear();
  first_done_.clear();
}

}  // namespace relay::zygote
