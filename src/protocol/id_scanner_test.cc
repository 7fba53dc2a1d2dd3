#include "protocol/id_scanner.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

std::string scan(std::string_view text, std::size_t step) {
  IdScanner scanner;
  for (; !text.empty(); text.remove_prefix(std::min(step, text.size()))) scanner.feed(text.substr(0, step));
  return scanner.id().text();
}

struct Scanned {
  std::string text;
  std::string id;
};

// What stands around the id may be broken in any way; what is nested is not the message's own id.
const Scanned kScanned[] = {
    {R"({"jsonrpc":"2.0","id":7,"method":"m"})", "7"},
    {R"({"method":"m","params":{"id":8},"id":"a\"}b"})", R"("a\"}b")"},
    {R"( { "id" : -3 , "method" : "m" , "params" : { "a" : "\ud800" } } )", "-3"},
    {R"({"method":"m","params":[[[[{"x":"}]"}]]]],"id":9})", "9"},
    {R"({"method":"m","id":9,"params":{"cut off)", "9"},
    {R"({"method":"m","id":9)", "null"},          // may go on: 95
    {R"({"id":9,"result":{}})", "null"},          // an answer to one of our questions
    {R"({"id":1,"method":"m","id":2})", "null"},  // which one?
    {R"([{"id":1,"method":"m"}])", "null"},       // a batch has no id
    {R"({"id":{"a":1},"method":"m"})", "null"},
    {R"({"id":[1],"method":"m"})", "null"},
    {R"({"id":1.5,"method":"m"})", "null"},
    {R"({"id":true,"method":"m"})", "null"},
    {R"({"id":"\ud800","method":"m"})", "null"},
    {R"({"id":1 2,"method":"m"})", "null"},
    {R"({"method":"id","params":1})", "null"},
    {R"("id":1,"method":"m")", "null"},
    {"}}}]],,::", "null"},
    {"", "null"},
};

TEST(IdScanner, FindsTheIdOfARequestThatCannotBeParsed) {
  for (const auto& [text, id] : kScanned)
    for (const std::size_t step : {1, 2, 3, 7, 31, 1000})
      EXPECT_EQ(scan(text, step), id) << text << " by " << step;
}

TEST(IdScanner, KeepsLittleOfALongMessage) {
  const std::string long_text(limits::kMiB, 'x');
  EXPECT_EQ(scan(R"({"method":"m","params":{"a":")" + long_text + R"("},"id":5})", 4096), "5");
  EXPECT_EQ(scan(R"({"method":"m","id":")" + long_text + R"("})", 4096), "null");
  const std::string longest(limits::kIdBytes, 'x');
  EXPECT_EQ(scan(R"({"method":"m","id":")" + longest + R"("})", 4096), '"' + longest + '"');
  EXPECT_EQ(scan(R"({"method":"m","id":")" + longest + R"(x"})", 4096), "null");
}

}  // namespace
}  // namespace relay::protocol
