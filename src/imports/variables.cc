#include "imports/variables.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::imports {
namespace {

bool is_name_start(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_name_part(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_part);
}

// Walks a text once; each take_* either consumes one variable and gives true, or leaves everything as it was.
class Translator {
 public:
  Translator(std::string_view text, Expansion expansion, const Surroundings& surroundings,
             const std::function<std::string(std::string_view)>& secret_name)
      : rest_(text), expansion_(expansion), surroundings_(surroundings), secret_name_(secret_name) {}

  Translation run() {
    while (!rest_.empty()) {
      if (take_braced() || take_bare() || take_opencode()) continue;
      out_.text += rest_.front();
      rest_.remove_prefix(1);
    }
    return std::move(out_);
  }

 private:
  // ${...}
  bool take_braced() {
    if (!rest_.starts_with("${")) return false;
    const std::size_t end = rest_.find('}');
    if (end == std::string_view::npos) return false;
    const std::string_view inside = rest_.substr(2, end - 2);
    if (!put(inside)) {
      out_.notes.push_back(fmt::format("${{{}}} is not known here and stays as it is", inside));
      out_.text += rest_.substr(0, end + 1);
    }
    rest_.remove_prefix(end + 1);
    return true;
  }

  // $NAME and $env:NAME, but only as the whole text: a password may hold a dollar sign.
  bool take_bare() {
    if (!out_.text.empty() || !rest_.starts_with('$')) return false;
    const std::string_view name = rest_.substr(rest_.starts_with("$env:") ? 5 : 1);
    if (!is_name(name)) return false;
    rest_ = {};
    return put_variable(name, std::nullopt);
  }

  // {env:NAME} and {file:PATH}
  bool take_opencode() {
    if (!rest_.starts_with("{env:") && !rest_.starts_with("{file:")) return false;
    const std::size_t end = rest_.find('}');
    if (end == std::string_view::npos) return false;
    if (!put(rest_.substr(1, end - 1))) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool put(std::string_view inside) {
    if (inside.starts_with("env:") && is_name(inside.substr(4)))
      return put_variable(inside.substr(4), std::nullopt);
    if (inside.starts_with("input:") && inside.size() > 6) return put_input(inside.substr(6));
    if (inside.starts_with("file:") && inside.size() > 5) return put_file(inside);
    if (inside == "workspaceFolder" || inside == "workspaceRoot")
      return put_text(surroundings_.folder.string());
    if (inside == "workspaceFolderBasename") return put_text(surroundings_.folder.filename().string());
    if (inside == "userHome" || (inside == "HOME" && expansion_ == Expansion::now))
      return put_text(surroundings_.home.string());
    if (inside == "/" || inside == "pathSeparator") return put_text("/");
    const std::size_t dash = inside.find(":-");
    const std::string_view name = inside.substr(0, dash);
    if (!is_name(name)) return false;
    return put_variable(
        name, dash == std::string_view::npos ? std::nullopt : std::optional(inside.substr(dash + 2)));
  }

  bool put_text(std::string_view text) {
    out_.text += text;
    return true;
  }

  bool put_variable(std::string_view name, std::optional<std::string_view> otherwise) {
    const auto found = surroundings_.environment.find(std::string(name));
    const bool is_set = found != surroundings_.environment.end() && !(otherwise && found->second.empty());
    if (!is_set && otherwise) {
      out_.notes.push_back(fmt::format("{} is not set: its default is written instead", name));
      return put_text(*otherwise);
    }
    if (expansion_ == Expansion::later) return put_text(fmt::format("${{env:{}}}", name));
    if (is_set) return put_text(found->second);
    out_.unset.emplace(name);
    return put_text(fmt::format("${{{}}}", name));
  }

  bool put_input(std::string_view id) {
    const std::string name = secret_name_(id);
    out_.inputs.insert(name);
    return put_text(fmt::format("${{secret:{}}}", name));
  }

  bool put_file(std::string_view reference) {
    if (expansion_ == Expansion::now) return false;
    return put_text(fmt::format("${{{}}}", reference));
  }

  std::string_view rest_;
  Expansion expansion_;
  const Surroundings& surroundings_;
  const std::function<std::string(std::string_view)>& secret_name_;
  Translation out_;
};

}  // namespace

Translation translate(std::string_view text, Expansion expansion, const Surroundings& surroundings,
                      const std::function<std::string(std::string_view)>& secret_name) {
  return Translator(text, expansion, surroundings, secret_name).run();
}

}  // namespace relay::imports
