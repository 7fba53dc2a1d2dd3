// Reply: where the answer to one request goes, and what is sent before it. Loop thread only.
//
// Transports implement it: a stream of server-sent events, a line on stdout. The dispatchers and requests
// only see this, and hold it as long as the request runs. An answer is given once; what comes after it is
// dropped, so there is no progress after the end. A client that is gone makes no error here: the bytes are
// dropped.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/event.h"
#include "protocol/jsonrpc.h"

namespace relay::mcp {

struct FinalMessage {
  std::string text;       // a JSON-RPC response; empty: the request was cancelled and gets none
  int http_status = 200;  // for the HTTP transport, when the answer is all it sends
};

class Reply;

/// The requests of one session or connection that are not answered yet, by id.
class InFlight {
 public:
  explicit InFlight(const io::Loop& executor) : freed_(executor) {}
  /// Completes when fewer than limits::kRequestsPerSession run. A transport waits for it before it adds a
  /// request, so that a client that sends many at once is slowed down instead of refused.
  io::Task<void> wait_for_room();
  /// False when the id is in use.
  bool add(const protocol::Id& id, const std::shared_ptr<Reply>& reply) {
    return replies_.emplace(id.text(), reply).second;
  }
  void remove(const std::string& id_text) {
    replies_.erase(id_text);
    freed_.set();
  }
  [[nodiscard]] std::shared_ptr<Reply> find(const protocol::Id& id) const;
  [[nodiscard]] std::size_t size() const { return replies_.size(); }
  void abandon_all();

 private:
  std::unordered_map<std::string, std::weak_ptr<Reply>> replies_;
  io::Event freed_;
};

class Reply {
 public:
  Reply() = default;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  virtual ~Reply() = default;

  /// A notification, or a request of ours, that belongs to this exchange.
  void send(std::string message) {
    if (!finished_) write(std::move(message));
  }
  void finish(FinalMessage answer);
  /// Nobody wants the answer any more: the call behind it is cancelled.
  void abandon();
  /// Legacy HTTP: ends the connection, not the call.
  virtual void close_early() {}

  [[nodiscard]] bool finished() const { return finished_; }
  void set_on_abandon(std::function<void()> action) { on_abandon_ = std::move(action); }
  void track(std::weak_ptr<InFlight> in_flight, std::string id_text) {
    in_flight_ = std::move(in_flight);
    id_text_ = std::move(id_text);
  }

 protected:
  virtual void write(std::string message) = 0;
  virtual void end(FinalMessage answer) = 0;

 private:
  bool finished_ = false;
  std::function<void()> on_abandon_;
  std::weak_ptr<InFlight> in_flight_;
  std::string id_text_;
};

}  // namespace relay::mcp
