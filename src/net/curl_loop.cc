#include "net/curl_loop.h"

#include "base/limits.h"

namespace relay::net {
namespace {

constexpr std::size_t kIdleHandles = 32;

}  // namespace

CurlLoop::CurlLoop(const io::Loop& executor, const CurlLibrary& curl)
    : executor_(executor), curl_(curl), multi_(curl.multi_init()), timer_(executor) {
  curl_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, limits::kPooledConnections);
}

// Cleaning up closes pooled connections, which calls back into on_socket: the members must still be there.
CurlLoop::~CurlLoop() {
  for (CURL* handle : idle_handles_) curl_.easy_cleanup(handle);
  curl_.multi_cleanup(multi_);
  while (!watches_.empty()) unwatch(watches_.begin()->first);
}

CURL* CurlLoop::take_handle() {
  if (idle_handles_.empty()) return curl_.easy_init();
  CURL* handle = idle_handles_.back();
  idle_handles_.pop_back();
  return handle;
}

void CurlLoop::give_back(CURL* handle) {
  if (idle_handles_.size() >= kIdleHandles) return curl_.easy_cleanup(handle);
  curl_.easy_reset(handle);
  idle_handles_.push_back(handle);
}

Result<void> CurlLoop::add(CURL* handle, CurlListener& listener) {
  curl_.easy_setopt(handle, CURLOPT_PRIVATE, &listener);
  const CURLMcode code = curl_.multi_add_handle(multi_, handle);
  if (code != CURLM_OK) return fail(internal(curl_.multi_strerror(code)));
  return {};
}

void CurlLoop::remove(CURL* handle) {
  curl_.multi_remove_handle(multi_, handle);
}

int CurlLoop::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  auto& loop = *static_cast<CurlLoop*>(self);
  if (what == CURL_POLL_REMOVE) {
    loop.unwatch(socket);
  } else {
    loop.watch(socket, what);
  }
  return 0;
}

void CurlLoop::watch(curl_socket_t socket, int what) {
  std::shared_ptr<Watch>& watch = watches_[socket];
  if (!watch) {
    watch = std::make_shared<Watch>(executor_);
    boost::system::error_code
        ignored;  // a descriptor that cannot be watched shows as a time-out of its transfer
    watch->descriptor.assign(socket, ignored);
  }
  watch->wanted = what;
  arm(socket, watch);
}

void CurlLoop::unwatch(curl_socket_t socket) {
  const auto found = watches_.find(socket);
  if (found == watches_.end()) return;
  found->second->wanted = 0;
  if (found->second->descriptor.is_open()) (void)found->second->descriptor.release();
  watches_.erase(found);
}

void CurlLoop::arm(curl_socket_t socket, const std::shared_ptr<Watch>& watch) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  const auto on_ready = [&](int direction) {
    return [weak = weak_from_this(), socket, watch, direction](const boost::system::error_code& error) {
      (direction == CURL_CSELECT_IN ? watch->reading : watch->writing) = false;
      const auto self = weak.lock();
      if (self && !error) self->ready(socket, watch, direction);
    };
  };
  if ((watch->wanted & CURL_POLL_IN) != 0 && !watch->reading) {
    watch->reading = true;
    watch->descriptor.async_wait(Descriptor::wait_read, on_ready(CURL_CSELECT_IN));
  }
  if ((watch->wanted & CURL_POLL_OUT) != 0 && !watch->writing) {
    watch->writing = true;
    watch->descriptor.async_wait(Descriptor::wait_write, on_ready(CURL_CSELECT_OUT));
  }
}

// A wait cannot be taken back: what curl no longer wants is ignored when it comes.
void CurlLoop::ready(curl_socket_t socket, const std::shared_ptr<Watch>& watch, int direction) {
  const int poll = direction == CURL_CSELECT_IN ? CURL_POLL_IN : CURL_POLL_OUT;
  if ((watch->wanted & poll) != 0) act(socket, direction);
  if (watch->wanted != 0) arm(socket, watch);
}

int CurlLoop::on_timer(CURLM*, long timeout_ms, void* self) {
  static_cast<CurlLoop*>(self)->set_timer(timeout_ms);
  return 0;
}

// Even a time of 0 goes through the timer: curl must not be called from inside its own callback.
void CurlLoop::set_timer(long timeout_ms) {
  if (timeout_ms < 0) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::milliseconds(timeout_ms));
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (self && !error) self->act(CURL_SOCKET_TIMEOUT, 0);
  });
}

void CurlLoop::act(curl_socket_t socket, int direction) {
  int running = 0;
  curl_.multi_socket_action(multi_, socket, direction, &running);
  int left = 0;
  while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CurlListener* listener = nullptr;
    curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &listener);
    if (listener) listener->on_done(code);
  }
}

}  // namespace relay::net
