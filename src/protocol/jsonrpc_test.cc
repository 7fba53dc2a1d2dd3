#include "protocol/jsonrpc.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

using testing::HasSubstr;

Request parse_request(std::string text) {
  auto message = parse_message(std::move(text));
  EXPECT_TRUE(message.has_value()) << message.error().error.message;
  return std::get<Request>(*std::move(message));
}

MalformedMessage parse_refusal(std::string text) {
  const auto message = parse_message(std::move(text));
  EXPECT_FALSE(message.has_value());
  return message ? MalformedMessage{} : message.error();
}

TEST(JsonRpc, RequestKeepsItsText) {
  const Request request = parse_request(
      R"( {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1.50,"big":12345678901234567890123}}} )");
  EXPECT_EQ(request.id.text(), "7");
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(json::find_text(request.params_text(), "arguments").value_or("{}"),
            R"({"n":1.50,"big":12345678901234567890123})");
}

TEST(JsonRpc, RequestWithoutParamsHasEmptyOnes) {
  const Request request = parse_request(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  EXPECT_TRUE(request.params.empty());
  EXPECT_EQ(request.params_text(), "{}");
  EXPECT_EQ(json::find_text(request.params_text(), "arguments").value_or("{}"), "{}");
  EXPECT_TRUE(request.meta().empty());
}

TEST(JsonRpc, IdsAreEchoedAsTheyWereSpelled) {
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":0,"method":"m"})").id.text(), "0");
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":-5,"method":"m"})").id.text(), "-5");
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":1.0,"method":"m"})").id.text(), "1.0");
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"m"})").id.text(),
            "18446744073709551615");
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":"é\"x","method":"m"})").id.text(), "\"é\\\"x\"");
}

TEST(JsonRpc, WrongIdsAreRefused) {
  for (const char* id : {"1.5", "1e400", "true", "null", "[1]", "{}", "123456789012345678901234567890"}) {
    const MalformedMessage refusal =
        parse_refusal(std::string(R"({"jsonrpc":"2.0","method":"m","id":)") + id + "}");
    EXPECT_TRUE(refusal.error.code == code::kInvalidRequest || refusal.error.code == code::kParseError) << id;
    EXPECT_TRUE(refusal.id.is_null()) << id;
  }
}

TEST(JsonRpc, HugeIdIsRefused) {
  const std::string id(limits::kIdBytes + 1, 'x');
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","method":"m","id":")" + id + "\"}").error.code,
            code::kInvalidRequest);
  const std::string fits(limits::kIdBytes, 'x');
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","method":"m","id":")" + fits + "\"}").id.text().size(),
            fits.size() + 2);
}

TEST(JsonRpc, DuplicateMembersAreRefusedAtAnyDepth) {
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})").error.code,
            code::kInvalidRequest);
  EXPECT_EQ(
      parse_refusal(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"path":"a","path":"b"}}})")
          .error.code,
      code::kInvalidRequest);
  EXPECT_EQ(
      parse_refusal(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"x":1,"x":1}]}})").error.code,
      code::kInvalidRequest);
}

TEST(JsonRpc, ColonsAndQuotesInStringsAreNoMembers) {
  const Request request =
      parse_request(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a\"b":"c:d\\","e":":"}})");
  EXPECT_EQ(request.params.size(), 2u);
}

TEST(JsonRpc, NotUtf8IsAParseError) {
  EXPECT_EQ(parse_refusal("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\xff\"}").error.code,
            code::kParseError);
  EXPECT_EQ(parse_refusal("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}").error.code,
            code::kParseError);
}

TEST(JsonRpc, DeepNestingIsAParseError) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + deep + "}}").error.code,
            code::kParseError);
}

TEST(JsonRpc, WrongTypesAreRefusedWithTheId) {
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":3,"method":7})").id.text(), "3");
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":3,"method":"m","params":[1]})").error.code,
            code::kInvalidRequest);
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":3,"method":"m","params":{"_meta":1}})").error.code,
            code::kInvalidParams);
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"1.0","id":3,"method":"m"})").id.text(), "3");
  EXPECT_EQ(parse_refusal(R"({"id":3,"method":"m"})").error.code, code::kInvalidRequest);
  EXPECT_EQ(parse_refusal(R"("text")").error.code, code::kInvalidRequest);
  EXPECT_EQ(parse_refusal("{").error.code, code::kParseError);
  EXPECT_EQ(parse_refusal("").error.code, code::kParseError);
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0"} {"jsonrpc":"2.0"})").error.code, code::kParseError);
}

TEST(JsonRpc, NotificationHasNoId) {
  const auto message = parse_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<Notification>(*message).method, "notifications/initialized");
}

TEST(JsonRpc, ResponseIsAResultOrAnError) {
  const auto result = parse_message(R"({"jsonrpc":"2.0","id":"a","result":{"x":1.0}})");
  ASSERT_TRUE(result);
  EXPECT_EQ(std::get<Response>(*result).result_text(), R"({"x":1.0})");
  const auto error =
      parse_message(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":[1]}})");
  ASSERT_TRUE(error);
  const auto& failure = std::get<Response>(*error).outcome.error();
  EXPECT_EQ(failure.code, -1);
  EXPECT_EQ(failure.message, "no");
  EXPECT_TRUE(failure.data->is_array());
  EXPECT_EQ(
      parse_refusal(R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"x"}})").error.code,
      code::kInvalidRequest);
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":1})").error.code, code::kInvalidRequest);
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}})").error.code,
            code::kInvalidRequest);
}

TEST(JsonRpc, ErrorResponseMayHaveANullId) {
  const auto error = parse_message(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
  ASSERT_TRUE(error);
  EXPECT_TRUE(std::get<Response>(*error).id.is_null());
}

TEST(JsonRpc, BatchKeepsGoodAndBadElementsApart) {
  const auto incoming =
      parse_incoming(R"([{"jsonrpc":"2.0","id":1,"method":"a"}, 7, {"jsonrpc":"2.0","method":"b"}])");
  ASSERT_TRUE(incoming);
  EXPECT_TRUE(incoming->is_batch);
  ASSERT_EQ(incoming->messages.size(), 3u);
  EXPECT_EQ(*std::get<Request>(*incoming->messages[0]).text, R"({"jsonrpc":"2.0","id":1,"method":"a"})");
  EXPECT_EQ(incoming->messages[1].error().error.code, code::kInvalidRequest);
  EXPECT_TRUE(std::holds_alternative<Notification>(*incoming->messages[2]));
}

TEST(JsonRpc, BatchBombsAreRefusedAsAWhole) {
  EXPECT_FALSE(parse_incoming("[]"));
  std::string bomb = "[";
  for (std::size_t i = 0; i <= limits::kBatchMessages; ++i)
    bomb += std::string(i ? "," : "") + R"({"jsonrpc":"2.0","id":1,"method":"a"})";
  const auto incoming = parse_incoming(bomb + "]");
  ASSERT_FALSE(incoming);
  EXPECT_EQ(incoming.error().error.code, code::kInvalidRequest);
  EXPECT_THAT(incoming.error().error.message, HasSubstr("at most"));
}

TEST(JsonRpc, WritesWhatItParses) {
  EXPECT_EQ(write_result(Id::string("a"), "{}"), R"({"jsonrpc":"2.0","id":"a","result":{}})");
  EXPECT_EQ(write_error(Id(), {-32600, "no \"x\"\n", {}}),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no \"x\"\n"}})");
  EXPECT_EQ(write_notification("n", {}), R"({"jsonrpc":"2.0","method":"n"})");
  EXPECT_EQ(write_request(Id::number(1), "m", "{}"), R"({"jsonrpc":"2.0","id":1,"method":"m","params":{}})");
}

// The sentence is all that the author of a client sees.
TEST(JsonRpc, SaysWhyAMessageIsRefused) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":""})", "method must be a non-empty string"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":1})", "params must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":1}})", "params._meta must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})", "a response has either a result or an error"},
      {R"({"jsonrpc":"2.0","id":1})", "a response has either a result or an error"},
      {R"({"jsonrpc":"2.0","id":1,"error":1})", "an error has a code and a message"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", "an error has a code and a message"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"message":"x"}})", "an error has a code and a message"},
      {R"([1])", "a message is a JSON object"},
      {R"({"jsonrpc":"2.1","id":1,"method":"m"})", "jsonrpc must be \"2.0\""},
      {R"({"jsonrpc":"2.0"})", "neither a request nor a notification nor a response"},
      {R"({"jsonrpc":"2.0","method":"m","a":1,"a":2})", "an object names the same member twice"},
  };
  for (const auto& [text, message] : rows)
    EXPECT_EQ(parse_refusal(std::string(text)).error.message, message) << text;
}

// A wrong _meta of a notification has no request whose parameters could be wrong.
TEST(JsonRpc, AWrongMetaOfANotificationIsAnInvalidRequest) {
  EXPECT_EQ(parse_refusal(R"({"jsonrpc":"2.0","method":"m","params":{"_meta":1}})").error.code,
            code::kInvalidRequest);
}

// Beyond 2^53 two integers share one double, so an id spelled with a point would not be the same one.
TEST(JsonRpc, AFractionalIdIsExactOrRefused) {
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":9007199254740992.0,"method":"m"})").id.text(),
            "9007199254740992.0");
  EXPECT_EQ(parse_request(R"({"jsonrpc":"2.0","id":-3e2,"method":"m"})").id.text(), "-3e2");
  parse_refusal(R"({"jsonrpc":"2.0","id":9007199254740994.0,"method":"m"})");
  parse_refusal(R"({"jsonrpc":"2.0","id":-9007199254740994.0,"method":"m"})");
  parse_refusal(R"({"jsonrpc":"2.0","id":1.0)" + std::string(limits::kIdBytes, '0') + R"(,"method":"m"})");
}

TEST(JsonRpc, TheLargestBatchIsAccepted) {
  std::string batch = "[";
  for (std::size_t i = 0; i < limits::kBatchMessages; ++i)
    batch += std::string(i ? "," : "") + R"({"jsonrpc":"2.0","id":1,"method":"a"})";
  const auto incoming = parse_incoming(batch + "]");
  ASSERT_TRUE(incoming);
  EXPECT_EQ(incoming->messages.size(), limits::kBatchMessages);
  const auto single = parse_incoming(R"({"jsonrpc":"2.0","id":1,"method":"a"})");
  ASSERT_TRUE(single);
  EXPECT_FALSE(single->is_batch);
}

TEST(JsonRpc, MetaAndDataArePassedOn) {
  EXPECT_TRUE(parse_request(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":1}}})")
                  .meta()
                  .contains("a"));
  EXPECT_EQ(write_error_object({1, "x", json::value(7)}), R"({"code":1,"message":"x","data":7})");
  EXPECT_EQ(write_notification("n", "{}"), R"({"jsonrpc":"2.0","method":"n","params":{}})");
  EXPECT_EQ(write_request(Id::number(1), "m", {}), R"({"jsonrpc":"2.0","id":1,"method":"m"})");
}

}  // namespace
}  // namespace relay::protocol
