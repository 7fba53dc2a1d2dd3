// The files toolset: read, write, edit, search, and every file as a resource.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/thread_pool.h"
#include "pipeline/guarded_backend.h"
#include "pipeline/results_store.h"
#include "search/search.h"
#include "vfs/workspace.h"

namespace relay::tools {

/// What file tools need of the world. Everything outlives the tools.
struct FilesWorld {
  vfs::Trees& trees;
  io::ThreadPool& pool;
  std::shared_ptr<search::Searcher> searcher;
  io::ThreadPool& search_pool;  // of its own: a search takes seconds, and reading a file must not wait for it
  pipeline::ResultsStore& results;                                         // read opens them, too
  std::function<authority::Decision(const authority::Call& call)> decide;  // what policy says of a call now
};

Result<void> add_files_tools(pipeline::Toolset& toolset, std::shared_ptr<const FilesWorld> world);

/// What rules see of a call: the path as the tree reads it ("/tmp//x/../y" is "/tmp/y"), so that no spelling
/// slips past a rule, and then everything else.
std::string read_policy_text(const json::object& arguments);
std::string write_policy_text(const json::object& arguments);
std::string search_policy_text(const json::object& arguments);

/// The same by name: path (clean), mode, content (decoded), pattern, filePattern.
std::vector<authority::CallField> read_fields(const json::object& arguments);
std::vector<authority::CallField> write_fields(const json::object& arguments);
std::vector<authority::CallField> search_fields(const json::object& arguments);
/// A change that a program makes below /host, as a call for the policy: the tool `write` on that path, made
/// by the caller of the run.
authority::Call write_by_run(const authority::Call& run, std::string_view path);

}  // namespace relay::tools
