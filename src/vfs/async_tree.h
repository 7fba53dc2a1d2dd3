// AsyncTree: the tree for coroutines. Each call runs on a pool thread and resumes on the loop.
//
// The work owns its arguments and shares the tree, so a caller that is cancelled leaves nothing dangling; the
// operation itself is bounded and ends on its own.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "io/thread_pool.h"
#include "vfs/tree.h"

namespace relay::vfs {

class AsyncTree {
 public:
  template <class T>
  using FileTask = io::asio::awaitable<FileResult<T>>;

  AsyncTree(io::ThreadPool& pool, std::shared_ptr<Tree> tree) : pool_(&pool), tree_(std::move(tree)) {}

  /// Any other work on the tree: work(Tree&) returns a FileResult or Result.
  template <class Work>
  auto run(Work work) const -> io::asio::awaitable<std::invoke_result_t<Work&, Tree&>> {
    return pool_->run([tree = tree_, work = std::move(work)]() mutable { return work(*tree); });
  }

  FileTask<FileStat> stat(std::string path, LastLink last = LastLink::follow) const {
    return run([path = std::move(path), last](Tree& tree) { return tree.stat(path, last); });
  }
  FileTask<DirectoryListing> list(std::string path, std::size_t entries_max = limits::kListEntries) const {
    return run([path = std::move(path), entries_max](Tree& tree) { return tree.list(path, entries_max); });
  }
  FileTask<ReadChunk> read(std::string path, std::uint64_t offset, std::size_t length) const {
    return run(
        [path = std::move(path), offset, length](Tree& tree) { return tree.read(path, offset, length); });
  }
  FileTask<WriteReceipt> write(WriteRequest request) const {
    return run([request = std::move(request)](Tree& tree) { return tree.write(request); });
  }
  FileTask<void> truncate(std::string path, std::uint64_t size) const {
    return run([path = std::move(path), size](Tree& tree) { return tree.truncate(path, size); });
  }
  FileTask<void> make_dir(std::string path, Depth depth) const {
    return run([path = std::move(path), depth](Tree& tree) { return tree.make_dir(path, depth); });
  }
  FileTask<void> remove(std::string path, Depth depth) const {
    return run([path = std::move(path), depth](Tree& tree) { return tree.remove(path, depth); });
  }
  FileTask<void> rename(std::string from, std::string to) const {
    return run([from = std::move(from), to = std::move(to)](Tree& tree) { return tree.rename(from, to); });
  }

  [[nodiscard]] const std::shared_ptr<Tree>& tree() const { return tree_; }

 private:
  io::ThreadPool* pool_;
  std::shared_ptr<Tree> tree_;
};

}  // namespace relay::vfs
