#include <filesystem>
#include <random>

#include <gmock/gmock.h>

#include "codemode/learned_shape.h"
#include "codemode/learned_types.h"
#include "codemode/typescript.h"
#include "protocol/schema.h"

namespace relay::codemode {
namespace {

json::value value(std::string_view text) {
  return *json::parse(text);
}

std::string type_of(const json::value& schema) {
  return typescript_type(shape_of(schema));
}

TEST(LearnedShape, OneSampleSaysWhatItHas) {
  EXPECT_EQ(
      json::write(learned_from(value(R"({"b":[1,2.5],"a":null})"))),
      R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"array","items":{"type":"number"}}},"required":["a","b"]})");
}

TEST(LearnedShape, MembersThatSometimesMissAreOptional) {
  const json::value merged = merged_schemas(learned_from(value(R"({"id":1,"name":"x"})")),
                                            learned_from(value(R"({"id":2,"tag":null})")));
  EXPECT_EQ(type_of(merged), "{\n  id: number;\n  name?: string;\n  tag?: null;\n}");
}

TEST(LearnedShape, AnEmptyListTakesTheItemsOfAnother) {
  EXPECT_EQ(type_of(merged_schemas(learned_from(value("[]")), learned_from(value(R"(["a"])")))), "string[]");
}

TEST(LearnedShape, VeryManyMembersAreAMap) {
  json::object many;
  for (int i = 0; i < 100; ++i) many["key" + std::to_string(i)] = i;
  EXPECT_EQ(type_of(learned_from(many)), "Record<string, number>");
}

// A random value of at most three levels.
json::value random_value(std::mt19937& random, int depth = 0) {
  switch (std::uniform_int_distribution(0, depth > 2 ? 4 : 6)(random)) {
    case 0: return nullptr;
    case 1: return true;
    case 2: return 7;
    case 3: return 2.5;
    case 4: return "text";
    case 5: {
      json::array list;
      for (int i = std::uniform_int_distribution(0, 3)(random); i > 0; --i)
        list.push_back(random_value(random, depth + 1));
      return list;
    }
    default: {
      json::object object;
      for (const char* key : {"a", "b", "c"})
        if (std::uniform_int_distribution(0, 1)(random) == 1) object[key] = random_value(random, depth + 1);
      return object;
    }
  }
}

TEST(LearnedShape, MergingKnowsNoOrderAndDescribesEverySample) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const json::value a = random_value(random), b = random_value(random), c = random_value(random);
    const json::value la = learned_from(a), lb = learned_from(b), lc = learned_from(c);
    const json::value merged = merged_schemas(merged_schemas(la, lb), lc);
    ASSERT_EQ(merged, merged_schemas(la, merged_schemas(lc, lb)))
        << json::write(a) << json::write(b) << json::write(c);
    ASSERT_EQ(merged, merged_schemas(merged, lb));
    ASSERT_EQ(merged_schemas(la, la), la);
    const auto schema = protocol::Schema::compile(merged);
    ASSERT_TRUE(schema) << json::write(merged);
    for (const json::value& sample : {a, b, c})
      ASSERT_TRUE(schema->check(sample).empty()) << json::write(merged) << json::write(sample);
  }
}

TEST(LearnedShape, WhatIsTooLargeLosesItsDepths) {
  json::object deep;
  for (int i = 0; i < 60; ++i) {
    json::object inner;
    for (int j = 0; j < 60; ++j) inner["a_rather_long_name_" + std::to_string(j)] = "x";
    deep["k" + std::to_string(i)] = std::move(inner);
  }
  const json::value bounded = bounded_schema(learned_from(deep));
  EXPECT_LE(json::write(bounded).size(), limits::kLearnedTypeBytes);
  EXPECT_TRUE(bounded.at("properties").as_object().contains("k7"));
}

class LearnedFile : public testing::Test {
 protected:
  ~LearnedFile() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("relay-learned-" + std::to_string(::getpid()));
  std::filesystem::path file_ = directory_ / "mcp" / "learned.json";
};

TEST_F(LearnedFile, SurvivesARestart) {
  const LearnedTypes::ToolKey key{"github", "list", schema_hash("{}")};
  {
    LearnedTypes types(file_);
    EXPECT_TRUE(types.wants(key));
    EXPECT_TRUE(types.learn(key, value(R"([{"id":1}])")));
    EXPECT_FALSE(types.learn(key, value(R"([{"id":2}])")));
    ASSERT_TRUE(types.save());
  }
  const LearnedTypes again(file_);
  ASSERT_TRUE(again.find(key));
  EXPECT_EQ(type_of(again.find(key)->schema), "{\n  id: number;\n}[]");
}

TEST_F(LearnedFile, AnotherInputSchemaIsAnotherTool) {
  LearnedTypes types(file_);
  types.learn({"s", "t", schema_hash("{}")}, value("1"));
  EXPECT_FALSE(types.find({"s", "t", schema_hash(R"({"type":"object"})")}));
  types.learn({"s", "t", schema_hash("[]")}, value(R"("x")"));
  EXPECT_FALSE(types.find({"s", "t", schema_hash("{}")}));
  EXPECT_EQ(types.find({"s", "t", schema_hash("[]")})->samples, 1U);
}

TEST_F(LearnedFile, StopsAskingAfterEnoughSamples) {
  LearnedTypes types(file_);
  const LearnedTypes::ToolKey key{"s", "t", "h"};
  for (std::size_t i = 0; i < limits::kLearnedSamples; ++i) types.learn(key, value("1"));
  EXPECT_FALSE(types.wants(key));
}

TEST_F(LearnedFile, TheNumberOfToolsIsBounded) {
  LearnedTypes types(file_);
  for (std::size_t i = 0; i < limits::kLearnedTypes + 10; ++i)
    types.learn({"s", std::to_string(i), "h"}, value("1"));
  EXPECT_FALSE(types.find({"s", std::to_string(limits::kLearnedTypes + 5), "h"}));
  EXPECT_TRUE(types.find({"s", "0", "h"}));
  EXPECT_FALSE(types.wants({"other", "t", "h"}));
}

TEST_F(LearnedFile, ADamagedFileIsAsGoodAsNone) {
  std::filesystem::create_directories(file_.parent_path());
  for (const char* text :
       {"", "{", "[]", R"({"version":2})", R"({"version":1,"servers":{"a":{"b":{"schema":7}}}})"}) {
    {
      std::FILE* file = std::fopen(file_.c_str(), "w");
      std::fputs(text, file);
      std::fclose(file);
    }
    EXPECT_FALSE(LearnedTypes(file_).find({"a", "b", ""})) << text;
  }
}

}  // namespace
}  // namespace relay::codemode
