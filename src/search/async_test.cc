#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "io/spawn.h"
#include "search/async_search.h"
#include "vfs/async_tree.h"
#include "vfs/temp_dir.h"

namespace relay::search {
namespace {

std::shared_ptr<vfs::Tree> make_tree(const vfs::TempDir& dir) {
  vfs::TreeParts parts;
  parts.tmp = vfs::Mount::open({"tmp", dir.path(), vfs::MountMode::rw}).value();
  return std::make_shared<vfs::Tree>(std::move(parts));
}

io::Task<void> write_and_read(io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree, std::string& out) {
  const vfs::AsyncTree files(pool, std::move(tree));
  vfs::WriteRequest request{"/tmp/f", "hello"};
  RELAY_CO_CHECK(co_await files.write(std::move(request)));
  RELAY_CO_TRY(const vfs::ReadChunk chunk, co_await files.read("/tmp/f", 0, 100));
  const auto missing = co_await files.stat("/tmp/none");
  out = chunk.bytes + " " + std::string(vfs::errno_name(missing.error().number));
  co_return Result<void>{};
}

TEST(AsyncTree, RunsOnThePoolAndKeepsTheErrno) {
  vfs::TempDir dir;
  boost::asio::io_context loop;
  io::ThreadPool pool(2);
  std::string out;
  io::spawn(loop.get_executor(), write_and_read(pool, make_tree(dir), out), "test");
  loop.run();
  EXPECT_EQ(out, "hello ENOENT");
}

io::Task<void> search_once(io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree, std::uint64_t& total) {
  auto searcher = std::make_shared<Searcher>(1);
  SearchRequest request;
  request.pattern.text = "x";
  RELAY_CO_TRY(const SearchResult found,
               co_await search(pool, std::move(searcher), std::move(tree), std::move(request)));
  total = found.total;
  co_return Result<void>{};
}

TEST(AsyncSearch, ComesBackToTheLoop) {
  vfs::TempDir dir;
  dir.write("a", "x\nx\n");
  boost::asio::io_context loop;
  io::ThreadPool pool(1);
  std::uint64_t total = 0;
  io::spawn(loop.get_executor(), search_once(pool, make_tree(dir), total), "test");
  // The pool posts its answer, which a loop without work would not wait for.
  auto work = boost::asio::make_work_guard(loop);
  while (total == 0) loop.run_one();
  EXPECT_EQ(total, 2U);
}

TEST(AsyncSearch, ACancelledWaiterDoesNotWaitForTheSearch) {
  vfs::TempDir dir;
  for (int i = 0; i < 200; ++i) dir.write(fmt::format("d{}/f", i), std::string(10'000, 'y'));
  boost::asio::io_context loop;
  std::uint64_t total = 0;
  {
    io::ThreadPool pool(1);
    io::CancelSource cancel;
    io::spawn(loop.get_executor(), search_once(pool, make_tree(dir), total), "test", cancel);
    boost::asio::post(loop, [cancel]() mutable { cancel.cancel(); });
    loop.run();
  }
  EXPECT_EQ(total, 0U);
}

}  // namespace
}  // namespace relay::search
