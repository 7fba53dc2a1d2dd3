// Static content with everything a browser expects: ETag, If-None-Match, one Range, Content-Type by
// extension. Bytes in memory are served at once; files are opened beneath one directory (openat2: no "..", no
// link leads out) and read piece by piece on the thread pool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "io/thread_pool.h"
#include "net/http_server.h"

namespace relay::net {

/// By the extension of a path; application/octet-stream when unknown.
std::string_view content_type_of(std::string_view path);

/// What the answer to a request for some content of known size is: a status, fields, and which bytes.
struct ContentPlan {
  int status = 200;
  Headers headers;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // 0 for 304, 416 and an empty file
};

struct ContentFacts {
  std::uint64_t bytes = 0;
  std::string etag;  // with its quotes
  std::string content_type;
  std::string cache_control = "no-cache";  // revalidate: the answer is 304 most of the time
};

/// Pure: looks at If-None-Match, Range and If-Range.
ContentPlan plan_content(const HttpRequest& request, const ContentFacts& facts);

/// "\"3f...\"": a strong ETag of these bytes.
std::string etag_of(std::string_view bytes);

/// An answer from bytes in memory.
HttpResponse serve_bytes(const HttpRequest& request, std::string_view bytes, const ContentFacts& facts);

class StaticDirectory {
 public:
  static Result<StaticDirectory> open(const std::string& root, io::ThreadPool& pool);

  /// `path` is relative ("a/b.js"). Fails with not_found for what is missing, hidden, not a file or outside.
  io::Task<void> serve(HttpExchange& exchange, std::string path,
                       std::string cache_control = "no-cache") const;

 private:
  StaticDirectory(Fd root, io::ThreadPool& pool)
      : root_(std::make_shared<const Fd>(std::move(root))), pool_(&pool) {}

  std::shared_ptr<const Fd> root_;
  io::ThreadPool* pool_;
};

}  // namespace relay::net
