// ShellJudgement: how far a command reaches, and why. A plain value, made from the text alone: the parsed
// commands by the tier table, the text by the pattern table, and whatever is opaque by being so. The
// strictest opinion counts.
//
// It is a forecast, not a wall: what a program does once it runs is not in its command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authority/call.h"
#include "shell/command_line.h"
#include "shell/tier_table.h"

namespace relay::shell {

/// The judgement of one command.
struct JudgedCommand {
  CommandWords words;
  std::string inside;
  TierFinding finding;
};

struct ShellJudgement {
  authority::Tier tier = authority::Tier::reversible;
  std::string reason;  // the strictest: "rm -rf /x: deletes recursively or without asking"
  std::vector<JudgedCommand> commands;
  CommandLine line;
};

/// What a call would run: everything that the shell and its commands see.
struct ShellRequest {
  std::string text = {};                            // read by a shell, or
  CommandWords words = {};                          // started as it is
  std::optional<std::string> input = std::nullopt;  // standard input
  std::vector<std::string> environment = {};        // "NAME=value"
  std::string foreign = {};                         // code in another language, which is not read: "python3"
};

ShellJudgement judge(const ShellRequest& request);

/// All that the request holds, as one text for policy patterns.
std::string policy_text_of(const ShellRequest& request);
/// The same by name: the text, each command as it is understood, hosts in their canonical form, files.
std::vector<authority::CallField> policy_fields_of(const ShellRequest& request,
                                                   const ShellJudgement& judgement);

}  // namespace relay::shell
