#include "shell/judgement.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "policy/host_match.h"
#include "shell/patterns.h"
#include "shell/wrappers.h"

namespace relay::shell {
namespace {

using authority::Tier;

constexpr std::size_t kShownBytes = 120;  // of a command in a reason

std::string shown(const CommandWords& words) {
  std::string text = canonical_text(words);
  if (text.size() <= kShownBytes) return to_valid_utf8(text);
  text.resize(kShownBytes);
  return to_valid_utf8(text) + "…";
}

bool has_wildcard(std::string_view program) {
  return program.find_first_of("*?[") != std::string_view::npos && program != "[" && program != "[[";
}

TierFinding judge_words(const CommandWords& words) {
  TierFinding finding = find_tier_of(words);
  const auto consider = [&](TierFinding found) {
    if (found.tier > finding.tier) finding = std::move(found);
  };
  if (has_wildcard(words[0])) consider(find_tier_of_pattern(words[0], words));
  consider(find_pattern(canonical_text(words)));
  return finding;
}

// Scripts repeat themselves: a reading is judged once.
TierFinding judge_readings(const ParsedCommand& command, std::map<CommandWords, TierFinding>& known) {
  TierFinding finding;
  for (const CommandWords& words : command.readings) {
    const auto [entry, is_new] = known.try_emplace(words);
    if (is_new) entry->second = judge_words(words);
    if (entry->second.tier > finding.tier) finding = entry->second;
  }
  return finding;
}

class Judging {
 public:
  explicit Judging(ShellJudgement& out) : out_(out) {}

  void consider(const TierFinding& finding, std::string_view subject) {
    if (finding.tier <= out_.tier) return;
    out_.tier = finding.tier;
    out_.reason = subject.empty() ? finding.why : fmt::format("{}: {}", subject, finding.why);
  }

 private:
  ShellJudgement& out_;
};

}  // namespace

ShellJudgement judge(const ShellRequest& request) {
  ShellJudgement out;
  const CommandLineOptions options{.input = request.input, .environment = request.environment};
  out.line = request.words.empty() ? understand(request.foreign.empty() ? request.text : "", options)
                                   : understand_words(request.words, options);
  if (!request.foreign.empty())
    out.line.opaque.push_back(fmt::format("the code that {} gets is not read", request.foreign));
  Judging judging(out);
  std::map<CommandWords, TierFinding> known;
  for (const ParsedCommand& command : out.line.commands) {
    JudgedCommand judged{command.words, command.inside, judge_readings(command, known)};
    judging.consider(judged.finding, shown(command.words));
    out.commands.push_back(std::move(judged));
  }
  for (const std::string& file : out.line.files_written)
    judging.consider(find_tier_of_write(file), "> " + file);
  judging.consider(find_pattern(policy_text_of(request)), "the text");
  if (out.line.is_opaque()) judging.consider({Tier::stateful, out.line.opaque.front()}, "opaque");
  if (out.reason.empty()) out.reason = "nothing in it is known to reach further";
  return out;
}

std::string policy_text_of(const ShellRequest& request) {
  std::string out = request.words.empty() ? request.text : canonical_text(request.words);
  if (request.input) out += "\n" + *request.input;
  for (const std::string& each : request.environment) out += "\n" + each;
  return to_valid_utf8(out);
}

std::vector<authority::CallField> policy_fields_of(const ShellRequest& request,
                                                   const ShellJudgement& judgement) {
  std::vector<authority::CallField> fields;
  std::set<std::pair<std::string_view, std::string>> seen;
  const auto add = [&](std::string_view name, std::string_view value) {
    std::string text = to_valid_utf8(value);
    if (seen.emplace(name, text).second) fields.push_back({std::string(name), std::move(text)});
  };
  add("command", request.words.empty() ? request.text : canonical_text(request.words));
  for (const ParsedCommand& command : judgement.line.commands)
    for (const CommandWords& words : command.readings) {
      add("command", canonical_text(words));
      CommandWords plain = words;
      plain[0] = std::string(program_name(plain[0]));
      add("command", canonical_text(plain));
    }
  for (const std::string& host : judgement.line.hosts) {
    add("host", host);
    if (const auto parsed = policy::parse_host(host)) add("host", parsed->name);
  }
  for (const std::string& file : judgement.line.files_written) add("path", file);
  if (request.input) add("stdin", *request.input);
  for (const std::string& each : request.environment) add("env", each);
  return fields;
}

}  // namespace relay::shell
