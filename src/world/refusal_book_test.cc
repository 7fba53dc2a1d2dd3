#include "world/refusal_book.h"

#include <gtest/gtest.h>

namespace relay::world {
namespace {

class CountingLog final : public Log {
 public:
  void write(LogLevel, std::string_view, std::initializer_list<LogField>) override { ++lines; }
  std::size_t lines = 0;
};

authority::Call run_named(std::string request_id) {
  authority::Call run;
  run.request_id = std::move(request_id);
  return run;
}

TEST(RefusalBook, ARunThatIsAlwaysRefusedDoesNotFillTheLog) {
  CountingLog log;
  RefusalBook book(log);
  const fetch::BlockedFetch refusal{fetch::BlockedFetch::What::url, "a.test", "", "not allowed"};
  for (int i = 0; i < 150; ++i) book.add(refusal, run_named("req_1"));
  EXPECT_EQ(log.lines, 100U);
  book.add(refusal, run_named("req_2"));
  EXPECT_EQ(log.lines, 101U);
}

}  // namespace
}  // namespace relay::world
