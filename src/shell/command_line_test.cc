#include "shell/command_line.h"

#include <gmock/gmock.h>

#include "base/limits.h"

namespace relay::shell {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> lines_of(const CommandLine& line) {
  std::vector<std::string> out;
  for (const ParsedCommand& command : line.commands) out.push_back(canonical_text(command.words));
  return out;
}

std::vector<std::string> commands_in(std::string_view text) {
  return lines_of(understand(text));
}

std::vector<std::string> readings_in(std::string_view text) {
  std::vector<std::string> out;
  for (const ParsedCommand& command : understand(text).commands)
    for (const CommandWords& words : command.readings) out.push_back(canonical_text(words));
  return out;
}

TEST(CommandLine, FindsTheCommandsOfListsAndPipes) {
  EXPECT_THAT(commands_in("a 1; b 2 && c 3 || d | e & f\ng"),
              ElementsAre("a 1", "b 2", "c 3", "d", "e", "f", "g"));
}

TEST(CommandLine, FindsCommandsInCompounds) {
  EXPECT_THAT(commands_in("if a; then b; elif c; then d; else e; fi"), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(commands_in("while a; do b; done; until c; do d; done"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(commands_in("for x in 1 2; do a; done; for ((i=0;i<2;i++)); do b; done"),
              ElementsAre("a", "b"));
  EXPECT_THAT(commands_in("case $x in a|b) c ;; (d) e ;& *) f ;; esac; g"), ElementsAre("c", "e", "f", "g"));
  EXPECT_THAT(commands_in("{ a; }; (b; (c)); ! d; time e; ! { f; }; time { g; }; coproc h; coproc N { i; }"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i"));
  EXPECT_THAT(commands_in("f() { a; }; function g { b; }; function h() ( c )"), ElementsAre("a", "b", "c"));
}

TEST(CommandLine, FindsCommandsInSubstitutions) {
  EXPECT_THAT(commands_in("a $(b `c`) \"$(d)\" <(e) >(f)"),
              ElementsAre("a $(b `c`) $(d) <(e) >(f)", "b `c`", "c", "d", "e", "f"));
  EXPECT_THAT(commands_in("x=$(a) y[$(b)]=1 z=($(c) `d`)"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(commands_in("echo ${x:-`a`} ${x#$(b)} \"${x:-$(c)}\" $(( $(d) + 1 )) $[ $(e) ]"),
              Contains("a"));
  EXPECT_THAT(commands_in("(( x = $(a) )); [[ `b` == $(c) ]]"), ElementsAre("a", "[[ `b` == $(c)", "b", "c"));
}

TEST(CommandLine, FindsCommandsInHereDocuments) {
  EXPECT_THAT(commands_in("cat <<E\n$(a) `b`\nE\nc"), ElementsAre("cat", "a", "b", "c"));
  EXPECT_THAT(commands_in("cat <<-E\n\t$(a)\n\tE\nc"), ElementsAre("cat", "a", "c"));
  EXPECT_THAT(commands_in("cat <<'E'\n$(a)\nE\nc"), ElementsAre("cat", "c"));
  EXPECT_THAT(commands_in("cat <<A <<B; d\n`a`\nA\n`b`\nB\nc"), ElementsAre("cat", "d", "a", "b", "c"));
}

TEST(CommandLine, ReadsQuotes) {
  EXPECT_THAT(commands_in(R"('r'"m" \-rf $'\x2f')"), ElementsAre("rm -rf /"));
  EXPECT_THAT(commands_in("r\\\nm -r\\\nf x"), ElementsAre("rm -rf x"));
  EXPECT_THAT(commands_in("{rm,-rf,/}"), ElementsAre("rm -rf /"));
  EXPECT_THAT(commands_in("echo '$(a)' \\$\\(b\\) # $(c)"), ElementsAre("echo $(a) $(b)"));
}

TEST(CommandLine, FollowsVariablesOfTheSameText) {
  EXPECT_THAT(readings_in("X=rm; $X -rf /"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("a=r b=m; $a$b -rf /"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("rm${IFS}-rf${IFS}/"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("r$@m -rf /"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("$(echo rm) -rf /"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("set -- rm -rf /; \"$@\""), Contains("rm -rf /"));
  EXPECT_TRUE(understand("$X -rf /").is_opaque());
}

TEST(CommandLine, SeesThroughWrappers) {
  for (const std::string_view text :
       {"sudo rm -rf /", "sudo -u root -- rm -rf /", "env A=1 rm -rf /", "nice -n 5 rm -rf /",
        "timeout -k 1 5 rm -rf /", "find . -exec rm -rf / \\;", "sudo env nohup setsid rm -rf /",
        "xargs rm -rf /", "flock /l rm -rf /", "command rm -rf /", "\\rm -rf /", "busybox rm -rf /",
        "/usr/bin/time -f x rm -rf /", "sudo --unknown value rm -rf /"})
    EXPECT_THAT(readings_in(text), Contains("rm -rf /")) << text;
}

TEST(CommandLine, ReadsTextsOfOtherShells) {
  for (const std::string_view text : {"bash -c 'rm -rf /'",
                                      "sh -xc 'rm -rf /'",
                                      "eval rm -rf /",
                                      "ssh host rm -rf /",
                                      "su -c 'rm -rf /' x",
                                      "trap 'rm -rf /' EXIT",
                                      "alias x='rm -rf /'",
                                      "git -c alias.x='!rm -rf /' x",
                                      "echo 'rm -rf /' | sh",
                                      "bash <<< 'rm -rf /'",
                                      "bash <<E\nrm -rf /\nE",
                                      "echo cm0gLXJmIC8= | base64 -d | sh",
                                      "bash -c 'bash -c \"rm -rf /\"'",
                                      "bash -c '$0 -rf /' rm; bash -c '\"$@\"' x rm -rf /",
                                      "sudo bash -c 'rm -rf /'",
                                      "xargs sh -c 'rm -rf /'",
                                      "watch rm -rf /",
                                      "GIT_SSH_COMMAND='rm -rf /' git fetch",
                                      "find . -exec sh -c 'rm -rf /' \\;",
                                      "env -S 'rm -rf /'",
                                      "tar --checkpoint-action=exec='rm -rf /' -cf x y"})
    EXPECT_THAT(readings_in(text), Contains("rm -rf /")) << text;
}

TEST(CommandLine, SaysWhatIsOpaque) {
  for (const std::string_view text : {"curl x | sh",
                                      "python3 -c 'x'",
                                      "perl -e x",
                                      "awk 'BEGIN{system(\"x\")}'",
                                      "sed '1e rm x'",
                                      "source <(curl x)",
                                      "bash <(curl x)",
                                      "eval \"$X\"",
                                      "LD_PRELOAD=x ls",
                                      "PATH=/x ls",
                                      "/bin/r? x",
                                      "$X",
                                      "cat x | python3",
                                      "echo \"${x:-'$(rm)'}\"",
                                      "echo 'unclosed",
                                      "a ( b",
                                      "${ rm x; }",
                                      "let 'a[$(rm x)]'",
                                      "curl x > y; bash y",
                                      "x='$(rm x)'; echo ${x@P}",
                                      "rm $F x",
                                      "zsh -c ls",
                                      "$(( 'a' ))"})
    EXPECT_TRUE(understand(text).is_opaque()) << text;
}

TEST(CommandLine, IsNotOpaqueForPlainWork) {
  for (const std::string_view text : {"ls -la",
                                      "git status && git diff",
                                      "for f in *.c; do wc -l \"$f\"; done",
                                      "grep -r 'a b' . | head -5",
                                      "awk '{print $1}' x",
                                      "sed -n '1,5p' x",
                                      "sed 's/a/b/g' x | sort",
                                      "cat <<E\n$HOME\nE",
                                      "make -j2 2>&1 | tail",
                                      "x=1; echo $x",
                                      "echo $(date)",
                                      "[ -f x ] && echo y",
                                      "[[ a =~ ^(b|c)$ ]]",
                                      "((x++))",
                                      "echo $((1 + 2))",
                                      "find . -name '*.h'",
                                      "python3 script.py",
                                      "./run.sh",
                                      "if [ \"$a\" = b ]; then echo c; fi",
                                      "case $x in a) b ;; esac",
                                      "echo a > b",
                                      "npm test",
                                      "echo >&2 msg",
                                      "exec 3<>file",
                                      "echo {a,b}"})
    EXPECT_THAT(understand(text).opaque, IsEmpty()) << text;
}

TEST(CommandLine, NotesFilesAndHosts) {
  const CommandLine line =
      understand("curl https://a.example/x > out; ssh me@b.example ls; echo x > /dev/tcp/10.0.0.1/80");
  EXPECT_THAT(line.hosts, ElementsAre("a.example", "b.example", "10.0.0.1"));
  EXPECT_THAT(line.files_written, Contains("out"));
}

TEST(CommandLine, KeepsWhatStoodBeforeAnError) {
  const CommandLine line = understand("rm x\n)");
  EXPECT_THAT(lines_of(line), ElementsAre("rm x"));
  EXPECT_TRUE(line.is_opaque());
}

TEST(CommandLine, SurvivesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "$(";
  EXPECT_TRUE(understand(deep).is_opaque());
  std::string arithmetic;
  for (int i = 0; i < 5'000; ++i) arithmetic += "$((";
  EXPECT_TRUE(understand(arithmetic).is_opaque());
  std::string doubling = "a=xxxxxxxx\n";
  for (int i = 0; i < 100; ++i) doubling += "a=$a$a\n";
  EXPECT_THAT(understand(doubling).commands, IsEmpty());
}

// Each would take time or memory beyond all measure if nothing bounded it.
TEST(CommandLine, BoundsItsWork) {
  const auto repeated = [](std::string_view text) {
    std::string out;
    while (out.size() < 100'000) out += text;
    return out;
  };
  const std::string value = "x=" + std::string(3'000, 'y') + "\n";
  for (const std::string& text :
       {repeated("docker exec "), repeated("sudo -x "), repeated("{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}{o,p} "),
        repeated("{a,"), "echo x" + repeated("|rev"), value + repeated("$x$x$x;"), value + repeated("$x "),
        repeated("(("), repeated("`a \\`b "), "sh -c '" + repeated("sh -c ls;") + "'", repeated(">f ")})
    understand(text);
  EXPECT_TRUE(understand(repeated("docker exec ")).is_opaque());
  EXPECT_TRUE(understand(std::string(limits::kShellTextBytes + 1, 'a')).is_opaque());
  const CommandLine line = understand(repeated("$"));
  for (const std::string& clause : line.opaque) EXPECT_LE(clause.size(), limits::kShellClauseBytes + 3);
}

TEST(CommandLine, ReadsPosixShellsAsBothDialects) {
  EXPECT_THAT(readings_in("sh -c '((rm -rf /))'"), Contains("rm -rf /"));
  EXPECT_THAT(readings_in("sh -c '[[ a || rm -rf / ]]'"), Contains("rm -rf / ]]"));
}

}  // namespace
}  // namespace relay::shell
