#include "cli/classify_command.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

#include "authority/decision.h"
#include "base/bytes.h"
#include "base/printable.h"
#include "policy/engine.h"
#include "shell/judgement.h"

namespace relay::cli {
namespace {

using authority::Tier;

struct Classification {
  shell::ShellJudgement judgement;
  authority::Decision decision;
};

Classification classify(const policy::PolicyEngine& engine, const std::string& tool, std::string text) {
  const shell::ShellRequest request{.text = std::move(text)};
  Classification out{shell::judge(request), {}};
  authority::Call call;
  call.toolset = "shell";
  call.tool = tool;
  call.caller.principal = "local";
  call.tier = out.judgement.tier;
  call.policy_text = shell::policy_text_of(request);
  call.fields = shell::policy_fields_of(request, out.judgement);
  out.decision = engine.decide(call);
  return out;
}

json::array words_of(const shell::CommandWords& words) {
  json::array out;
  for (const std::string& word : words) out.emplace_back(to_valid_utf8(word));
  return out;
}

json::array texts_of(const std::vector<std::string>& texts) {
  return words_of(texts);
}

// A refusal is explained by the policy, everything else by the command.
std::string reason_of(const Classification& it) {
  if (it.decision.verdict == authority::Verdict::allow) return it.judgement.reason;
  return fmt::format("{} ({})", it.decision.reason, it.judgement.reason);
}

json::object to_json(const Classification& it) {
  json::array commands, details;
  for (const shell::JudgedCommand& command : it.judgement.commands) {
    commands.push_back(words_of(command.words));
    json::object detail{{"words", words_of(command.words)},
                        {"tier", authority::number(command.finding.tier)}};
    if (!command.finding.why.empty()) detail["why"] = command.finding.why;
    if (!command.inside.empty()) detail["inside"] = command.inside;
    details.push_back(std::move(detail));
  }
  return {{"tier", authority::number(it.decision.tier)},
          {"decision", std::string(authority::name(it.decision.verdict))},
          {"reason", to_valid_utf8(reason_of(it))},
          {"commands", std::move(commands)},
          {"opaque", it.judgement.line.is_opaque()},
          {"opaqueParts", texts_of(it.judgement.line.opaque)},
          {"details", std::move(details)},
          {"filesWritten", texts_of(it.judgement.line.files_written)},
          {"hosts", texts_of(it.judgement.line.hosts)}};
}

// Nothing that a command holds may steer the terminal.
std::string shown(std::string_view text) {
  return printable(text, '?');
}

bool wants_colour() {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}

  [[nodiscard]] std::string tier(Tier tier) const {
    const std::string text = fmt::format("tier {} {}", authority::number(tier), authority::name(tier));
    switch (tier) {
      case Tier::read_only:
      case Tier::reversible: return paint(text, "32");
      case Tier::stateful: return paint(text, "33");
      case Tier::irreversible: return paint(text, "31;1");
    }
    return text;
  }
  [[nodiscard]] std::string verdict(authority::Verdict verdict) const {
    const std::string text(authority::name(verdict));
    switch (verdict) {
      case authority::Verdict::allow: return paint(text, "32;1");
      case authority::Verdict::deny: return paint(text, "31;1");
      case authority::Verdict::confirm: return paint(text, "33;1");
    }
    return text;
  }
  [[nodiscard]] std::string quiet(std::string_view text) const { return paint(std::string(text), "2"); }

 private:
  [[nodiscard]] std::string paint(const std::string& text, std::string_view code) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool colour_;
};

void print_for_people(const Classification& it) {
  const Painter painter(wants_colour());
  for (const shell::JudgedCommand& command : it.judgement.commands) {
    const std::string inside = command.inside.empty() ? "" : fmt::format("  (in {})", command.inside);
    fmt::print("{}  {}{}\n", painter.tier(command.finding.tier), shown(shell::canonical_text(command.words)),
               painter.quiet(shown(inside)));
    if (!command.finding.why.empty()) fmt::print("        {}\n", command.finding.why);
  }
  for (const std::string& part : it.judgement.line.opaque) fmt::print("opaque  {}\n", shown(part));
  for (const std::string& file : it.judgement.line.files_written) fmt::print("writes  {}\n", shown(file));
  for (const std::string& host : it.judgement.line.hosts) fmt::print("host    {}\n", shown(host));
  fmt::print("{}, {}: {}\n", painter.verdict(it.decision.verdict), painter.tier(it.decision.tier),
             shown(reason_of(it)));
}

int classify_lines(const policy::PolicyEngine& engine, const std::string& tool) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto text = json::parse(line);
    if (!text || !text->is_string()) {
      fmt::print(stderr, "relay: each line must be a JSON string\n");
      return 2;
    }
    fmt::print("{}\n",
               json::write(to_json(classify(engine, tool, std::string(json::view(text->get_string()))))));
  }
  return 0;
}

}  // namespace

int run_classify(const CommandOptions& options, const config::Config& config) {
  std::vector<policy::Problem> problems;
  const policy::PolicyEngine engine = policy::PolicyEngine::make(config.policy.rules, "$.policy", problems);
  if (options.classify_lines) return classify_lines(engine, options.classify_tool);
  const Classification classification = classify(engine, options.classify_tool, options.classify_text);
  if (options.json)
    fmt::print("{}\n", json::write(to_json(classification)));
  else
    print_for_people(classification);
  return 0;
}

}  // namespace relay::cli
