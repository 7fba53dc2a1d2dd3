// /mcps in the tree: what the servers offer, as files to read and search.
//
//   README.md  mcp.d.ts  <server>/README.md  <server>/index.d.ts  <server>/stubs.pyi  <server>/<tool>.d.ts
//   <server>/<tool>.pyi
//
// The tree asks from pool threads; what is known of servers lives on the loop, so each question goes there
// and waits, a limited time. Looking into a server's directory starts the server when its offer is unknown.
// While one reader waits for a start the others get what is known: files never hold up more than one thread
// of the pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codemode/catalog_files.h"
#include "codemode/tool_catalogs.h"
#include "vfs/synthetic.h"

namespace relay::codemode {

/// What the directory is made from; asked on pool threads.
class HandbookSource {
 public:
  struct Known {
    std::shared_ptr<const ToolCatalog> book;  // null: the server did not say what it offers
    std::string state;                        // why not
  };
  virtual ~HandbookSource() = default;
  virtual std::vector<ServerLine> servers() = 0;
  virtual Known find(const std::string& server) = 0;
};

/// Asks the loop. `books` must outlive it, and the loop must run or have ended for good.
class LoopHandbooks final : public HandbookSource, public std::enable_shared_from_this<LoopHandbooks> {
 public:
  LoopHandbooks(io::Loop executor, ToolCatalogs& books) : executor_(std::move(executor)), books_(books) {}
  std::vector<ServerLine> servers() override;
  Known find(const std::string& server) override;

 private:
  io::Task<Known> ask(std::string server, bool may_wait);
  io::Loop executor_;
  ToolCatalogs& books_;
  std::atomic<bool> waiting_ = false;
};

std::shared_ptr<vfs::SyntheticDir> make_mcps_dir(std::shared_ptr<HandbookSource> source,
                                                 std::shared_ptr<const LearnedTypes> learned);

/// The directory of a server: its name where that is a plain file name, else its alias.
std::string directory_of(std::string_view name, std::string_view alias);

}  // namespace relay::codemode
