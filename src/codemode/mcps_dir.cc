#include "codemode/mcps_dir.h"

#include <algorithm>
#include <future>

#include <fmt/format.h>
#include <boost/asio/use_future.hpp>

#include "codemode/alias.h"
#include "codemode/stub_text.h"
#include "io/spawn.h"

namespace relay::codemode {
namespace {

using vfs::ComputedFiles;
using vfs::FileResult;
using Entries = std::vector<ComputedFiles::Entry>;

constexpr auto kSlack = std::chrono::seconds(2);  // beyond the loop's own limit: it answers, or it is gone

// Runs a task on the loop and waits for it here, on a thread of the pool.
template <class T>
Result<T> wait_for(const io::Loop& executor, io::Task<T> task) {
  std::future<Result<T>> answer = io::asio::co_spawn(executor, std::move(task), io::asio::use_future);
  if (answer.wait_for(limits::kDocsWait + kSlack) != std::future_status::ready)
    return fail(timed_out("the servers did not answer in time"));
  try {
    return answer.get();
  } catch (...) {
    return fail(io::error_from(std::current_exception()));
  }
}

std::string state_of(const upstream::Upstream& server) {
  const upstream::Status status = server.status();
  return status.reason.empty() ? std::string(upstream::name_of(status.phase))
                               : fmt::format("{}: {}", upstream::name_of(status.phase), status.reason);
}

// A tool named "index" must not hide the index.
std::string file_name(const ToolDoc& tool, std::string_view ending) {
  const bool taken = tool.alias == "index" || tool.alias == "stubs";
  return tool.alias + (taken ? "_" : "") + std::string(ending);
}

std::string sorry(const std::string& name, const std::string& state) {
  return fmt::format("# {}\n\nThis server did not say what it offers: {}\n",
                     markdown(first_sentence(name, 100)), markdown(first_sentence(state, 500)));
}

class Files {
 public:
  Files(std::shared_ptr<HandbookSource> source, std::shared_ptr<const LearnedTypes> learned)
      : source_(std::move(source)), learned_(std::move(learned)) {}

  FileResult<Entries> list(std::string_view path) const {
    if (path.empty()) return list_root();
    if (path.contains('/')) return vfs::fail(vfs::file_error(ENOENT, path));
    const auto server = find_server(path);
    if (!server) return vfs::fail(vfs::file_error(ENOENT, path));
    return list_server(server->name);
  }

  FileResult<std::string> read(std::string_view path) const {
    if (path == "README.md") return readme_of_all(source_->servers());
    if (path == "mcp.d.ts") return std::string(typescript_base());
    const std::size_t slash = path.find('/');
    const auto server = find_server(path.substr(0, slash));
    if (!server || slash == std::string_view::npos) return vfs::fail(vfs::file_error(ENOENT, path));
    return read_of(server->name, path.substr(slash + 1), path);
  }

 private:
  FileResult<Entries> list_root() const {
    Entries entries{ComputedFiles::file("README.md"), ComputedFiles::file("mcp.d.ts")};
    for (const ServerLine& server : source_->servers())
      entries.push_back(ComputedFiles::directory(directory_of(server.name, server.alias)));
    return entries;
  }

  FileResult<Entries> list_server(const std::string& name) const {
    Entries entries{ComputedFiles::file("README.md")};
    const auto book = source_->find(name).book;
    if (!book) return entries;
    entries.push_back(ComputedFiles::file("index.d.ts"));
    entries.push_back(ComputedFiles::file("stubs.pyi"));
    for (const ToolDoc& tool : book->tools) {
      entries.push_back(ComputedFiles::file(file_name(tool, ".d.ts")));
      entries.push_back(ComputedFiles::file(file_name(tool, ".pyi")));
    }
    return entries;
  }

  FileResult<std::string> read_of(const std::string& name, std::string_view file,
                                  std::string_view path) const {
    const HandbookSource::Known known = source_->find(name);
    if (!known.book && file == "README.md") return sorry(name, known.state);
    if (!known.book) return vfs::fail(vfs::file_error(EIO, path, known.state));
    if (file == "README.md") return readme_of(*known.book);
    if (file == "index.d.ts") return typescript_index(*known.book, *learned_);
    if (file == "stubs.pyi") return python_index(*known.book, *learned_);
    for (const ToolDoc& tool : known.book->tools) {
      if (file == file_name(tool, ".d.ts")) return typescript_of(*known.book, tool, *learned_);
      if (file == file_name(tool, ".pyi")) return python_of(*known.book, tool, *learned_);
    }
    return vfs::fail(vfs::file_error(ENOENT, path));
  }

  std::optional<ServerLine> find_server(std::string_view directory) const {
    for (ServerLine& server : source_->servers())
      if (directory_of(server.name, server.alias) == directory) return std::move(server);
    return {};
  }

  std::shared_ptr<HandbookSource> source_;
  std::shared_ptr<const LearnedTypes> learned_;
};

}  // namespace

std::string directory_of(std::string_view name, std::string_view alias) {
  const auto plain = [](char c) {
    return c == '_' || c == '-' || c == '.' || is_identifier({&c, 1}) || (c >= '0' && c <= '9');
  };
  const bool usable = !name.empty() && name.size() <= limits::kToolNameBytes && name.front() != '.' &&
                      std::ranges::all_of(name, plain);
  return std::string(usable && name != "README.md" && name != "mcp.d.ts" ? name : alias);
}

std::vector<ServerLine> LoopHandbooks::servers() {
  auto collect = [](std::shared_ptr<LoopHandbooks> self) -> io::Task<std::vector<ServerLine>> {
    std::vector<ServerLine> lines;
    for (const CodeServer& server : self->books_.servers())
      lines.push_back({server.name(), server.alias, server.description(), state_of(*server.upstream)});
    co_return lines;
  };
  return wait_for(executor_, collect(shared_from_this())).value_or(std::vector<ServerLine>{});
}

io::Task<HandbookSource::Known> LoopHandbooks::ask(std::string name, bool may_wait) {
  for (const CodeServer& server : books_.servers()) {
    if (server.name() != name) continue;
    std::vector<CodeServer> one{server};
    if (auto book = books_.find_known(server); book && !may_wait) co_return Known{book, {}};
    if (!may_wait) co_return Known{nullptr, "it is being started; read this again in a moment"};
    RELAY_CO_TRY(auto opened, co_await books_.open_all(std::move(one), limits::kDocsWait));
    co_return Known{opened.front(), state_of(*server.upstream)};
  }
  co_return Known{nullptr, "there is no such server"};
}

HandbookSource::Known LoopHandbooks::find(const std::string& server) {
  auto hold = [](std::shared_ptr<LoopHandbooks> self, std::string name, bool wait) -> io::Task<Known> {
    co_return co_await self->ask(std::move(name), wait);
  };
  const bool may_wait = !waiting_.exchange(true);
  Result<Known> known = wait_for(executor_, hold(shared_from_this(), server, may_wait));
  if (may_wait) waiting_ = false;
  return known ? *std::move(known) : Known{nullptr, known.error().message};
}

std::shared_ptr<vfs::SyntheticDir> make_mcps_dir(std::shared_ptr<HandbookSource> source,
                                                 std::shared_ptr<const LearnedTypes> learned) {
  auto files = std::make_shared<const Files>(std::move(source), std::move(learned));
  ComputedFiles::Provider provider;
  provider.list = [files](std::string_view path) { return files->list(path); };
  provider.read = [files](std::string_view path) { return files->read(path); };
  return std::make_shared<ComputedFiles>(std::move(provider));
}

}  // namespace relay::codemode
