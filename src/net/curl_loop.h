// CurlLoop: curl's multi handle, driven by the event loop. curl says which sockets and which moment it waits
// for; we wait, and tell it. Internal to the HTTP client.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "io/task.h"
#include "net/curl_library.h"

namespace relay::net {

/// Told when its transfer has ended. Called inside curl: it may note things and wake coroutines, nothing
/// more.
class CurlListener {
 public:
  virtual ~CurlListener() = default;
  virtual void on_done(CURLcode code) = 0;
};

class CurlLoop : public std::enable_shared_from_this<CurlLoop> {
 public:
  CurlLoop(const io::Loop& executor, const CurlLibrary& curl);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  [[nodiscard]] const io::Loop& executor() const { return executor_; }
  [[nodiscard]] const CurlLibrary& curl() const { return curl_; }

  /// A handle without options, used before or new.
  CURL* take_handle();
  void give_back(CURL* handle);

  Result<void> add(CURL* handle, CurlListener& listener);
  void remove(CURL* handle);

 private:
  struct Watch {
    explicit Watch(const io::Loop& executor) : descriptor(executor) {}
    boost::asio::posix::stream_descriptor descriptor;  // curl's; released, never closed
    int wanted = 0;
    bool reading = false;
    bool writing = false;
  };

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);
  void watch(curl_socket_t socket, int what);
  void unwatch(curl_socket_t socket);
  void arm(curl_socket_t socket, const std::shared_ptr<Watch>& watch);
  void ready(curl_socket_t socket, const std::shared_ptr<Watch>& watch, int direction);
  void set_timer(long timeout_ms);
  void act(curl_socket_t socket, int direction);

  io::Loop executor_;
  const CurlLibrary& curl_;
  CURLM* multi_;
  boost::asio::steady_timer timer_;
  std::unordered_map<curl_socket_t, std::shared_ptr<Watch>> watches_;
  std::vector<CURL*> idle_handles_;
};

}  // namespace relay::net
