#include "imports/entry.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/bytes.h"
#include "imports/reader.h"
#include "imports/secret_guess.h"

namespace relay::imports {
namespace {

using upstream::ServerTransport;

std::optional<std::string_view> first_string(const json::object& entry,
                                             std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const auto found = json::find_string(entry, key); found && !found->empty()) return found;
  return std::nullopt;
}

const json::object* first_object(const json::object& entry, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const json::object* found = json::find_object(entry, key)) return found;
  return nullptr;
}

// Numbers and truth values are common in env blocks; the environment only knows text.
std::optional<std::string> text_of(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(json::view(*text));
  if (value.is_bool() || value.is_number()) return json::write(value);
  return std::nullopt;
}

std::string secret_part(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ? c : '_';
  return out;
}

class EntryReader {
 public:
  EntryReader(std::string_view name, const json::object& entry, const Surroundings& surroundings,
              UrlMeaning url_meaning)
      : entry_(entry), surroundings_(surroundings), url_meaning_(url_meaning) {
    found_.spec.name = make_server_name(name);
    if (found_.spec.name != name) note(fmt::format("renamed: \"{}\" is no name for a server here", name));
  }

  Result<FoundServer> read() {
    RELAY_CHECK(read_transport());
    if (found_.spec.transport == ServerTransport::stdio) {
      RELAY_CHECK(read_command());
      read_values("env", first_object(entry_, {"env", "environment"}), found_.spec.env);
    } else {
      RELAY_CHECK(read_endpoint());
      read_values("headers", first_object(entry_, {"headers", "http_headers"}), found_.spec.headers);
      read_header_variables();
    }
    read_switches();
    read_lists();
    read_limits();
    mention_ignored();
    return std::move(found_);
  }

 private:
  void note(std::string text) { found_.notes.push_back(std::move(text)); }

  std::string secret_name(std::string_view key) const {
    return fmt::format("{}.{}", found_.spec.name, secret_part(key)).substr(0, 128);
  }

  Result<void> read_transport() {
    const std::string type =
        to_lower_ascii(first_string(entry_, {"type", "transport", "transportType"}).value_or(""));
    const bool has_url = first_string(entry_, {"url", "serverUrl", "httpUrl", "endpoint"}).has_value();
    if (type == "stdio" || type == "local" || type == "command") return set(ServerTransport::stdio);
    if (type == "sse") return set(ServerTransport::sse);
    if (type == "http" || type == "streamable-http" || type == "streamablehttp" ||
        type == "streamable_http" || type == "remote")
      return set(ServerTransport::http);
    if (!type.empty()) return fail(invalid(fmt::format("its transport \"{}\" is not supported", type)));
    const bool is_sse = url_meaning_ == UrlMeaning::sse && !first_string(entry_, {"httpUrl"});
    return set(!has_url ? ServerTransport::stdio : is_sse ? ServerTransport::sse : ServerTransport::http);
  }

  Result<void> set(ServerTransport transport) {
    found_.spec.transport = transport;
    return {};
  }

  Result<std::string> expanded(std::string_view text, std::string_view what) {
    Translation translated = translate(text, Expansion::now, surroundings_,
                                       [this](std::string_view id) { return secret_name(id); });
    for (std::string& one : translated.notes) note(fmt::format("{}: {}", what, one));
    if (!translated.inputs.empty())
      return fail(invalid(fmt::format("its {} asks for an input, which it cannot have here", what)));
    if (!translated.unset.empty())
      return fail(invalid(
          fmt::format("its {} needs the variable {}, which is not set", what, *translated.unset.begin())));
    return std::move(translated.text);
  }

  Result<void> read_command() {
    std::vector<std::string> line;
    RELAY_CHECK(append_words("command", line));
    RELAY_CHECK(append_words("args", line));
    if (line.empty() || line.front().empty()) return fail(invalid("it has neither a command nor a URL"));
    RELAY_TRY(found_.spec.command, expanded(line.front(), "command"));
    for (std::size_t i = 1; i < line.size(); ++i) found_.spec.args.push_back(read_argument(line, i));
    if (const auto cwd = first_string(entry_, {"cwd", "workingDirectory"})) {
      RELAY_TRY(found_.spec.cwd, expanded(*cwd, "cwd"));
    }
    return {};
  }

  // A text is one word, a list several: opencode gives the whole command line as "command".
  Result<void> append_words(std::string_view key, std::vector<std::string>& line) {
    const json::value* value = json::find(entry_, key);
    if (!value) return {};
    const json::array* list = value->if_array();
    const json::array one = list ? json::array() : json::array{*value};
    for (const json::value& item : list ? *list : one) {
      auto word = text_of(item);
      if (!word) return fail(invalid(fmt::format("its \"{}\" is not text", key)));
      if (word->find('\0') != std::string::npos)
        return fail(invalid(fmt::format("its \"{}\" holds a NUL byte", key)));
      line.push_back(std::move(*word));
    }
    return {};
  }

  std::string read_argument(const std::vector<std::string>& line, std::size_t index) {
    const std::string where = fmt::format("args[{}]", index - 1);
    std::string text = with_references(where, line[index]);
    const auto guess = find_secret_argument(index > 1 ? line[index - 1] : std::string_view(), text);
    if (!guess) return text;
    return keep_secret(where,
                       guess->name.empty() ? fmt::format("arg{}", index - 1) : std::string(guess->name),
                       guess->split);
  }

  Result<void> read_endpoint() {
    const auto url = first_string(entry_, {"httpUrl", "url", "serverUrl", "endpoint"});
    if (!url) return fail(invalid("it has no URL"));
    found_.spec.endpoint = with_references("url", *url);
    if (!found_.spec.endpoint.starts_with("http://") && !found_.spec.endpoint.starts_with("https://") &&
        !found_.spec.endpoint.starts_with("${"))
      return fail(invalid("its URL is neither http nor https"));
    return {};
  }

  void read_values(std::string_view block, const json::object* values,
                   std::map<std::string, std::string>& out) {
    if (!values) return;
    for (const auto& member : *values) {
      const std::string key(member.key());
      const auto text = text_of(member.value());
      if (text && key.find_first_of(std::string_view("=\0", 2)) == std::string::npos &&
          text->find('\0') == std::string::npos)
        out[key] = read_value(block, key, *text);
      else if (!member.value().is_null())
        note(fmt::format("{}.{} is left out: not a text", block, key));
    }
  }

  std::string read_value(std::string_view block, const std::string& key, std::string_view text) {
    const std::string where = fmt::format("{}.{}", block, key);
    std::string translated = with_references(where, text);
    if (!looks_like_secret(key, translated)) return translated;
    return keep_secret(where, key, split_scheme(translated));
  }

  // Resolved at each start, so the values are not written down here.
  std::string with_references(std::string_view where, std::string_view text) {
    Translation translated = translate(text, Expansion::later, surroundings_,
                                       [this](std::string_view id) { return secret_name(id); });
    for (std::string& one : translated.notes) note(fmt::format("{}: {}", where, one));
    found_.needs.insert(found_.needs.end(), translated.inputs.begin(), translated.inputs.end());
    return std::move(translated.text);
  }

  // The text with a reference in place of the secret.
  std::string keep_secret(std::string where, std::string_view key, const SplitSecret& split) {
    KeptSecret kept{.where = std::move(where),
                    .name = free_secret_name(key),
                    .prefix = std::string(split.prefix),
                    .value = std::string(split.secret)};
    std::string reference = fmt::format("{}${{secret:{}}}", kept.prefix, kept.name);
    found_.secrets.push_back(std::move(kept));
    return reference;
  }

  // A command line may have two secrets under one name: --header A --header B.
  std::string free_secret_name(std::string_view key) const {
    const auto is_taken = [this](const std::string& name) {
      return std::ranges::any_of(found_.secrets, [&](const KeptSecret& kept) { return kept.name == name; });
    };
    std::string name = secret_name(key);
    for (int i = 2; is_taken(name); ++i) name = secret_name(fmt::format("{}_{}", key, i));
    return name;
  }

  // Codex names variables for headers instead of writing references.
  void read_header_variables() {
    if (const auto variable = json::find_string(entry_, "bearer_token_env_var"))
      found_.spec.headers["Authorization"] = fmt::format("Bearer ${{env:{}}}", *variable);
    if (const json::object* named = json::find_object(entry_, "env_http_headers"))
      for (const auto& member : *named)
        if (const auto variable = text_of(member.value()))
          found_.spec.headers[member.key()] = fmt::format("${{env:{}}}", *variable);
  }

  void read_switches() {
    found_.spec.description =
        std::string(utf8_prefix(first_string(entry_, {"description"}).value_or(""), 1000));
    found_.spec.enabled = !json::find_bool(entry_, "disabled").value_or(false) &&
                          json::find_bool(entry_, "enabled").value_or(true);
  }

  void read_lists() {
    for (const std::string_view key : {"includeTools", "enabled_tools", "allowedTools"})
      append_names(key, found_.spec.allow);
    for (const std::string_view key : {"excludeTools", "disabled_tools", "disabledTools"})
      append_names(key, found_.spec.deny);
  }

  void append_names(std::string_view key, std::vector<std::string>& out) {
    const json::array* names = json::find_array(entry_, key);
    if (!names) return;
    for (const json::value& name : *names)
      if (name.is_string() && !name.get_string().empty()) out.emplace_back(name.get_string());
  }

  void read_limits() {
    set_duration("timeout", 1.0, found_.spec.call_timeout);
    set_duration("tool_timeout_sec", 1000.0, found_.spec.call_timeout);
    set_duration("startup_timeout_sec", 1000.0, found_.spec.start_timeout);
    set_duration("startup_timeout_ms", 1.0, found_.spec.start_timeout);
  }

  // What is out of the range that our own configuration takes is not taken over.
  void set_duration(std::string_view key, double milliseconds_each, std::chrono::milliseconds& out) {
    const auto given = json::find_number(entry_, key);
    if (!given) return;
    const double milliseconds = *given * milliseconds_each;
    if (milliseconds >= 100 && milliseconds <= 3'600'000)
      out = std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
    else
      note(fmt::format("{} is left out: not between 100 ms and an hour", key));
  }

  void mention_ignored() {
    constexpr std::array kIgnored = {std::pair{"envFile", "give what it needs in env"},
                                     std::pair{"headersHelper", "give the headers themselves"},
                                     std::pair{"oauth", "authorization by OAuth is not there yet"}};
    for (const auto& [key, advice] : kIgnored)
      if (json::find(entry_, key)) note(fmt::format("{} is left out: {}", key, advice));
  }

  const json::object& entry_;
  const Surroundings& surroundings_;
  UrlMeaning url_meaning_;
  FoundServer found_;
};

}  // namespace

Result<FoundServer> read_entry(std::string_view name, const json::object& entry,
                               const Surroundings& surroundings, UrlMeaning url_meaning) {
  return EntryReader(name, entry, surroundings, url_meaning).read();
}

}  // namespace relay::imports
