#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "net/test_certificate.h"

namespace relay::net {
namespace {

template <class Write>
void write_pem(const std::string& path, Write write) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  write(file);
  std::fclose(file);
}

void add_extension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* make_certificate(EVP_PKEY* key) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_set_pubkey(certificate, key);
  add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate, key, EVP_sha256());
  return certificate;
}

}  // namespace

TestCertificate::TestCertificate() {
  directory_ = testing::TempDir() + "relay_tls_XXXXXX";
  EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = make_certificate(key);
  write_pem(key_path(),
            [&](std::FILE* file) { PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
  write_pem(certificate_path(), [&](std::FILE* file) { PEM_write_X509(file, certificate); });
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TestCertificate::~TestCertificate() {
  std::filesystem::remove_all(directory_);
}

}  // namespace relay::net
