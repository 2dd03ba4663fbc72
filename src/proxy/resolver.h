// Names to addresses, without stopping the loop: getaddrinfo(3) on threads of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/loop.h"
#include "proxy/address.h"

namespace ttyward::proxy {

class Resolver {
 public:
  using Done = std::function<void(base::Result<std::vector<Address>>)>;
  virtual ~Resolver() = default;
  // `done` is called on the loop's thread, later.
  virtual void resolve(const std::string& name, Done done) = 0;
};

// At most four lookups at once and 256 that wait; more fail. A thread that is still in a lookup when the
// object goes ends by itself, and its answer is dropped.
class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(io::Loop& loop);
  ~SystemResolver() override;
  SystemResolver(const SystemResolver&) = delete;
  SystemResolver& operator=(const SystemResolver&) = delete;
  void resolve(const std::string& name, Done done) override;

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace ttyward::proxy
