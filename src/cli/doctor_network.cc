#include "cli/doctor_network.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/disk.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/printable.h"
#include "config/environment.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;
using Moment = std::chrono::steady_clock::time_point;

constexpr auto kReachTimeout = std::chrono::seconds(10);
constexpr std::size_t kCertificateBytes = 8 * limits::kMiB;

constexpr std::array kFiles = {"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
                               "CURL_CA_BUNDLE"};
constexpr std::array kProxies = {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY",
                                 "all_proxy",   "ALL_PROXY",   "no_proxy",   "NO_PROXY"};

std::string variable_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Finding examine_certificate_file(const char* name, const std::string& path) {
  const auto text = load_file(path, kCertificateBytes);
  if (!text) return {"network", name, Health::bad, fmt::format("{}: {}", path, text.error().message)};
  const bool has_some = text->find("BEGIN CERTIFICATE") != std::string::npos ||
                        text->find("BEGIN TRUSTED CERTIFICATE") != std::string::npos;
  return {"network", name, has_some ? Health::good : Health::bad,
          has_some ? path : path + " holds no certificate in PEM form"};
}

// One program that is asked. Its output ends when it and everything that it started have ended.
struct Asked {
  std::string name;     // "npm registry"
  std::string command;  // for people who want to see more
  pid_t pid = -1;
  Fd output;
};

Asked ask(std::string name, std::string command, const std::vector<std::string>& words) {
  Asked asked{.name = std::move(name), .command = std::move(command)};
  auto pipe = open_pipe();
  if (!pipe) return asked;
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  asked.pid = ::fork();
  if (asked.pid == 0) {
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(pipe->second.get(), STDOUT_FILENO);
    ::dup2(pipe->second.get(), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  asked.output = std::move(pipe->first);
  return asked;
}

// False: the time is over.
bool has_ended(const Asked& asked, Moment end) {
  char buffer[4096];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{.fd = asked.output.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t bytes = ::read(asked.output.get(), buffer, sizeof buffer);
    if (bytes <= 0) return true;
  }
}

Finding finish(Asked asked, Moment end) {
  if (asked.pid < 0) return {"network", asked.name, Health::optional_missing, "could not be asked"};
  const bool ended = has_ended(asked, end);
  if (!ended) ::kill(-asked.pid, SIGKILL);
  int status = 1;
  ::waitpid(asked.pid, &status, 0);
  if (!ended)
    return {"network", asked.name, Health::optional_missing,
            fmt::format("no answer within {} s, so packages cannot be installed; `{}` shows why",
                        kReachTimeout.count(), asked.command)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {"network", asked.name, Health::good, "answers"};
  return {"network", asked.name, Health::optional_missing,
          fmt::format("cannot be reached, so packages cannot be installed; `{}` shows why", asked.command)};
}

}  // namespace

std::string without_credentials(std::string_view address) {
  const std::size_t scheme = address.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t at = address.substr(0, address.find('/', host)).rfind('@');
  if (at == std::string_view::npos || at < host) return std::string(address);
  return fmt::format("{}***@{}", address.substr(0, host), address.substr(at + 1));
}

void examine_certificates(std::vector<Finding>& out) {
  constexpr const char* kSystem = "/etc/ssl/certs/ca-certificates.crt";
  const bool has_system = ::access(kSystem, R_OK) == 0;
  out.push_back({"network", "certificates", has_system ? Health::good : Health::optional_missing,
                 has_system ? kSystem : fmt::format("{} is missing: install ca-certificates", kSystem)});
  for (const char* name : kFiles)
    if (const std::string path = variable_of(name); !path.empty())
      out.push_back(examine_certificate_file(name, path));
  if (const std::string path = variable_of("SSL_CERT_DIR"); !path.empty()) {
    std::error_code ignored;
    const bool is_there = fs::is_directory(path, ignored);
    out.push_back({"network", "SSL_CERT_DIR", is_there ? Health::good : Health::bad,
                   is_there ? path : path + " is no directory"});
  }
  for (const char* name : kProxies)
    if (const std::string value = variable_of(name); !value.empty())
      out.push_back({"network", name, Health::good, printable(without_credentials(value), '?')});
}

void examine_registries(std::vector<Finding>& out) {
  const std::string npm = config::find_in_path("npm");
  const std::string pip = config::find_in_path("pip3");
  std::vector<Asked> all;
  if (!npm.empty())
    all.push_back(ask("npm registry", "npm view npm version",
                      {npm, "view", "npm", "version", "--fetch-retries=0", "--no-update-notifier"}));
  if (!pip.empty())
    all.push_back(
        ask("pip index", "pip3 index versions pip",
            {pip, "index", "versions", "pip", "--retries=0", "--timeout=5", "--disable-pip-version-check"}));
  const Moment end = std::chrono::steady_clock::now() + kReachTimeout;
  for (Asked& asked : all) {
    if (::isatty(STDERR_FILENO) != 0)
      fmt::print(stderr, "relay: waiting for the {}, {} s at most\n", asked.name, kReachTimeout.count());
    out.push_back(finish(std::move(asked), end));
  }
}

}  // namespace relay::cli
