#include "upstream/offer_file.h"

#include "base/disk.h"
#include "io/replace_file.h"
#include "io/spawn.h"
#include "protocol/json_writer.h"
#include "upstream/offer_items.h"
#include "upstream/server_fingerprint.h"

namespace relay::upstream {
namespace {

using protocol::JsonText;

constexpr std::size_t kOfferFileBytes = 8 * limits::kMiB;

template <class T>
void write_items(protocol::ObjectWriter& writer, std::string_view member,
                 const protocol::Listing<T>& listing) {
  writer.array(member, *listing.items, [](std::string& out, const T& item) {
    out += item.raw ? item.raw->text() : std::string_view("null");
  });
}

std::vector<JsonText> items_of(std::string_view text, std::string_view member) {
  std::vector<JsonText> items;
  append_items(items, text, member);
  return items;
}

json::object object_of(const json::object& members, std::string_view key) {
  const json::object* found = json::find_object(members, key);
  return found ? *found : json::object();
}

io::Task<void> remove_file(io::ThreadPool& pool, std::filesystem::path path) {
  auto work = [path = std::move(path)]() -> Result<void> {
    std::error_code ignored;  // one that is not there is gone
    std::filesystem::remove(path, ignored);
    return {};
  };
  co_return co_await pool.run(std::move(work));
}

}  // namespace

std::string write_offer(const Offer& offer, std::string_view fingerprint) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("fingerprint", fingerprint);
  writer.text("instructions", offer.instructions);
  writer.raw("server", json::write(json::value(offer.server)));
  writer.raw("capabilities", json::write(json::value(offer.capabilities)));
  write_items(writer, "tools", offer.tools);
  write_items(writer, "resources", offer.resources);
  write_items(writer, "resourceTemplates", offer.templates);
  write_items(writer, "prompts", offer.prompts);
  writer.finish();
  return out;
}

std::optional<Offer> read_offer(std::string_view text, const ServerSpec& spec, std::string_view fingerprint) {
  const auto members = json::parse_object(text);
  if (!members || json::find_string(*members, "fingerprint") != fingerprint) return std::nullopt;
  Offer offer;
  offer.instructions = json::find_string(*members, "instructions").value_or("");
  offer.server = object_of(*members, "server");
  offer.capabilities = object_of(*members, "capabilities");
  // What was odd about the lists was said when they came; what is odd about the file is nobody's concern but
  // ours.
  std::vector<std::string> ignored;
  offer.tools.items = read_tools(items_of(text, "tools"), spec, HeaderParams::ignore, ignored);
  offer.resources.items =
      read_items<protocol::Resource>(items_of(text, "resources"), ignored, parse_resource);
  offer.templates.items =
      read_items<protocol::ResourceTemplate>(items_of(text, "resourceTemplates"), ignored, parse_template);
  offer.prompts.items = read_items<protocol::Prompt>(items_of(text, "prompts"), ignored, parse_prompt);
  return offer;
}

OfferFile::OfferFile(io::Loop executor, io::ThreadPool& pool, std::filesystem::path path, ServerSpec spec)
    : executor_(std::move(executor)), pool_(pool), path_(std::move(path)), spec_(std::move(spec)) {}

std::optional<Offer> OfferFile::load() const {
  const auto text = load_file(path_, kOfferFileBytes);
  return text ? read_offer(*text, spec_, fingerprint_of_offer(spec_)) : std::nullopt;
}

void OfferFile::save(const Offer& offer) {
  std::string text = write_offer(offer, fingerprint_of_offer(spec_));
  if (text.size() > kOfferFileBytes) return remove();
  io::replace_file_soon(executor_, pool_, path_, std::move(text), "offer of an upstream server");
}

void OfferFile::remove() {
  io::spawn(executor_, remove_file(pool_, path_), "offer of an upstream server");
}

}  // namespace relay::upstream
