#include "protocol/jsonrpc.h"

#include <cmath>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "protocol/id_scanner.h"

namespace relay::protocol {
namespace {

std::unexpected<MalformedMessage> refuse(Id id, int code, std::string message) {
  return std::unexpected(MalformedMessage{std::move(id), RpcError{code, std::move(message), {}}});
}

// A number that JSON spells with a point or an exponent is an id when it is an integer all the same.
std::optional<Id> find_fractional_id(double number, std::string_view text) {
  constexpr double kExact = 9007199254740992.0;
  if (std::trunc(number) != number || std::abs(number) > kExact) return std::nullopt;
  const auto spelled = json::find_text(text, "id");
  if (!spelled || spelled->size() > limits::kIdBytes) return std::nullopt;
  return Id::from_text(std::string(*spelled));
}

std::optional<Id> find_id(const json::value& value, std::string_view text) {
  if (const json::string* name = value.if_string()) {
    if (name->size() > limits::kIdBytes) return std::nullopt;
    return Id::string(json::view(*name));
  }
  if (const std::int64_t* number = value.if_int64()) return Id::number(*number);
  if (const std::uint64_t* number = value.if_uint64()) return Id::from_text(std::to_string(*number));
  if (const double* number = value.if_double()) return find_fractional_id(*number, text);
  return std::nullopt;
}

std::expected<Message, MalformedMessage> make_call(std::optional<Id> id, json::object& members,
                                                   std::string text) {
  const Id answer_to = id.value_or(Id());
  const auto method = json::find_string(members, "method");
  if (!method || method->empty())
    return refuse(answer_to, code::kInvalidRequest, "method must be a non-empty string");
  json::object params;
  if (json::value* given = members.if_contains("params")) {
    if (!given->is_object()) return refuse(answer_to, code::kInvalidRequest, "params must be an object");
    params = std::move(given->get_object());
  }
  if (const json::value* meta = json::find(params, "_meta"); meta && !meta->is_object())
    return refuse(answer_to, id ? code::kInvalidParams : code::kInvalidRequest,
                  "params._meta must be an object");
  std::string name(*method);
  if (!id) return Notification{std::move(name), std::move(params), std::move(text)};
  return Request{*std::move(id), std::move(name), std::move(params),
                 std::make_shared<const std::string>(std::move(text))};
}

std::expected<Message, MalformedMessage> make_response(Id id, json::object& members, std::string text) {
  json::value* result = members.if_contains("result");
  json::value* error = members.if_contains("error");
  if ((result != nullptr) == (error != nullptr))
    return refuse(Id(), code::kInvalidRequest, "a response has either a result or an error");
  if (result) return Response{std::move(id), std::move(*result), std::move(text)};
  const json::object* details = error->if_object();
  const auto number = details ? json::find_int(*details, "code") : std::nullopt;
  const auto message = details ? json::find_string(*details, "message") : std::nullopt;
  if (!number || !message) return refuse(Id(), code::kInvalidRequest, "an error has a code and a message");
  RpcError failure{static_cast<int>(*number), std::string(*message), {}};
  if (const json::value* data = json::find(*details, "data")) failure.data = *data;
  return Response{std::move(id), std::unexpected(std::move(failure)), std::move(text)};
}

std::expected<Message, MalformedMessage> classify(json::value& parsed, std::string text) {
  json::object* members = parsed.if_object();
  if (!members) return refuse(Id(), code::kInvalidRequest, "a message is a JSON object");
  std::optional<Id> id;
  const json::value* given = json::find(*members, "id");
  if (given) id = find_id(*given, text);
  if (json::find_string(*members, "jsonrpc") != "2.0")
    return refuse(id.value_or(Id()), code::kInvalidRequest, "jsonrpc must be \"2.0\"");
  const bool calls = members->contains("method");
  // An error about a message whose id could not be read has the id null.
  if (!calls && given && given->is_null()) id = Id();
  if (given && !id)
    return refuse(Id(), code::kInvalidRequest,
                  fmt::format("id must be a string of at most {} bytes or an integer", limits::kIdBytes));
  if (calls) return make_call(std::move(id), *members, std::move(text));
  if (!id) return refuse(Id(), code::kInvalidRequest, "neither a request nor a notification nor a response");
  return make_response(*std::move(id), *members, std::move(text));
}

Id find_id_of_unparsed(std::string_view text) {
  IdScanner scanner;
  scanner.feed(text);
  return scanner.id();
}

std::expected<json::value, MalformedMessage> parse_strictly(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed) return refuse(find_id_of_unparsed(text), code::kParseError, parsed.error().message);
  if (!json::names_members_once(text, *parsed))
    return refuse(find_id_of_unparsed(text), code::kInvalidRequest, "an object names the same member twice");
  return *std::move(parsed);
}

void append_code_and_message(std::string& out, const RpcError& error) {
  out += "{\"code\":";
  fmt::format_to(std::back_inserter(out), "{}", error.code);
  out += ",\"message\":";
  json::append_quoted(out, error.message);
  if (error.data) {
    out += ",\"data\":";
    out += json::write(*error.data);
  }
  out += '}';
}

}  // namespace

RpcError to_rpc_error(const Error& error) {
  if (!error.rpc) return {error.face().rpc_code, error.message, {}};
  RpcError out{error.rpc->code, error.rpc->message, {}};
  if (auto data = error.rpc->data.empty() ? fail(invalid("")) : json::parse(error.rpc->data))
    out.data = *std::move(data);
  return out;
}

Error to_error(RpcError error) {
  Error out = error.code == code::kInvalidParams ? invalid(error.message)
                                                 : Error{ErrorKind::unavailable, Blame::peer, error.message};
  out.rpc = std::make_shared<const RpcForm>(error.code, std::move(error.message),
                                            error.data ? json::write(*error.data) : std::string());
  return out;
}

std::string_view Request::params_text() const {
  return text ? json::find_text(*text, "params").value_or("{}") : "{}";
}
const json::object& Request::meta() const {
  const json::object* found = json::find_object(params, "_meta");
  return found ? *found : json::empty_object();
}
std::string_view Response::result_text() const {
  return json::find_text(text, "result").value_or("null");
}

void drop_byte_order_mark(std::string& text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
}

std::expected<Message, MalformedMessage> parse_message(std::string text) {
  auto parsed = parse_strictly(text);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return classify(*parsed, std::move(text));
}

std::expected<Incoming, MalformedMessage> parse_incoming(std::string text) {
  auto parsed = parse_strictly(text);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  Incoming incoming;
  json::array* items = parsed->if_array();
  if (!items) {
    incoming.messages.push_back(classify(*parsed, std::move(text)));
    return incoming;
  }
  if (items->empty()) return refuse(Id(), code::kInvalidRequest, "a batch must not be empty");
  if (items->size() > limits::kBatchMessages)
    return refuse(Id(), code::kInvalidRequest,
                  fmt::format("a batch has at most {} messages", limits::kBatchMessages));
  incoming.is_batch = true;
  const auto texts = json::split_array(text);
  for (std::size_t i = 0; i < items->size(); ++i)
    incoming.messages.push_back(classify((*items)[i], std::string(texts[i])));
  return incoming;
}

std::string write_result(const Id& id, std::string_view result) {
  std::string out;
  out.reserve(result.size() + id.text().size() + 40);
  out += R"({"jsonrpc":"2.0","id":)";
  out += id.text();
  out += R"(,"result":)";
  out += result;
  out += '}';
  return out;
}

std::string write_error(const Id& id, const RpcError& error) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out += id.text();
  out += R"(,"error":)";
  append_code_and_message(out, error);
  out += '}';
  return out;
}

std::string write_error_object(const RpcError& error) {
  std::string out;
  append_code_and_message(out, error);
  return out;
}

std::string write_notification(std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","method":)";
  json::append_quoted(out, method);
  if (!params.empty()) {
    out += R"(,"params":)";
    out += params;
  }
  out += '}';
  return out;
}

std::string write_request(const Id& id, std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out += id.text();
  out += R"(,"method":)";
  json::append_quoted(out, method);
  if (!params.empty()) {
    out += R"(,"params":)";
    out += params;
  }
  out += '}';
  return out;
}

}  // namespace relay::protocol
