#include "net/http.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"

namespace relay::net {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// In a query a plus sign is a space; in a path it is a plus sign.
enum class Plus { kept, space };

std::optional<std::string> find_decoded(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == Plus::space) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high << 4 | low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out.push_back(c);
  }
  return out;
}

auto named(std::string_view name) {
  return [name](const Headers::Field& field) { return equal_ignoring_case(field.first, name); };
}

}  // namespace

std::optional<std::string_view> Headers::find(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, named(name));
  if (found == fields_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string_view> Headers::find_all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field& field : fields_)
    if (equal_ignoring_case(field.first, name)) values.emplace_back(field.second);
  return values;
}

void Headers::set(std::string_view name, std::string value) {
  const auto first = std::ranges::find_if(fields_, named(name));
  if (first == fields_.end()) return add(std::string(name), std::move(value));
  first->second = std::move(value);
  fields_.erase(std::remove_if(first + 1, fields_.end(), named(name)), fields_.end());
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, named(name));
}

std::optional<std::string> find_query(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (find_decoded(pair.substr(0, equals), Plus::space) != name) continue;
    return find_decoded(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1),
                        Plus::space);
  }
  return std::nullopt;
}

std::optional<std::string> find_percent_decoded(std::string_view text) {
  return find_decoded(text, Plus::kept);
}

bool is_http_token(std::string_view text) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  const auto allowed = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kSigns.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 424: return "Failed Dependency";
    case 425: return "Too Early";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

HttpResponse json_response(int status, std::string body) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", "application/json");
  return response;
}

HttpResponse text_response(int status, std::string body) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  return response;
}

HttpResponse error_response(const Error& error) {
  return json_response(error.face().http_status, fmt::format(R"({{"error":{{"type":{},"message":{}}}}})",
                                                             json::quote(error.face().type),
                                                             json::quote(to_valid_utf8(error.message))));
}

}  // namespace relay::net
