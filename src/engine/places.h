// The other places in which terminals live: machines behind ssh, containers. Each is opened when somebody
// wants it, and stays the same object from then on.
//
// Thread rule: the loop's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/loop.h"
#include "relay/far_place.h"

namespace ttyward::engine {

class Places {
 public:
  using Reached = std::function<void(base::Result<const relay::FarPlace*>)>;

  Places(io::Loop& loop, relay::LinkFolders folders) : loop_(loop), folders_(std::move(folders)) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // Tells when there is a link, or why there is none: from the loop, never before it returns.
  void reach(const std::string& name, Reached then);
  // Connects to the link, and starts it if there is none; does not wait for the place.
  void connect(const std::string& name) { static_cast<void>(find(name)->begin()); }
  // Which need not be linked. A name that is none leads to a place that can never be reached.
  const relay::FarPlace& of(const std::string& name) { return *find(name); }
  // What the place has said of itself; null: it was never reached.
  const relay::WelcomeMessage* facts(const std::string& name);

 private:
  relay::FarPlace* find(const std::string& name);

  io::Loop& loop_;
  const relay::LinkFolders folders_;
  std::map<std::string, std::unique_ptr<relay::FarPlace>> places_;
};

}  // namespace ttyward::engine
