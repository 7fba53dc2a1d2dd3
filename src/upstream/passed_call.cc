#include "upstream/passed_call.h"

#include "protocol/json_writer.h"

namespace relay::upstream {
namespace {

std::string_view method_of(PassedCall::Kind kind) {
  switch (kind) {
    case PassedCall::Kind::tool: return "tools/call";
    case PassedCall::Kind::prompt: return "prompts/get";
    case PassedCall::Kind::resource: return "resources/read";
  }
  return "tools/call";
}

std::string params_of(const authority::Call& call, const PassedCall& passed) {
  const bool is_resource = passed.kind == PassedCall::Kind::resource;
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text(is_resource ? "uri" : "name", passed.name);
  if (!is_resource) writer.raw("arguments", call.args.text());
  writer.finish();
  return out;
}

}  // namespace

peer::Outgoing outgoing_of(const authority::Recorded& recorded, PassedCall passed) {
  peer::Outgoing outgoing;
  outgoing.method = method_of(passed.kind);
  outgoing.params = params_of(recorded.call(), passed);
  outgoing.meta = std::move(passed.meta);
  outgoing.input_schema = std::move(passed.input_schema);
  outgoing.as_task = passed.as_task;
  return outgoing;
}

peer::Outgoing completion_of(const authority::Unrecorded&, std::string params) {
  peer::Outgoing outgoing;
  outgoing.method = "completion/complete";
  outgoing.params = std::move(params);
  return outgoing;
}

}  // namespace relay::upstream
