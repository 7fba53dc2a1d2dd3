#include "codemode/ranking.h"

#include <gmock/gmock.h>

namespace relay::codemode {
namespace {

using testing::ElementsAre;

std::vector<std::size_t> found(const WordIndex& index, std::string_view query, std::size_t limit = 5) {
  Ranking ranking;
  ranking.add(index);
  std::vector<std::size_t> tools;
  for (const Hit& hit : ranking.find(query, limit)) tools.push_back(hit.tool);
  return tools;
}

TEST(Words, AreSplitAsIdentifiersAre) {
  EXPECT_THAT(words_of("listIssues by repo_id"), ElementsAre("list", "issue", "by", "repo", "id"));
  EXPECT_THAT(words_of("HTTPServer get-URLs v2"), ElementsAre("http", "server", "get", "ur", "ls", "v2"));
  EXPECT_THAT(words_of("queries status class"), ElementsAre("query", "status", "class"));
  EXPECT_THAT(words_of(""), ElementsAre());
}

class Tools : public testing::Test {
 protected:
  Tools() {
    index_.add({"github", "list_issues", "List issues of a repository", "repo state"});
    index_.add({"github", "createIssue", "Open a new issue", "repo title body"});
    index_.add({"github", "get_file", "Read a file from a repository. Mentions issue once.", "repo path"});
    index_.add({"mail", "send", "Send a message to somebody", "to subject body"});
  }
  WordIndex index_;
};

TEST_F(Tools, NamesCountMoreThanProse) {
  EXPECT_THAT(found(index_, "list issues"), ElementsAre(0, 1, 2));
  EXPECT_THAT(found(index_, "create an issue"), ElementsAre(1, 0, 2));
}

TEST_F(Tools, ParametersAndServersAreFound) {
  EXPECT_THAT(found(index_, "subject"), ElementsAre(3));
  EXPECT_THAT(found(index_, "mail"), ElementsAre(3));
}

TEST_F(Tools, ABeginningOfAWordIsEnough) {
  EXPECT_THAT(found(index_, "repos"), testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_THAT(found(index_, "mess"), ElementsAre(3));
}

TEST_F(Tools, NothingFitsNothing) {
  EXPECT_THAT(found(index_, "kubernetes"), ElementsAre());
  EXPECT_THAT(found(index_, "the of a"), ElementsAre());
  EXPECT_THAT(found(index_, ""), ElementsAre());
}

TEST_F(Tools, TheLimitHolds) {
  EXPECT_THAT(found(index_, "issue", 1), testing::SizeIs(1));
}

TEST(Ranking, EqualToolsKeepTheirOrderAcrossServers) {
  WordIndex a, b;
  a.add({"one", "echo", "Echoes", ""});
  b.add({"two", "echo", "Echoes", ""});
  Ranking ranking;
  ranking.add(a);
  ranking.add(b);
  const auto hits = ranking.find("echo", 5);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].index, 0U);
  EXPECT_EQ(hits[0].score, hits[1].score);
}

}  // namespace
}  // namespace relay::codemode
