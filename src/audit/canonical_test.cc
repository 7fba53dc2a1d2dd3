#include "audit/canonical.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <random>

#include <gmock/gmock.h>

#include "audit/audit_fixture.h"
#include "audit/chain.h"
#include "audit/verify.h"
#include "base/fd.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

std::string canonical(std::string_view text) {
  const auto made = canonical_json(text);
  return made ? *made : "refused: " + made.error().message;
}

TEST(Canonical, SortsAtEveryLevelAndDropsBlanks) {
  EXPECT_EQ(canonical(R"( {"b" : [1, {"z":null,"a":true}, {}], "a":[ ], "é":false} )"),
            R"({"a":[],"b":[1,{"a":true,"z":null},{}],"é":false})");
  EXPECT_EQ(canonical("\t\r\n[ 1\t,\r2\n]"), "[1,2]");
}

TEST(Canonical, SortsByCodePointAsPythonDoes) {
  EXPECT_EQ(canonical(R"({"\ud83d\ude00":1,"\uffff":2,"a\u0000":3,"a":4})"),
            "{\"a\":4,\"a\\u0000\":3,\"\xEF\xBF\xBF\":2,\"😀\":1}");
}

// spelling · what Python writes
TEST(Canonical, SpellsNumbersAsPythonDoes) {
  const std::vector<std::pair<std::string, std::string>> numbers{
      {"-0.0", "-0.0"},
      {"-0", "0"},
      {"0e5", "0.0"},
      {"1.0", "1.0"},
      {"1E16", "1e+16"},
      {"1e15", "1000000000000000.0"},
      {"0.0000001", "1e-07"},
      {"1.50", "1.5"},
      {"5e-324", "5e-324"},
      {"1e-400", "0.0"},
      {"-1e-400", "-0.0"},
      {"12e-1", "1.2"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1e22", "1e+22"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"9007199254740993.0", "9007199254740992.0"}};
  for (const auto& [text, expected] : numbers) EXPECT_EQ(canonical(text), expected) << text;
}

TEST(Canonical, SpellsStringsWithTheFewestEscapes) {
  EXPECT_EQ(canonical(R"("\u00e9\/\u0041\ud83d\ude00")"), R"("é/A😀")");
  EXPECT_EQ(canonical(R"("\b\f\n\r\t\"\\")"), R"("\b\f\n\r\t\"\\")");
  EXPECT_EQ(canonical(R"("\u0008\u0009\u000a\u000A\u000c\u000d")"), R"("\b\t\n\n\f\r")");
  EXPECT_EQ(canonical(R"("\u0001\u001f\u001F\u000b\u000B")"), R"("\u0001\u001f\u001f\u000b\u000b")");
  EXPECT_EQ(canonical("\"\x7F\""), "\"\x7F\"");
}

// text · why it is refused
TEST(Canonical, RefusesWhatIsNotStrictJson) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "a value was expected at byte 0"},
      {"{", "a key was expected at byte 1"},
      {"[1,]", "a value was expected at byte 3"},
      {R"({"a":1,})", "a key was expected at byte 7"},
      {R"({"a":1,"a":2})", "a member that occurs twice in the object at byte 13"},
      {R"({"a":1,"b":2,"\u0061":2})", "a member that occurs twice in the object at byte 24"},
      {"01", "a value was expected at byte 0"},
      {"-01", "a value was expected at byte 0"},
      {"1.", "a number that ends with its point at byte 0"},
      {"1.e5", "a number that ends with its point at byte 0"},
      {"1e", "a number without its exponent at byte 0"},
      {"1e+", "a number without its exponent at byte 0"},
      {"-", "a value was expected at byte 0"},
      {"+1", "a value was expected at byte 0"},
      {".5", "a value was expected at byte 0"},
      {"nul", "a value was expected at byte 0"},
      {"NaN", "a value was expected at byte 0"},
      {"1e400", "a number beyond the range of a double at byte 0"},
      {"-1e400", "a number beyond the range of a double at byte 0"},
      {"\"\n\"", "a control character in a string at byte 0"},
      {"\"\x1F\"", "a control character in a string at byte 0"},
      {R"("\x")", "an invalid escape in a string at byte 0"},
      {R"("\u12g4")", "an invalid escape in a string at byte 0"},
      {R"("\u12")", "an invalid escape in a string at byte 0"},
      {R"("\u123)", "an invalid escape in a string at byte 0"},
      {R"("\)", "an invalid escape in a string at byte 0"},
      {R"("\ud800")", "half of a surrogate pair in a string at byte 0"},
      {R"("abc)", "a string that does not end at byte 0"},
      {"{a:1}", "a key was expected at byte 1"},
      {"1 2", "text after the value at byte 2"},
      {"\"\xff\"", "not valid UTF-8"},
      {R"({"a" 1})", "':' was expected at byte 5"},
      {R"({"a":1 "b":2})", "',' or '}' was expected at byte 7"},
      {"[1 2]", "',' or ']' was expected at byte 3"}};
  for (const auto& [text, why] : bad) EXPECT_EQ(canonical(text), "refused: " + why) << text;
}

TEST(Canonical, BoundsTheDepthSoThatAHostileLineCannotExhaustTheStack) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const auto nested_objects = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
    return text + "1" + std::string(depth, '}');
  };
  EXPECT_TRUE(canonical_json(nested_objects(limits::kJsonDepth)));
  EXPECT_THAT(canonical(nested_objects(limits::kJsonDepth + 1)), testing::HasSubstr("nested too deeply"));
  EXPECT_TRUE(canonical_json(nested(limits::kJsonDepth + 1)));
  EXPECT_THAT(canonical(nested(limits::kJsonDepth + 2)), testing::HasSubstr("nested too deeply"));
  EXPECT_FALSE(canonical_json(std::string(5000, '[')));
}

// A line is a piece of a larger buffer: the bytes behind it belong to the next one.
TEST(Canonical, LooksAtNothingBehindItsText) {
  for (const std::string text :
       {"1",  "-0",  "1.5", "1e5",  "12",       "true", "\"a\"", "[]", "{}",     "",         "-",  "1.",
        "1e", "1e+", "\"",  "\"\\", "\"\\u123", "{",    "[",     "[1", "{\"a\"", "{\"a\":1", "tru"})
    for (const std::string behind : {"0", ".5", "e5", "+5", "4\"", "\"", "n\"", "}", "]", ":1}", "e", " "}) {
      const std::string buffer = text + behind;
      EXPECT_EQ(canonical(std::string_view(buffer).substr(0, text.size())), canonical(text))
          << text << " before " << behind;
    }
}

TEST(ParsedLine, HasTheMembersOfTheChainAndTheRestInCanonicalForm) {
  const auto line =
      parse_line(R"( {"seq":7,"prev":"p","chain":"c","action":"recovered","args":{"b":1,"a":2},"x":1.50} )");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->canonical, R"({"action":"recovered","args":{"a":2,"b":1},"prev":"p","seq":7,"x":1.5})");
  EXPECT_EQ(line->seq, 7U);
  EXPECT_EQ(line->prev, "p");
  EXPECT_EQ(line->chain, "c");
  EXPECT_EQ(line->action, "recovered");
  EXPECT_EQ(line->args, R"({"a":2,"b":1})");
  EXPECT_TRUE(line->chained());
}

// A record that lacks one of the three would be taken for one whose chain cannot be checked.
TEST(ParsedLine, IsChainedOnlyWithAllThreeMembersOfTheRightType) {
  for (const std::string_view text :
       {R"({"prev":"p","chain":"c"})", R"({"seq":1,"chain":"c"})", R"({"seq":1,"prev":"p"})",
        R"({"seq":-1,"prev":"p","chain":"c"})", R"({"seq":1.0,"prev":"p","chain":"c"})",
        R"({"seq":"1","prev":"p","chain":"c"})", R"({"seq":1,"prev":7,"chain":"c"})",
        R"({"seq":18446744073709551616,"prev":"p","chain":"c"})"}) {
    const auto line = parse_line(text);
    ASSERT_TRUE(line) << text;
    EXPECT_FALSE(line->chained()) << text;
  }
}

TEST(ParsedLine, IsOneObjectAndNothingElse) {
  for (const std::string_view text :
       {"", "[]", "1", "{}x", "{} {}", "{", R"({"a":1,"a":1})", "{\"a\":\"\xff\"}"})
    EXPECT_FALSE(parse_line(text)) << text;
  EXPECT_EQ(parse_line("[]").error().message, "not a JSON object");
  EXPECT_TRUE(parse_line("{}"));
}

// Runs `script` with `input` on its standard input; the descriptors are files, so neither side can block.
std::string python(const std::string& script, const std::string& input) {
  const TempFolder folder;
  spill(folder.file("in"), input);
  const pid_t child = ::fork();
  if (child == 0) {
    const int in = ::open(folder.file("in").c_str(), O_RDONLY);
    const int out = ::open(folder.file("out").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::execlp("python3", "python3", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "python3";
  return slurp(folder.file("out"));
}

constexpr const char* kDumps = R"(
import json, sys
sys.stdin.reconfigure(encoding="utf-8", newline="\n"); sys.stdout.reconfigure(encoding="utf-8", newline="\n")
for line in sys.stdin:
    print(json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
)";

class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0: return integer();
      case 1: return fmt::format("{:.{}e}", any_double(), below(20));
      case 2: return shortest(any_double());
      case 3: return decimal();
      case 4: return string();
      case 5: return std::array{"true", "false", "null", "-0", "-0.0", "1.0", "0.0"}.at(below(7));
      case 6: return "[" + list(depth, [&] { return value(depth - 1); }) + "]";
      default: {
        int number = 0;
        return "{" + list(depth, [&] { return key(number++) + blank() + ":" + value(depth - 1); }) + "}";
      }
    }
  }
  double any_double() {
    for (;;)
      if (const double number = std::bit_cast<double>(random_()); std::isfinite(number))
        return below(2) == 0 ? number
                             : std::ldexp(std::frexp(number, &unused_), static_cast<int>(below(130)) - 60);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::string blank() { return std::string(below(2), ' '); }
  std::string integer() {
    std::string digits = below(2) == 0 ? "-" : "";
    digits += static_cast<char>('1' + below(9));
    for (std::size_t i = below(40); i > 0; --i) digits += static_cast<char>('0' + below(10));
    return digits;
  }
  std::string decimal() {
    return integer() + "." + std::to_string(below(1000000)) +
           (below(2) == 0 ? "" : fmt::format("E{}", below(200)));
  }
  static std::string shortest(double number) {
    const std::string text = fmt::format("{}", number);
    return text == "-0" ? "-0.0" : text;
  }
  std::string string() {
    static constexpr std::array kPieces = {"a",
                                           "é",
                                           "😀",
                                           "\\n",
                                           "\\u000a",
                                           "\\u001F",
                                           "\\/",
                                           "\\\"",
                                           "\\\\",
                                           "\\u00e9",
                                           "\\ud83d\\ude00",
                                           "\x7F",
                                           "\xE2\x80\xA8",
                                           "\\u0000",
                                           " "};
    std::string out = "\"";
    for (std::size_t i = below(6); i > 0; --i) out += kPieces.at(below(kPieces.size()));
    return out + "\"";
  }
  std::string key(int number) { return fmt::format("\"{}{}", number, string().substr(1)); }
  template <class Item>
  std::string list(int depth, Item item) {
    std::string out;
    for (std::size_t i = below(static_cast<std::size_t>(depth) + 2); i > 0; --i)
      out += item() + blank() + (i > 1 ? "," : "");
    return out;
  }

  std::mt19937_64 random_;
  int unused_ = 0;
};

TEST(Canonical, IsWhatPythonWritesForThousandsOfRandomValues) {
  RandomJson random(7);
  std::string input;
  for (int i = 0; i < 4000; ++i) input += random.value(4) + "\n";
  std::istringstream texts(input);
  std::istringstream expected(python(kDumps, input));
  std::size_t compared = 0;
  for (std::string text, reference; std::getline(texts, text) && std::getline(expected, reference);
       ++compared)
    ASSERT_EQ(canonical(text), reference) << text;
  EXPECT_EQ(compared, 4000U);
}

// As the verifier of relay-shell does it.
constexpr const char* kVerify = R"(
import hashlib, json, sys
sys.stdin.reconfigure(encoding="utf-8", newline="\n")
prev = "0" * 64
for seq, line in enumerate(sys.stdin):
    record = json.loads(line)
    chain = record.pop("chain")
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if record["seq"] != seq or record["prev"] != prev or hashlib.sha256((prev + text).encode()).hexdigest() != chain:
        sys.exit(f"line {seq + 1}: {line}")
    prev = chain
print(seq + 1)
)";

TEST(Chain, OfAnyArgumentsIsVerifiedByPythonAndByUs) {
  RandomJson random(11);
  const FakeClock clock;
  ChainPoint point;
  std::string log;
  for (int i = 0; i < 1500; ++i) {
    authority::Call call = make_call(fmt::format("req_{}", i));
    call.args = json::object{{"any", json::parse(random.value(4)).value()}};
    append_chained(log, make_end(clock.wall(), call, make_grant("x").decision(), {}, {}), point);
  }
  EXPECT_EQ(python(kVerify, log), "1500\n");
  const TempFolder folder;
  spill(folder.log(), log);
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
}

// Written as `-0`, which Python reads as the integer 0 and calls a changed record.
TEST(Chain, NegativeZeroInAnArgumentKeepsItsSignAndItsFraction) {
  authority::Call call = make_call("req_1");
  call.args = json::object{{"a", -0.0}, {"b", 1.0}, {"c", 1e16}, {"d", 1e-7}, {"e", -5}};
  const Record record = make_end(FakeClock().wall(), call, make_grant("x").decision(), {}, {});
  EXPECT_THAT(record.text(), testing::HasSubstr(R"("args":{"a":-0.0,"b":1.0,"c":1e+16,"d":1e-07,"e":-5})"));
}

}  // namespace
}  // namespace relay::audit
