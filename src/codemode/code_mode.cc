#include "codemode/code_mode.h"

#include <algorithm>

#include "base/disk.h"
#include "codemode/catalog_files.h"
#include "io/spawn.h"

namespace relay::codemode {
namespace {

constexpr auto kWritePause = std::chrono::seconds(1);  // changes come in groups: one file for all of them

// Files that people look at; a disk that refuses them costs nothing else.
void write_declarations(const std::filesystem::path& state,
                        const std::vector<std::shared_ptr<const ToolCatalog>>& books, LearnedTypes& learned) {
  for (const auto& book : books)
    static_cast<void>(replace_file(state / (directory_of(book->server, book->alias) + ".d.ts"),
                                   typescript_index(*book, learned)));
  static_cast<void>(learned.save());
}

}  // namespace

CodeMode::CodeMode(io::Loop executor, upstream::Fleet& fleet, pipeline::GuardedBackend& backend,
                   io::ThreadPool& pool, RandomSource& random, CodeModeOptions options)
    : executor_(executor),
      pool_(pool),
      options_(std::move(options)),
      learned_(std::make_shared<LearnedTypes>(options_.state / "learned.json")),
      books_(executor, fleet),
      files_(make_mcps_dir(std::make_shared<LoopHandbooks>(executor, books_), learned_)),
      tokens_(random),
      endpoint_(tokens_) {
  OnLearned on_learned = [this](const std::string& server) { learned_of(server); };
  world_ = std::shared_ptr<const RunWorld>(
      new RunWorld{executor_, books_, backend, *learned_, std::move(on_learned), options_.require_servers});
  subscription_ = fleet.subscribe([this](std::string_view server, const protocol::ServerEvent& event) {
    const auto* change = std::get_if<protocol::ListChanged>(&event);
    if (change && change->list == protocol::ListKind::tools) write_soon(std::string(server));
  });
}

CodeMode::~CodeMode() {
  stop_.cancel();
}

Result<std::shared_ptr<RunServers>> CodeMode::open_run(serving::Context& context, std::string run,
                                                       const std::optional<std::vector<std::string>>& named) {
  return RunServers::open(world_, context, std::move(run), named);
}

void CodeMode::save() {
  static_cast<void>(learned_->save());
}

void CodeMode::learned_of(const std::string& server) {
  write_soon(server);
}

void CodeMode::write_soon(const std::string& server) {
  unwritten_.insert(server);
  if (std::exchange(writing_, true)) return;
  io::spawn(executor_, write_files(), "declarations", stop_);
}

io::Task<void> CodeMode::write_files() {
  while (!unwritten_.empty()) {
    RELAY_CO_CHECK(co_await io::sleep_for(kWritePause));
    const std::set<std::string> names = std::exchange(unwritten_, {});
    std::vector<std::shared_ptr<const ToolCatalog>> books;
    for (const CodeServer& server : books_.servers())
      if (names.contains(server.name()))
        if (auto book = books_.find_known(server)) books.push_back(std::move(book));
    auto write = [state = options_.declarations, books = std::move(books),
                  learned = learned_]() -> Result<void> {
      write_declarations(state, books, *learned);
      return {};
    };
    static_cast<void>(co_await pool_.run(std::move(write)));
  }
  writing_ = false;
  co_return Result<void>{};
}

}  // namespace relay::codemode
