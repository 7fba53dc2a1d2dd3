// The byte layout of a zip archive: the fields that the writer writes and the reader reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay::archive::zip_format {

inline constexpr std::uint32_t kLocalMagic = 0x04034b50;
inline constexpr std::uint32_t kCentralMagic = 0x02014b50;
inline constexpr std::uint32_t kEndMagic = 0x06054b50;
inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;
inline constexpr std::uint16_t kEncryptedFlag = 1;
inline constexpr std::uint16_t kUtf8Flag = 0x0800;
inline constexpr std::uint16_t kVersion = 20;
inline constexpr std::uint16_t kMadeOnUnix = 3 << 8 | kVersion;
inline constexpr std::uint16_t kFixedDate = 0x0021;  // 1 January 1980, the first day a zip can name
inline constexpr std::uint32_t kFixedMode = 0100644U << 16;

inline std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) |
                                    static_cast<unsigned char>(bytes[at + 1]) << 8);
}
inline std::uint32_t u32(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(u16(bytes, at)) | static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16;
}
inline void put16(std::string& out, std::uint16_t value) {
  out.push_back(static_cast<char>(value & 0xff));
  out.push_back(static_cast<char>(value >> 8));
}
inline void put32(std::string& out, std::uint32_t value) {
  put16(out, static_cast<std::uint16_t>(value & 0xffff));
  put16(out, static_cast<std::uint16_t>(value >> 16));
}

}  // namespace relay::archive::zip_format
