// The files of the page, inside the program: nothing is ever served from disk.
//
// The table is made by tools/make_panel_assets.py from what Vite built. It is empty in a program that was
// built without the page.
#pragma once

#include <span>
#include <string_view>

namespace ttyward::panel {

struct Asset {
  std::string_view path;   // "/assets/index-4f2c.js"
  std::string_view type;   // Content-Type
  std::string_view etag;   // of the content
  std::string_view bytes;  // gzip
};

std::span<const Asset> assets();
const Asset* find_asset(std::string_view path);
// The page itself, not compressed, with {{nonce}} where the nonce of its styles goes. Empty: it was not
// built.
std::string_view page_template();

}  // namespace ttyward::panel
