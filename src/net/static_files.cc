#include "net/static_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/byte_range.h"
#include "base/bytes.h"
#include "base/digest.h"

namespace relay::net {
namespace {

constexpr std::size_t kPieceBytes = 256 * limits::kKiB;

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kTypes = {{
    {"html", "text/html; charset=utf-8"},
    {"js", "text/javascript; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"wasm", "application/wasm"},
    {"svg", "image/svg+xml"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"ico", "image/x-icon"},
    {"txt", "text/plain; charset=utf-8"},
    {"md", "text/markdown; charset=utf-8"},
    {"ts", "text/plain; charset=utf-8"},
    {"py", "text/x-python; charset=utf-8"},
    {"zip", "application/zip"},
    {"pdf", "application/pdf"},
    {"woff2", "font/woff2"},
    {"webmanifest", "application/manifest+json"},
}};

// If-None-Match compares weakly: "W/" does not count.
bool has_match(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    std::string_view item = trim_ascii(list.substr(0, list.find(',')));
    list.remove_prefix(
        std::min(list.size(), list.find(',') == std::string_view::npos ? list.size() : list.find(',') + 1));
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == "*" || item == etag) return true;
  }
  return false;
}

struct OpenFile {
  Fd fd;
  ContentFacts facts;
};

bool is_hidden(std::string_view path) {
  return path.empty() || path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

// O_NONBLOCK: opening a FIFO must not wait; for a regular file it has no meaning.
Result<OpenFile> open_beneath(const Fd& root, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
  if (!fd.is_open() && (errno == EMFILE || errno == ENFILE)) return fail(from_errno(errno, "open " + path));
  struct stat info{};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(not_found("no such file: " + path));
  ContentFacts facts;
  facts.bytes = static_cast<std::uint64_t>(info.st_size);
  facts.etag = fmt::format("\"{:x}-{:x}-{:x}\"", info.st_ino, info.st_size,
                           info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec);
  facts.content_type = content_type_of(path);
  return OpenFile{std::move(fd), std::move(facts)};
}

// Fewer bytes than asked for means that the file shrank while we were serving it.
Result<std::string> read_piece(const Fd& fd, std::uint64_t offset, std::size_t bytes) {
  std::string piece(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t now = ::pread(fd.get(), piece.data() + got, bytes - got, static_cast<off_t>(offset + got));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0)
      return fail(now == 0 ? unavailable("the file changed while it was sent") : from_errno(errno, "read"));
    got += static_cast<std::size_t>(now);
  }
  return piece;
}

}  // namespace

std::string_view content_type_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string extension = dot == std::string_view::npos ? "" : to_lower_ascii(path.substr(dot + 1));
  const auto found = std::ranges::find(kTypes, extension, [](const auto& type) { return type.first; });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

std::string etag_of(std::string_view bytes) {
  return "\"" + sha256_hex(bytes).substr(0, 32) + "\"";
}

ContentPlan plan_content(const HttpRequest& request, const ContentFacts& facts) {
  ContentPlan plan{.length = facts.bytes};
  plan.headers = {{"Content-Type", facts.content_type},
                  {"ETag", facts.etag},
                  {"Cache-Control", facts.cache_control},
                  {"Accept-Ranges", "bytes"},
                  {"X-Content-Type-Options", "nosniff"}};
  if (has_match(request.headers.find("If-None-Match").value_or(""), facts.etag)) {
    plan.status = 304;
    plan.length = 0;
    return plan;
  }
  const auto field = request.headers.find("Range");
  if (!field || request.headers.find("If-Range").value_or(facts.etag) != facts.etag) return plan;
  const auto [kind, range] = parse_byte_range(*field, facts.bytes);
  switch (kind) {
    case RangeKind::none: return plan;
    case RangeKind::one:
      plan.status = 206;
      plan.offset = range.begin;
      plan.length = range.end - range.begin;
      plan.headers.add("Content-Range",
                       fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, facts.bytes));
      return plan;
    case RangeKind::unsatisfiable:
      plan.status = 416;
      plan.length = 0;
      plan.headers.add("Content-Range", fmt::format("bytes */{}", facts.bytes));
      return plan;
  }
  return plan;
}

HttpResponse serve_bytes(const HttpRequest& request, std::string_view bytes, const ContentFacts& facts) {
  ContentFacts measured = facts;
  measured.bytes = bytes.size();
  ContentPlan plan = plan_content(request, measured);
  return {.status = plan.status,
          .headers = std::move(plan.headers),
          .body = std::string(bytes.substr(plan.offset, plan.length))};
}

Result<StaticDirectory> StaticDirectory::open(const std::string& root, io::ThreadPool& pool) {
  Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return fail(from_errno(errno, "open the directory " + root));
  return StaticDirectory(std::move(fd), pool);
}

io::Task<void> StaticDirectory::serve(HttpExchange& exchange, std::string path,
                                      std::string cache_control) const {
  if (is_hidden(path)) co_return fail(not_found("no such file: " + path));
  auto opening = [root = root_, path] { return open_beneath(*root, path); };
  RELAY_CO_TRY(OpenFile opened, co_await pool_->run(std::move(opening)));
  opened.facts.cache_control = std::move(cache_control);
  ContentPlan plan = plan_content(exchange.request(), opened.facts);
  if (plan.length == 0 || exchange.request().method == "HEAD") {
    HttpResponse response{.status = plan.status, .headers = std::move(plan.headers), .body = {}};
    if (plan.length != 0) response.headers.add("Content-Length", std::to_string(plan.length));
    co_return co_await exchange.respond(std::move(response));
  }
  plan.headers.add("Content-Length", std::to_string(plan.length));
  RELAY_CO_TRY(auto body, co_await exchange.start_stream(plan.status, std::move(plan.headers)));
  const auto file = std::make_shared<const Fd>(std::move(opened.fd));
  while (plan.length != 0) {
    const std::size_t bytes = std::min<std::uint64_t>(plan.length, kPieceBytes);
    auto reading = [file, offset = plan.offset, bytes] { return read_piece(*file, offset, bytes); };
    RELAY_CO_TRY(std::string piece, co_await pool_->run(std::move(reading)));
    RELAY_CO_CHECK(co_await body->write(piece));
    plan.offset += bytes;
    plan.length -= bytes;
  }
  co_return co_await body->finish();
}

}  // namespace relay::net
