#include "cli/terminal_context.h"

#include <unistd.h>

#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include "base/printable.h"

namespace relay::cli {
namespace {

std::optional<std::string> read_line(const std::string& prompt) {
  fmt::print(stderr, "{}", printable(prompt, '?'));
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

json::value typed(const std::string& line, std::string_view type) {
  if (type == "boolean") return line == "y" || line == "yes" || line == "true";
  if (type != "number" && type != "integer") return json::value(line);
  auto number = json::parse(line);
  return number && number->is_number() ? *std::move(number) : json::value(line);
}

// One line for each field; an empty one leaves it out, the end of input cancels.
std::optional<json::object> fill_in(std::string_view message, const json::object& schema) {
  fmt::print(stderr, "{}\n", printable(message, '?'));
  json::object content;
  const json::object* fields = json::find_object(schema, "properties");
  if (!fields) return content;
  for (const auto& field : *fields) {
    const json::object* about = field.value().if_object();
    if (!about) continue;
    const std::string_view type = json::find_string(*about, "type").value_or("string");
    const std::string_view title =
        json::find_string(*about, "title").value_or(std::string_view(field.key().data(), field.key().size()));
    const auto line = read_line(fmt::format("{} ({}): ", title, type == "boolean" ? "y/N" : type));
    if (!line) return std::nullopt;
    if (!line->empty()) content[field.key()] = typed(*line, type);
  }
  return content;
}

json::object schema_of(const json::value& params) {
  const json::object* members = params.if_object();
  const json::object* schema = members ? json::find_object(*members, "requestedSchema") : nullptr;
  return schema ? *schema : json::object();
}

json::value raw_elicitation(const protocol::JsonText& params, bool has_terminal) {
  const json::object* members = params.value().if_object();
  const std::string_view message = members ? json::find_string(*members, "message").value_or("") : "";
  if (!has_terminal) return {{"action", "decline"}};
  auto content = fill_in(message, schema_of(params.value()));
  if (!content) return {{"action", "cancel"}};
  return {{"action", "accept"}, {"content", *std::move(content)}};
}

}  // namespace

void say_how_to_confirm(protocol::ToolResult& result) {
  auto* text = result.is_error && !result.raw && !result.content.empty()
                   ? std::get_if<protocol::TextContent>(&result.content.front())
                   : nullptr;
  if (!text || !text->text.starts_with("[CONFIRM REQUIRED")) return;
  constexpr std::string_view kNothing = "nothing has run. ";
  if (const std::size_t how = text->text.find(kNothing); how != std::string::npos)
    text->text.replace(how + kNothing.size(), std::string::npos,
                       "If this is really wanted, repeat the command with --yes.]");
}

TerminalContext::TerminalContext(Confirmation confirmation)
    : confirmation_(confirmation), has_terminal_(::isatty(STDIN_FILENO) != 0) {
  caller_.principal = "local";
  caller_.client_name = "relay mcp call";
  caller_.transport = authority::Transport::internal;
  client_.elicitation_form = has_terminal_ || confirmation_ == Confirmation::yes;
  if (has_terminal_) client_.declared = {{"elicitation", {{"form", json::object()}}}};
}

void TerminalContext::progress(double value, std::optional<double> total, std::string_view message) {
  fmt::print(stderr, "[{}{}] {}\n", value, total ? fmt::format("/{}", *total) : "", printable(message, '?'));
}

void TerminalContext::log(protocol::LogLevel level, std::string_view logger, json::value data) {
  const std::string text = data.is_string() ? std::string(json::view(data.get_string())) : json::write(data);
  fmt::print(stderr, "{} {}{}\n", protocol::name_of(level),
             logger.empty() ? "" : printable(logger, '?') + ": ", printable(text, '?'));
}

Result<protocol::InputResponse> TerminalContext::answer(const protocol::InputRequest& request) const {
  if (const auto* form = std::get_if<protocol::ElicitForm>(&request)) {
    if (confirmation_ == Confirmation::yes)
      return protocol::ElicitResult{protocol::ElicitAction::accept, {{"allow", true}}};
    const json::object* schema = form->requested_schema.value().if_object();
    auto content = has_terminal_ && schema ? fill_in(form->message, *schema) : std::nullopt;
    if (!content) return protocol::ElicitResult{};
    return protocol::ElicitResult{protocol::ElicitAction::accept, *std::move(content)};
  }
  const auto* raw = std::get_if<protocol::RawRequest>(&request);
  if (raw && raw->method == "elicitation/create")
    return protocol::RawResponse{raw_elicitation(raw->params, has_terminal_)};
  return fail(unavailable("the command line cannot answer this question of the server"));
}

io::Task<std::vector<protocol::InputResponse>> TerminalContext::ask_all(std::vector<protocol::Ask> asks) {
  std::vector<protocol::InputResponse> answers;
  for (const protocol::Ask& ask : asks) {
    RELAY_CO_TRY(protocol::InputResponse one, answer(ask.request));
    answers.push_back(std::move(one));
  }
  co_return answers;
}

}  // namespace relay::cli
