#include "tools/tool_definition.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "audit/tail.h"
#include "base/limits.h"
#include "policy/run_policy.h"
#include "protocol/schema.h"
#include "tools/code_tools.h"
#include "tools/embedded.h"
#include "tools/files_read.h"
#include "tools/files_search.h"
#include "tools/files_write.h"

namespace relay::tools {
namespace {

using protocol::Schema;
using protocol::Tool;

constexpr std::size_t kDefaultListBytes = 8 * limits::kKiB;
constexpr std::size_t kWholeListBytes = 24 * limits::kKiB;

const std::map<std::string, std::string_view>& files() {
  static const std::map<std::string, std::string_view> kFiles{
      {"run_js", embedded::run_js()},
      {"run_py", embedded::run_py()},
      {"read", embedded::read()},
      {"write", embedded::write()},
      {"edit", embedded::edit()},
      {"search", embedded::search()},
      {"server_info", embedded::server_info()},
      {"audit_tail", embedded::audit_tail()},
      {"operation_confirm", embedded::operation_confirm()}};
  return kFiles;
}

Tool tool_of(const std::string& name) {
  return ToolDefinition::parse(files().at(name)).value().tool();
}

json::object input_of(const std::string& name) {
  return tool_of(name).input_schema.value().as_object();
}

json::object parameters_of(const std::string& name) {
  const json::object schema = input_of(name);
  const json::object* properties = json::find_object(schema, "properties");
  return properties ? *properties : json::object();
}

using Visit = std::function<void(const std::string& path, const json::object& schema)>;

// The schema, then those of its members and items, at every depth.
void walk(const std::string& path, const json::object& schema, const Visit& visit) {
  visit(path, schema);
  for (const std::string_view key : {"items", "additionalProperties"})
    if (const json::object* inner = json::find_object(schema, key)) walk(path + "[]", *inner, visit);
  if (const json::object* properties = json::find_object(schema, "properties"))
    for (const auto& member : *properties)
      walk(path + "." + std::string(member.key()), member.value().as_object(), visit);
}

std::string listed(const std::vector<Tool>& tools) {
  std::string text = "[";
  for (const Tool& tool : tools) {
    if (text.size() > 1) text += ',';
    protocol::append_json(text, tool, protocol::kLatestModern);
  }
  return text + "]";
}

std::vector<Tool> default_tools() {
  CodeToolFacts facts;
  facts.timeout_ms = policy::LimitsPolicy{}.timeout_ms;
  return {describe_code_tool(executors::Language::js, facts).value(),
          describe_code_tool(executors::Language::py, facts).value(),
          tool_of("read"),
          tool_of("write"),
          tool_of("edit"),
          tool_of("search")};
}

// What a call with only its required arguments looks like, and the same with every default written out.
json::object with_defaults(const std::string& name, json::object arguments) {
  for (const auto& member : parameters_of(name))
    if (const json::value* value = json::find(member.value().as_object(), "default"))
      arguments[member.key()] = *value;
  return arguments;
}

TEST(ToolDefinitions, EveryFileIsADefinitionWithSchemasThatCompile) {
  for (const auto& [name, text] : files()) {
    const auto definition = ToolDefinition::parse(text);
    ASSERT_TRUE(definition) << name << ": " << definition.error().message;
    const Tool tool = definition->tool();
    EXPECT_EQ(tool.name, name);
    EXPECT_TRUE(Schema::compile(tool.input_schema.value())) << name;
    if (tool.output_schema) {
      EXPECT_TRUE(Schema::compile(tool.output_schema->value())) << name;
    }
  }
}

TEST(ToolDefinitions, EveryParameterHasASentence) {
  for (const auto& [name, text] : files()) {
    EXPECT_GT(tool_of(name).description.size(), 40U) << name;
    const auto expect_sentences = [&](const std::string& path, const json::object& schema) {
      const json::object* properties = json::find_object(schema, "properties");
      for (const auto& member : properties ? *properties : json::object()) {
        const auto sentence = json::find_string(member.value().as_object(), "description").value_or("");
        const std::string here = path + "." + std::string(member.key());
        EXPECT_GE(sentence.size(), 8U) << here;
        EXPECT_TRUE(sentence.ends_with('.')) << here << ": " << sentence;
      }
    };
    walk(name, input_of(name), expect_sentences);
  }
}

TEST(ToolDefinitions, ListsItemsAndTypesForClientsThatDemandThem) {
  for (const auto& [name, text] : files())
    walk(name, input_of(name), [](const std::string& path, const json::object& schema) {
      EXPECT_TRUE(json::find(schema, "type") || json::find(schema, "enum")) << path;
      EXPECT_EQ(json::find_string(schema, "type") == "array", json::find(schema, "items") != nullptr) << path;
      for (const std::string_view keyword : {"propertyNames", "patternProperties", "$ref", "oneOf"})
        EXPECT_EQ(json::find(schema, keyword), nullptr) << path << ": several model APIs refuse " << keyword;
    });
}

TEST(ToolDefinitions, TheDefaultListFitsIntoEightKilobytes) {
  const std::string text = listed(default_tools());
  EXPECT_LE(text.size(), kDefaultListBytes);
}

TEST(ToolDefinitions, TheListOfAllToolsFitsIntoTwentyFourKilobytes) {
  std::vector<Tool> tools = default_tools();
  for (const char* name : {"server_info", "audit_tail", "operation_confirm"}) tools.push_back(tool_of(name));
  EXPECT_EQ(tools.size(), files().size());
  EXPECT_LE(listed(tools).size(), kWholeListBytes);
}

TEST(ToolDefinitions, ExamplesAreCallsThatTheSchemaTakes) {
  std::size_t examples = 0;
  for (const auto& [name, text] : files()) {
    const Tool tool = tool_of(name);
    const std::size_t at = tool.description.find("Example: ");
    if (at == std::string::npos) continue;
    const auto call = json::parse_object(tool.description.substr(at + 9));
    ASSERT_TRUE(call) << name;
    EXPECT_EQ(describe(Schema::compile(tool.input_schema.value())->check(*call)), "") << name;
    ++examples;
  }
  EXPECT_GE(examples, 3U);
}

// The argument `policy` of run_py refers to run_js, because a second copy of its twelve members does not fit
// into the list. Its objects are open in both: policy::narrow refuses what it does not know, and names it.
TEST(ToolDefinitions, ObjectsRefuseMembersThatTheCodeDoesNotKnow) {
  for (const auto& [name, text] : files())
    walk(name, input_of(name), [](const std::string& path, const json::object& schema) {
      if (json::find_string(schema, "type") != "object" || path.contains(".policy")) return;
      const json::value* others = json::find(schema, "additionalProperties");
      ASSERT_NE(others, nullptr) << path;
      EXPECT_TRUE(others->is_object() || !others->as_bool()) << path;
    });
}

TEST(ToolDefinitions, ThePolicyOfARunHasExactlyTheMembersThatNarrowTakes) {
  const json::object server = policy::RunPolicy{}.to_json();
  const json::object parameters = parameters_of("run_js");
  const json::object& blocks = parameters.at("policy").at("properties").as_object();
  EXPECT_EQ(blocks.size(), server.size());
  for (const auto& block : server) {
    const std::string name(block.key());
    ASSERT_TRUE(blocks.contains(name)) << name;
    const json::object& members = blocks.at(name).at("properties").as_object();
    EXPECT_EQ(members.size(), block.value().as_object().size()) << name;
    for (const auto& member : block.value().as_object())
      EXPECT_TRUE(members.contains(member.key())) << name << "." << std::string(member.key());
  }
  const Schema schema = Schema::compile(input_of("run_js")).value();
  EXPECT_TRUE(policy::narrow({}, server));
  EXPECT_EQ(describe(schema.check(json::object{{"code", "1"}, {"policy", server}})), "");
  for (const char* unknown : {R"({"netwrk":{}})", R"({"network":{"x":1}})", R"({"filesystem":{"x":[]}})",
                              R"({"limits":{"x":1}})"}) {
    const json::object block = json::parse_object(unknown).value();
    EXPECT_FALSE(policy::narrow({}, block)) << unknown;
  }
}

TEST(ToolDefinitions, RunPyTakesWhatRunJsTakesExceptForPackages) {
  json::object js = parameters_of("run_js"), py = parameters_of("run_py");
  for (const char* differs : {"npm", "policy", "args"}) js.erase(differs);
  for (const char* differs : {"pip", "policy", "args"}) py.erase(differs);
  EXPECT_EQ(json::write(js), json::write(py));
}

TEST(ToolDefinitions, CodeToolsOfferWhatThereIs) {
  for (const executors::Language language : {executors::Language::js, executors::Language::py}) {
    CodeToolFacts facts;
    const Tool alone = describe_code_tool(language, facts).value();
    EXPECT_FALSE(alone.description.contains("MCP")) << alone.description;
    EXPECT_FALSE(alone.input_schema.text().contains("executor"));
    facts.code_servers = ServersForCode::some;
    facts.tabs = BrowserTabs::can_attach;
    const Tool whole = describe_code_tool(language, facts).value();
    EXPECT_TRUE(whole.description.contains("MCP servers: ")) << whole.description;
    EXPECT_TRUE(whole.input_schema.text().contains(R"("executor")"));
  }
}

TEST(ToolDefinitions, DefaultsOfReadAreThoseOfTheCode) {
  const json::object least{{"path", "/tmp/x"}};
  const ReadArguments plain = read_read_arguments(least);
  const ReadArguments spelled = read_read_arguments(with_defaults("read", least));
  EXPECT_EQ(spelled.encoding, plain.encoding);
  EXPECT_EQ(spelled.offset, plain.offset);
  EXPECT_EQ(spelled.depth, plain.depth);
  EXPECT_EQ(spelled.stat_only, plain.stat_only);
  EXPECT_EQ(spelled.bytes_max, std::nullopt);
  const std::string sentence(
      *json::find_string(parameters_of("read").at("maxBytes").as_object(), "description"));
  EXPECT_NE(sentence.find(std::to_string(limits::kFileReadBytes)), std::string::npos) << sentence;
}

TEST(ToolDefinitions, DefaultsOfWriteAreThoseOfTheCode) {
  const json::object least{{"path", "/tmp/x"}, {"content", "aGk="}};
  const auto plain = read_write_arguments(least),
             spelled = read_write_arguments(with_defaults("write", least));
  ASSERT_TRUE(plain && spelled);
  EXPECT_EQ(spelled->bytes, plain->bytes);
  EXPECT_EQ(spelled->mode, plain->mode);
  EXPECT_EQ(spelled->parents, plain->parents);
}

TEST(ToolDefinitions, DefaultsOfSearchAreThoseOfTheCode) {
  const json::object least{{"pattern", "x"}};
  const search::SearchRequest plain = read_search_arguments(least);
  const search::SearchRequest spelled = read_search_arguments(with_defaults("search", least));
  EXPECT_EQ(spelled.pattern.syntax, plain.pattern.syntax);
  EXPECT_EQ(spelled.pattern.letters, plain.pattern.letters);
  EXPECT_EQ(spelled.ignored, plain.ignored);
  EXPECT_EQ(spelled.report, plain.report);
  EXPECT_EQ(spelled.context, plain.context);
  EXPECT_EQ(spelled.results_max, plain.results_max);
  const json::object parameters = parameters_of("search");
  const auto says = [&](const char* name, std::size_t most) {
    const auto sentence = json::find_string(parameters.at(name).as_object(), "description");
    EXPECT_NE(sentence->find(fmt::format("up to {}.", most)), std::string::npos) << *sentence;
  };
  says("maxResults", limits::kSearchResultsMax);
  says("context", limits::kSearchContext);
}

TEST(ToolDefinitions, DefaultsOfOtherToolsAreThoseOfTheCode) {
  EXPECT_EQ(parameters_of("audit_tail").at("lines").at("default").as_int64(),
            static_cast<std::int64_t>(audit::TailFilter{}.lines));
  for (const auto language : {executors::Language::js, executors::Language::py}) {
    const std::string name = language == executors::Language::js ? "run_js" : "run_py";
    const auto plain = runs::read_run_arguments({{"code", "1"}, {"session", "s"}}, language);
    const auto spelled =
        runs::read_run_arguments(with_defaults(name, {{"code", "1"}, {"session", "s"}}), language);
    ASSERT_TRUE(plain && spelled);
    EXPECT_EQ(spelled->cwd, plain->cwd);
    EXPECT_EQ(spelled->session_start, plain->session_start);
    EXPECT_EQ(parameters_of(name).at("session").at("maxLength").as_int64(),
              static_cast<std::int64_t>(limits::kSessionNameBytes));
  }
}

TEST(ToolDefinitions, SayWhatTheConfigurationDecides) {
  CodeToolFacts facts;
  facts.timeout_ms = 1234;
  facts.mounts = {{.name = "p", .host_path = "/", .mode = vfs::MountMode::rw},
                  {.name = "q", .host_path = "/"}};
  facts.servers = ServersByDefault::none;
  const Tool tool = describe_code_tool(executors::Language::js, facts).value();
  const json::object schema = tool.input_schema.value().as_object();
  EXPECT_EQ(schema.at("properties").at("timeoutMs").at("default").as_int64(), 1234);
  EXPECT_EQ(json::view(schema.at("properties").at("servers").at("description").as_string()),
            "MCP servers it may call. Default: none.");
  EXPECT_TRUE(tool.description.ends_with(" Mounts: /host/p (rw), /host/q (ro).")) << tool.description;
}

TEST(ToolDefinitions, NameTheFirstEightMounts) {
  EXPECT_EQ(mounts_sentence({}), "");
  const std::vector<vfs::MountSpec> mounts(10, vfs::MountSpec{.name = "m", .host_path = "/"});
  const std::string sentence = mounts_sentence(mounts);
  EXPECT_TRUE(sentence.ends_with("/host/m (ro) and 2 more.")) << sentence;
}

TEST(ToolDefinitions, RefuseWhatIsNoDefinition) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"name":"x","description":"y"})",
        R"({"name":"","description":"y","inputSchema":{}})",
        R"({"name":"x","description":1,"inputSchema":{}})",
        R"({"name":"x","description":"y","inputSchema":[]})",
        R"({"name":"x","description":"y","inputSchema":{},"outputSchema":1})",
        R"({"name":"x","description":"y","inputSchema":{},"input":{}})",
        R"({"name":"x","description":"y","inputSchema":{},"annotations":{"readonly":true}})",
        R"({"name":"x","description":"y","inputSchema":{},"annotations":{"readOnlyHint":1}})"})
    EXPECT_FALSE(ToolDefinition::parse(text)) << text;
  auto small =
      ToolDefinition::parse(R"({"name":"x","description":"y","inputSchema":{"properties":{"a":{}}}})");
  ASSERT_TRUE(small);
  EXPECT_TRUE(small->set_default("a", 1));
  EXPECT_FALSE(small->set_default("b", 1));
  EXPECT_FALSE(small->describe_parameter("b", "B."));
}

}  // namespace
}  // namespace relay::tools
