#include "auth/bearer_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/fd.h"

namespace relay::auth {
namespace {

constexpr std::size_t kTokenBytes = 32;       // 256 bits
constexpr std::size_t kTokenFileBytes = 256;  // more is not one of our files

Result<std::string> load(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return fail(from_errno(errno, "open the token file " + path));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(from_errno(errno, "stat the token file " + path));
  if ((info.st_mode & 077) != 0)
    return fail(denied(fmt::format(
        "the token file {} is readable by others; delete it, so that a new token is made", path)));
  char bytes[kTokenFileBytes];
  const ssize_t got = ::read(file.get(), bytes, sizeof bytes);
  if (got < 0) return fail(from_errno(errno, "read the token file " + path));
  std::string token(trim_ascii({bytes, static_cast<std::size_t>(got)}));
  if (token.size() < kTokenBytes)
    return fail(invalid(fmt::format("the token file {} holds no token; delete it", path)));
  return token;
}

Result<void> write_new(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return fail(from_errno(errno, "create " + path));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file.get()) != 0)
    return fail(from_errno(errno, "write " + path));
  return {};
}

// Complete before it has its name, and never over a token that another process made meanwhile.
Result<void> keep(const std::string& path, const std::string& token, RandomSource& random) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string draft = path + make_id(random, ".");
  const auto written = write_new(draft, token + "\n");
  const int linked = written ? ::link(draft.c_str(), path.c_str()) : 0;
  const int link_error = errno;
  ::unlink(draft.c_str());
  if (!written) return written;
  if (linked != 0) return fail(from_errno(link_error, "create the token file " + path));
  return {};
}

}  // namespace

Result<BearerToken> BearerToken::open(const std::string& path, RandomSource& random) {
  auto loaded = load(path);
  if (loaded) return BearerToken(std::move(*loaded), false);
  if (loaded.error().kind != ErrorKind::not_found) return fail(std::move(loaded.error()));
  std::string token = make_token(random, kTokenBytes);
  const auto kept = keep(path, token, random);
  if (kept) return BearerToken(std::move(token), true);
  if (kept.error().kind != ErrorKind::conflict) return fail(kept.error());
  RELAY_TRY(std::string others, load(path));
  return BearerToken(std::move(others), false);
}

bool BearerToken::matches(std::string_view presented) const {
  return equal_in_constant_time(presented, text_);
}

std::optional<std::string_view> find_bearer(const net::HttpRequest& request) {
  const auto fields = request.headers.find_all("Authorization");
  constexpr std::string_view kScheme = "Bearer ";
  if (fields.size() != 1 || fields[0].size() <= kScheme.size()) return std::nullopt;
  if (!equal_ignoring_case(fields[0].substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return trim_ascii(fields[0].substr(kScheme.size()));
}

Result<std::string> TokenAuthenticator::authenticate(const net::HttpRequest& request) {
  const auto presented = find_bearer(request);
  if (presented && token_.matches(*presented)) return "token";
  return fail(
      {ErrorKind::unauthenticated, Blame::peer,
       presented ? "the bearer token is wrong" : "send the token as 'Authorization: Bearer <token>'"});
}

std::string TokenAuthenticator::challenge(const net::HttpRequest& request) const {
  return find_bearer(request) ? R"(Bearer realm="relay", error="invalid_token")" : R"(Bearer realm="relay")";
}

}  // namespace relay::auth
