#include "secrets/redactor.h"

#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "secrets/spellings.h"

namespace relay::secrets {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ValueScanner, FindsEveryValueWhereverItStands) {
  const ValueScanner scanner({"abc", "bcd", "xy"});
  EXPECT_THAT(scanner.find_all(""), IsEmpty());
  EXPECT_THAT(scanner.find_all("a"), IsEmpty());
  EXPECT_THAT(scanner.find_all("ab bc ayx"), IsEmpty());
  EXPECT_THAT(scanner.find_all("abc"), ElementsAre(FoundRange{0, 3}));
  EXPECT_THAT(scanner.find_all("--xy-bcd"), ElementsAre(FoundRange{2, 4}, FoundRange{5, 8}));
  EXPECT_THAT(scanner.find_all("xyxy"), ElementsAre(FoundRange{0, 2}, FoundRange{2, 4}));
}

TEST(ValueScanner, MakesOneRangeOfValuesThatOverlap) {
  const ValueScanner scanner({"abc", "bcde", "cdefg", "gh"});
  EXPECT_THAT(scanner.find_all("-abcdefgh-"), ElementsAre(FoundRange{1, 9}));
  EXPECT_THAT(scanner.find_all("-bcdefx"), ElementsAre(FoundRange{1, 5}));
}

// The suffix of a longer value that fails is found through the failure links, also at depth two and more.
TEST(ValueScanner, FindsAValueInsideOfOneThatDoesNotComplete) {
  const ValueScanner scanner({"secret-key-1", "cret-", "ret-key-9"});
  EXPECT_THAT(scanner.find_all("secret-kex"), ElementsAre(FoundRange{2, 7}));
  EXPECT_THAT(scanner.find_all("secret-key-9"), ElementsAre(FoundRange{2, 12}));
}

// Against the obvious way, with values and texts over a small alphabet, where everything overlaps.
TEST(ValueScanner, AgreesWithLookingForEachValue) {
  std::uint32_t state = 7;
  const auto draw = [&](std::uint32_t below) {
    return (state = state * 1664525U + 1013904223U) / 65536U % below;
  };
  const auto word = [&](std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += static_cast<char>('a' + draw(3));
    return out;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> values;
    for (int i = 0; i < 6; ++i) values.push_back(word(2 + draw(6)));
    const std::string text = word(60);
    std::string expected(text.size(), '.'), found(text.size(), '.');
    for (const std::string& value : values)
      for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 1))
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), value.size(), '#');
    for (const FoundRange& range : ValueScanner(values).find_all(text))
      std::fill(found.begin() + static_cast<std::ptrdiff_t>(range.begin),
                found.begin() + static_cast<std::ptrdiff_t>(range.end), '#');
    ASSERT_EQ(found, expected) << text;
  }
}

// Each position begins a near match of 60,000 bytes: comparing there one by one would take minutes.
TEST(ValueScanner, IsLinearInWhateverItScans) {
  const ValueScanner scanner({std::string(60'000, 'a') + "b"});
  EXPECT_THAT(scanner.find_all(std::string(1'000'000, 'a')), IsEmpty());
}

TEST(Spellings, OfAValueThatNeedsNoEscapingAreFew) {
  EXPECT_THAT(spellings_of("short"), IsEmpty());
  EXPECT_THAT(spellings_of("tok-12345"),
              testing::UnorderedElementsAre("tok-12345", "dG9rLTEyMzQ1", "Rvay0xMjM0N", "0b2stMTIzND"));
}

TEST(Spellings, AreThoseOfJsonUrlsAndForms) {
  const std::vector<std::string> spellings = spellings_of("a\"b/c <d>&é😀");
  for (const char* wanted : {
           R"(a\"b/c <d>&é😀)",
           R"(a\\\"b/c <d>&é😀)",
           R"(a\"b\/c <d>&é😀)",
           R"(a\"b/c \u003cd\u003e\u0026é😀)",
           R"(a\"b/c <d>&\u00e9\ud83d\ude00)",
           "a%22b%2Fc%20%3Cd%3E%26%C3%A9%F0%9F%98%80",
           "a%22b%2fc%20%3cd%3e%26%c3%a9%f0%9f%98%80",
           "a%22b%2Fc+%3Cd%3E%26%C3%A9%F0%9F%98%80",
       })
    EXPECT_THAT(spellings, Contains(wanted));
}

TEST(Spellings, BeginEscapingWhereAsciiEnds) {
  EXPECT_THAT(spellings_of("abcdef\x7f\xc2\x80"), Contains("abcdef\x7f\\u0080"));
}

TEST(Redactor, ReplacesKnownValuesAndNothingElse) {
  Redactor redactor;
  EXPECT_EQ(redactor.redact("abcdefghi"), "abcdefghi");
  EXPECT_FALSE(redactor.find_redacted("abcdefghi"));
  EXPECT_FALSE(redactor.holds_secret("abcdefghi"));
  redactor.learn("abcdef");
  redactor.learn("abcdefghi");
  redactor.learn("short");
  EXPECT_EQ(redactor.redact("abcdefghi abcdef short"), "*** *** short");
  EXPECT_EQ(redactor.redact("abcdef", "[REDACTED]"), "[REDACTED]");
  EXPECT_FALSE(redactor.find_redacted("abcde short"));
  EXPECT_TRUE(redactor.holds_secret("x abcdef"));
  EXPECT_FALSE(redactor.holds_secret("x abcde"));
}

TEST(Redactor, KnowsKeysLineByLineButNotTheirFrame) {
  Redactor redactor;
  redactor.learn("-----BEGIN KEY-----\nMIIEvQIBADANB\r\n  kqhkiG9w0B\n-----END KEY-----");
  EXPECT_EQ(redactor.redact("x MIIEvQIBADANB y kqhkiG9w0B"), "x *** y ***");
  EXPECT_EQ(redactor.redact("-----BEGIN KEY-----"), "-----BEGIN KEY-----");
  // A short line is not learned in base64 either, where it is longer.
  redactor.learn("first\nthe-second-line");
  EXPECT_EQ(redactor.redact("Zmlyc3Q= Zpcn"), "Zmlyc3Q= Zpcn");
}

// A Basic header holds the password at any place of a group of three bytes.
TEST(Redactor, FindsValuesInsideOfBase64) {
  Redactor redactor;
  redactor.learn("hunter2-secret");
  for (const char* user : {"", "a", "ab", "abc", "abcd"})
    for (const char* rest : {"", "x", "xy", "xyz"}) {
      const std::string plain = fmt::format("{}hunter2-secret{}", user, rest);
      EXPECT_THAT(redactor.redact(to_base64(plain)), HasSubstr("***")) << plain;
      EXPECT_THAT(redactor.redact(to_base64url(plain)), HasSubstr("***")) << plain;
    }
}

TEST(Redactor, KeepsJsonValid) {
  Redactor redactor;
  redactor.learn("quo\"ted-value");
  redactor.learn("12345678");
  redactor.learn(R"({"key":"abc","id":1})");
  EXPECT_EQ(redactor.find_redacted_json(R"({"a":"x quo\"ted-value y"})"), R"({"a":"x *** y"})");
  EXPECT_EQ(redactor.find_redacted_json(R"({"n":12345678,"m":[1,"12345678"]})"),
            R"({"n":"***","m":[1,"***"]})");
  EXPECT_EQ(redactor.find_redacted_json(R"({"quo\"ted-value":12345678})"), R"({"***":"***"})");
  EXPECT_EQ(redactor.find_redacted_json(R"({"whole":{"key":"abc","id":1}})"), R"("***")")
      << "it spans strings and members; nothing of it can be passed on";
  EXPECT_FALSE(redactor.find_redacted_json(R"({"a":[1,2]})"));
}

TEST(Redactor, RedactsTheStringsOfATree) {
  Redactor redactor;
  json::value tree = *json::parse(R"({"a":["x secret-1",7,null]})");
  redactor.redact_strings(tree);
  EXPECT_EQ(json::write(tree), R"({"a":["x secret-1",7,null]})");
  redactor.learn("secret-1");
  redactor.redact_strings(tree);
  EXPECT_EQ(json::write(tree), R"({"a":["x ***",7,null]})");
}

// Otherwise tokens that are renewed every hour would be kept for as long as the program runs.
TEST(Redactor, ForgetsWhatWasLearnedLongestAgoWhenItIsFull) {
  std::size_t bytes = 0;
  for (const std::string& spelling : spellings_of("the-value-1")) bytes += spelling.size();
  Redactor redactor(3 * bytes);
  redactor.learn({"the-value-1", "the-value-2", "the-value-3"});
  EXPECT_EQ(redactor.redact("the-value-1 the-value-2 the-value-3"), "*** *** ***") << "they just fit";
  redactor.learn("the-value-1");  // as a server that is started again does
  redactor.learn("the-value-4");
  EXPECT_EQ(redactor.redact("the-value-1 the-value-2 the-value-3 the-value-4"), "*** the-value-2 *** ***");
}

TEST(Redactor, OneValueLargerThanAllRoomIsStillKnown) {
  Redactor redactor(16);
  redactor.learn("the-first-value");
  redactor.learn("the-second-value-that-is-long");
  EXPECT_EQ(redactor.redact("the-first-value the-second-value-that-is-long"), "the-first-value ***");
}

TEST(Redactor, IsReadWhileItLearns) {
  Redactor redactor;
  redactor.learn("always-known");
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_EQ(redactor.redact("x always-known"), "x ***");
  });
  for (int i = 0; i < 200; ++i) redactor.learn(fmt::format("value-number-{}", i));
  EXPECT_EQ(redactor.redact("value-number-199"), "***");
}

}  // namespace
}  // namespace relay::secrets
