#include "mcp/batch_reply.h"

namespace relay::mcp {
namespace {

// What the parts of one batch share.
struct Batch {
  std::shared_ptr<Reply> out;
  std::size_t waiting = 0;
  std::string answers;

  void add(std::string answer) {
    if (!answer.empty()) answers += (answers.empty() ? "" : ",") + answer;
    if (--waiting == 0) out->finish({"[" + answers + "]", 200});
  }
};

class BatchPart final : public Reply {
 public:
  explicit BatchPart(std::shared_ptr<Batch> batch) : batch_(std::move(batch)) {}

 protected:
  void write(std::string message) override { batch_->out->send(std::move(message)); }
  void end(FinalMessage answer) override { batch_->add(std::move(answer.text)); }

 private:
  std::shared_ptr<Batch> batch_;
};

bool needs_answer(const std::expected<protocol::Message, protocol::MalformedMessage>& message) {
  return !message || std::holds_alternative<protocol::Request>(*message);
}

}  // namespace

bool handle_batch(LegacyDispatcher& dispatcher, const std::shared_ptr<Session>& session,
                  protocol::Incoming incoming, std::shared_ptr<Reply> out) {
  auto batch = std::make_shared<Batch>(std::move(out));
  // All are counted before the first one runs: it may be answered at once.
  for (const auto& message : incoming.messages) batch->waiting += needs_answer(message) ? 1 : 0;
  const bool answers = batch->waiting > 0;
  for (auto& message : incoming.messages) {
    if (!message) {
      batch->add(protocol::write_error(message.error().id, message.error().error));
    } else if (auto* request = std::get_if<protocol::Request>(&*message)) {
      dispatcher.handle(session, std::move(*request), std::make_shared<BatchPart>(batch));
    } else if (auto* notification = std::get_if<protocol::Notification>(&*message)) {
      dispatcher.notify(*session, *notification);
    } else {
      session->take_answer(std::get<protocol::Response>(std::move(*message)));
    }
  }
  return answers;
}

}  // namespace relay::mcp
