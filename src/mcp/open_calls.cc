#include "mcp/open_calls.h"

#include <utility>

namespace relay::mcp {

OpenCalls::Entry::Entry(std::shared_ptr<OpenCalls> calls, io::CancelSource cancel)
    : calls_(std::move(calls)), place_(calls_->calls_.insert(calls_->calls_.end(), std::move(cancel))) {}

OpenCalls::Entry::~Entry() {
  calls_->calls_.erase(place_);
  if (calls_->calls_.empty()) calls_->ended_.set();
}

io::Task<void> OpenCalls::stop() {
  stopping_ = true;
  const std::list<io::CancelSource> open = calls_;  // a cancelled call leaves the list
  for (io::CancelSource cancel : open) cancel.cancel();
  while (!calls_.empty()) {
    ended_.clear();
    RELAY_CO_CHECK(co_await ended_.wait());
  }
  co_return Result<void>{};
}

}  // namespace relay::mcp
