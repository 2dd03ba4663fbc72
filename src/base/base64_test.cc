#include "base/base64.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(Base64, RfcExamples) {
  const std::pair<const char*, const char*> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, AllBytesComeBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (size_t n = 0; n < all.size(); ++n) EXPECT_EQ(from_base64(to_base64(all.substr(n))), all.substr(n));
}

TEST(Base64, WhatIsNotBase64) {
  for (const char* text :
       {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9\n", "Zm 9", "Zh==", "Zm9=", "Zm-_", "=Zm9"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ttyward::base
