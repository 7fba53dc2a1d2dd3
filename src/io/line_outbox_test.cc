#include "io/line_outbox.h"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fd.h"
#include "io/test_loop.h"

namespace relay::io {
namespace {

class LineOutboxTest : public ::testing::Test {
 protected:
  LineOutboxTest() : pipe_(loop_.executor()) {
    std::signal(SIGPIPE, SIG_IGN);
    auto pair = open_pipe();
    reader_ = std::move(pair->first);
    pipe_.assign(pair->second.release());
    outbox_ = std::make_shared<LineOutbox>(loop_.executor(), pipe_, 1 << 20);
    spawn(loop_.executor(), ended(outbox_), "outbox");
    loop_.settle();
  }

  ~LineOutboxTest() override {
    outbox_->abandon();  // what waits for more would keep itself alive
    reader_.reset();
    loop_.settle();
  }

  Task<void> ended(std::shared_ptr<LineOutbox> outbox) {
    result_ = co_await outbox->run();
    co_return Result<void>{};
  }
  // What is in the pipe right now.
  std::string read_now() {
    std::string got(1 << 17, '\0');
    const ssize_t count = ::read(reader_.get(), got.data(), got.size());
    got.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return got;
  }

  TestLoop loop_;
  Fd reader_;
  asio::posix::stream_descriptor pipe_;
  std::shared_ptr<LineOutbox> outbox_;
  std::optional<Result<void>> result_;
};

TEST_F(LineOutboxTest, TheFirstLineOfATurnGoesAtOnceTheOthersTogether) {
  ASSERT_TRUE(outbox_->push("one"));
  EXPECT_EQ(read_now(), "one\n");
  ASSERT_TRUE(outbox_->push("two"));
  ASSERT_TRUE(outbox_->push("thr\r\nee"));
  EXPECT_EQ(outbox_->unwritten(), 12U);
  loop_.settle();
  EXPECT_EQ(read_now(), "two\nthr  ee\n");
  ASSERT_TRUE(outbox_->push("four"));
  EXPECT_EQ(read_now(), "four\n");
}

TEST_F(LineOutboxTest, APipeThatIsFullGetsTheRestInOrder) {
  std::string expected;
  for (int i = 0; i < 30; ++i) {
    const std::string line = fmt::format("{}-{}", i, std::string(10'000, 'x'));
    expected += line + "\n";
    ASSERT_TRUE(outbox_->push(line));
    if (i % 3 == 0) loop_.settle();
  }
  std::string got;
  while (got.size() < expected.size()) {
    got += read_now();
    loop_.settle();
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(outbox_->unwritten(), 0U);
}

TEST_F(LineOutboxTest, AReaderThatIsTooFarBehindCostsTheNewLineOnly) {
  const std::string line(100'000, 'x');
  std::size_t taken = 0;
  while (outbox_->push(line)) ++taken;
  EXPECT_LE(outbox_->unwritten(), std::size_t{1} << 20);
  std::size_t got = 0;
  while (got < taken * (line.size() + 1)) {
    got += read_now().size();
    loop_.settle();
  }
  EXPECT_TRUE(outbox_->push("again"));
  loop_.settle();
  EXPECT_EQ(read_now(), "again\n");
}

TEST_F(LineOutboxTest, ClosingWritesWhatWaits) {
  ASSERT_TRUE(outbox_->push("one"));
  ASSERT_TRUE(outbox_->push("two"));
  outbox_->close();
  EXPECT_FALSE(outbox_->push("three"));
  loop_.settle();
  EXPECT_EQ(read_now(), "one\ntwo\n");
  ASSERT_TRUE(result_);
  EXPECT_TRUE(*result_);
}

TEST_F(LineOutboxTest, NobodyReadsAnyMore) {
  reader_.reset();
  ASSERT_TRUE(outbox_->push("one"));
  loop_.settle();
  ASSERT_TRUE(result_);
  EXPECT_FALSE(*result_);
  EXPECT_FALSE(outbox_->push("two"));
}

}  // namespace
}  // namespace relay::io
