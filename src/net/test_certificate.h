// For tests: a fresh self-signed certificate for localhost in two files, gone with the object.
#pragma once

#include <string>

namespace relay::net {

class TestCertificate {
 public:
  TestCertificate();
  ~TestCertificate();
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;

  [[nodiscard]] std::string certificate_path() const { return directory_ + "/cert.pem"; }
  [[nodiscard]] std::string key_path() const { return directory_ + "/key.pem"; }

 private:
  std::string directory_;
};

}  // namespace relay::net
