// The answer to GET /capsules/:hash/:file, as a value: status, headers, bytes. The endpoint that speaks HTTP
// sends it.
//
// A capsule's file never changes under its name, so it may be kept for ever. One range is honoured (RFC
// 9110); several are answered with the whole, as a server may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capsule/store.h"

namespace relay::capsule {

struct FileQuestion {
  std::string_view hash;
  std::string_view file;
  std::string_view range;          // the Range header, or empty
  std::string_view if_none_match;  // the If-None-Match header, or empty
  std::string_view if_range;       // the If-Range header, or empty
};

struct FileAnswer {
  int status = 200;  // 200, 206, 304, 404, 416
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// Blocking, bounded by the size of a layer.
FileAnswer answer_file(CapsuleStore& store, const FileQuestion& question);

}  // namespace relay::capsule
