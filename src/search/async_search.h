// Searching from a coroutine: the search runs on a pool thread, and ends soon after nobody waits for it any
// more.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <boost/asio/post.hpp>

#include "io/event.h"
#include "io/thread_pool.h"
#include "search/search.h"

namespace relay::search {

namespace detail {
struct PendingSearch {
  explicit PendingSearch(const io::Loop& executor) : done(executor) {}
  io::Event done;
  std::optional<Result<SearchResult>> result;
  std::stop_source stop;
};

// Lives in the waiting coroutine: whether that goes on or is unwound, the search is told.
struct StopAtEnd {
  std::shared_ptr<PendingSearch> pending;
  ~StopAtEnd() { pending->stop.request_stop(); }
};
}  // namespace detail

inline io::Task<SearchResult> search(io::ThreadPool& pool, std::shared_ptr<Searcher> searcher,
                                     std::shared_ptr<const vfs::Tree> tree, SearchRequest request) {
  const io::Loop loop = co_await io::asio::this_coro::executor;
  auto pending = std::make_shared<detail::PendingSearch>(loop);
  const detail::StopAtEnd stop_at_end{pending};
  // The loop is named as having work, so that it does not end while the pool still has to report.
  auto work = [loop, pending, searcher = std::move(searcher), tree = std::move(tree),
               request = std::move(request)] {
    auto result = searcher->search(*tree, request, pending->stop.get_token());
    io::asio::post(loop, [pending, result = std::move(result)]() mutable {
      pending->result = std::move(result);
      pending->done.set();
    });
  };
  pool.post(std::move(work));
  RELAY_CO_CHECK(co_await pending->done.wait());
  co_return std::move(*pending->result);
}

}  // namespace relay::search
