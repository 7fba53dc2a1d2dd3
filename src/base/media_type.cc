#include "base/media_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace relay {
namespace {

using Type = std::pair<std::string_view, std::string_view>;
constexpr std::string_view kText = "text/plain";
constexpr std::string_view kBinary = "application/octet-stream";

constexpr std::array<Type, 36> kTypes{{
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"svg", "image/svg+xml"},
    {"webp", "image/webp"},
    {"bmp", "image/bmp"},
    {"ico", "image/x-icon"},
    {"wav", "audio/wav"},
    {"mp3", "audio/mpeg"},
    {"ogg", "audio/ogg"},
    {"flac", "audio/flac"},
    {"mp4", "video/mp4"},
    {"webm", "video/webm"},
    {"json", "application/json"},
    {"csv", "text/csv"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"md", "text/markdown"},
    {"css", "text/css"},
    {"js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"ts", "text/typescript"},
    {"py", "text/x-python"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"pdf", "application/pdf"},
    {"zip", "application/zip"},
    {"gz", "application/gzip"},
    {"tar", "application/x-tar"},
    {"wasm", "application/wasm"},
    {"sqlite", "application/vnd.sqlite3"},
    {"pkl", kBinary},
    {"npy", kBinary},
    {"bin", kBinary},
}};

}  // namespace

std::string media_type_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::string(kText);
  const std::string ending = to_lower_ascii(name.substr(dot + 1));
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& type) { return type.first == ending; });
  return std::string(found == kTypes.end() ? kText : found->second);
}

std::string media_type_of(std::string_view path, std::string_view content) {
  const std::string type = media_type_of(path);
  return type == kText && !is_valid_utf8(content) ? std::string(kBinary) : type;
}

}  // namespace relay
