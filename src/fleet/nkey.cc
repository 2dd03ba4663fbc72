#include "fleet/nkey.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/secret_file.h"

namespace ttyward::fleet {
namespace {

// The form: prefix, key, CRC-16, all in base 32 without padding.
constexpr uint8_t kUser = 20 << 3;
constexpr uint8_t kSeed = 18 << 3;
constexpr size_t kKeyBytes = 32;
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

using Bytes = std::vector<uint8_t>;

uint16_t crc16(std::span<const uint8_t> bytes) {
  uint16_t crc = 0;
  for (const uint8_t byte : bytes) {
    crc = static_cast<uint16_t>(crc ^ (byte << 8));
    for (int bit = 0; bit < 8; bit++)
      crc = static_cast<uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
  }
  return crc;
}

std::string encoded(Bytes bytes) {
  const uint16_t crc = crc16(bytes);
  bytes.push_back(static_cast<uint8_t>(crc & 0xff));
  bytes.push_back(static_cast<uint8_t>(crc >> 8));
  std::string text;
  uint32_t held = 0;
  int bits = 0;
  for (const uint8_t byte : bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += kAlphabet[(held >> (bits - 5)) & 31];
  }
  if (bits > 0) text += kAlphabet[(held << (5 - bits)) & 31];
  return text;
}

// Without the checksum; empty: it is not such a text.
Bytes decoded(std::string_view text) {
  Bytes bytes;
  uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return {};
    held = (held << 5) | static_cast<uint32_t>(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<uint8_t>((held >> bits) & 0xff));
  }
  if (bytes.size() < 3) return {};
  const uint16_t crc = static_cast<uint16_t>(bytes[bytes.size() - 2] | (bytes.back() << 8));
  bytes.resize(bytes.size() - 2);
  return crc16(bytes) == crc ? bytes : Bytes{};
}

base::Result<std::string> public_key(std::span<const uint8_t> seed) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()), &EVP_PKEY_free);
  std::array<uint8_t, kKeyBytes> made{};
  size_t length = made.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), made.data(), &length) != 1)
    return base::fail(base::ErrorCode::Unsupported, "OpenSSL cannot make Ed25519 keys here");
  Bytes bytes = {kUser};
  bytes.insert(bytes.end(), made.begin(), made.end());
  return encoded(std::move(bytes));
}

}  // namespace

base::Result<std::string> public_nkey_of_file(const std::string& file) {
  auto text = base::read_secret_file(file);
  if (!text) return tl::unexpected(text.error());
  const Bytes bytes = decoded(*text);
  if (bytes.size() != 2 + kKeyBytes || bytes[0] != (kSeed | (kUser >> 5)))
    return base::fail(
        base::ErrorCode::InvalidArgument,
        file + " does not contain a user's seed (SU…); make one with ttyward fleet key " + file);
  return public_key(std::span(bytes).subspan(2));
}

base::Result<std::string> make_nkey_file(const std::string& file) {
  Bytes bytes = {static_cast<uint8_t>(kSeed | (kUser >> 5)), static_cast<uint8_t>((kUser & 31) << 3)};
  bytes.resize(2 + kKeyBytes);
  if (RAND_bytes(bytes.data() + 2, kKeyBytes) != 1)
    return base::fail(base::ErrorCode::Io, "OpenSSL has no random bytes");
  auto made = public_key(std::span(bytes).subspan(2));
  if (!made) return made;
  if (auto written = base::write_secret_file(file, encoded(bytes)); !written)
    return tl::unexpected(written.error());
  return made;
}

}  // namespace ttyward::fleet
