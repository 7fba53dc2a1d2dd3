// Tasks from the client's side: a request that the server answers later is polled to its end, so that nobody
// above sees the difference.
//
// Two generations that have nothing to do with each other. 2025-11-25: we ask for a task, poll tasks/get and
// fetch tasks/result. 2026: the server decides; tasks/get has the questions and, at the end, the result in
// it. A task whose follower goes away is cancelled.
#pragma once

#include <functional>
#include <string>

#include "peer/peer_dialogue.h"
#include "peer/request_scope.h"

namespace relay::peer {

/// How to speak about a task on a connection: `tell` does not wait for an answer.
struct TaskTalk {
  std::function<io::Task<protocol::Response>(std::string method, std::string params, Deadlines deadlines)>
      ask;
  std::function<void(std::string method, std::string params)> tell;
};

/// The member that makes a task of a tools/call of 2025-11-25.
std::string legacy_task_member();

/// `created` is the answer that has the task in it.
io::Task<PeerAnswer> follow_legacy_task(TaskTalk talk, protocol::JsonText created, RequestScope& exchange);
io::Task<PeerAnswer> follow_modern_task(TaskTalk talk, protocol::JsonText created, RequestScope& exchange);

}  // namespace relay::peer
