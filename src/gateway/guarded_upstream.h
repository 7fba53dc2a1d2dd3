// What the pipeline guards, made of what an upstream offers: each tool, prompt and resource with its tier,
// its policy text, its name in the audit log, and a handler that passes the call on.
//
// The tier of a tool is what the configuration says of it, else what its annotations admit to: read-only ones
// are tier 0, destructive ones tier 3, the rest tier 2. A hint is believed only upwards from what the user
// allows: policy decides on the tier as for our own tools.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pipeline/provider.h"
#include "upstream/upstream.h"

namespace relay::gateway {

/// The arguments that are sent are those of the record, byte for byte. `on_result` gives what is passed on
/// for each result; may be empty.
using OnResult = std::function<protocol::JsonText(protocol::JsonText result)>;
std::shared_ptr<const pipeline::Provider::Entry> guard_tool(std::shared_ptr<upstream::Upstream> server,
                                                            const protocol::Tool& tool, std::string name,
                                                            std::size_t budget_bytes = limits::kResultBytes,
                                                            OnResult on_result = {});
std::shared_ptr<const pipeline::GuardedPrompt> guard_prompt(std::shared_ptr<upstream::Upstream> server,
                                                            const protocol::Prompt& prompt, std::string name,
                                                            OnResult on_result = {});
/// `uri` is the one the server knows, `exposed` the one that clients use.
pipeline::FoundResource guard_resource(std::shared_ptr<upstream::Upstream> server, std::string uri,
                                       std::string_view exposed);

authority::Tier tier_of(const upstream::ServerSpec& spec, const protocol::Tool& tool);

}  // namespace relay::gateway
