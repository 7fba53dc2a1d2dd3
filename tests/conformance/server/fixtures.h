// The tools, resources and prompts that the official conformance suite expects of a server, on a Catalogue.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "mcp/catalogue.h"

namespace relay::conformance {

Result<void> add_content_tools(mcp::Catalogue& catalogue);  // text, images, errors, progress, logs, schemas
Result<void> add_asking_tools(mcp::Catalogue& catalogue);   // elicitation, sampling, roots
Result<void> add_task_tools(mcp::Catalogue& catalogue);
Result<void> add_changing_tools(mcp::Catalogue& catalogue);  // tools that change the lists
void add_resources(mcp::Catalogue& catalogue);
void add_prompts(mcp::Catalogue& catalogue);

/// A tool without arguments, or with the properties of this schema.
protocol::Tool describe_tool(std::string name, std::string description,
                             std::string input_schema = R"({"type":"object","properties":{}})");
/// A form of one flat object.
protocol::ElicitForm make_form(std::string message, std::string schema);
protocol::SampleRequest make_sample(std::string prompt, std::int64_t max_tokens);
std::string text_argument(const json::object& arguments, std::string_view name);

/// A red pixel, and silence.
std::string_view png_bytes();
std::string_view wav_bytes();

}  // namespace relay::conformance
