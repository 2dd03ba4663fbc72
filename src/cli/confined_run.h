// What a command in a sandbox needs beside its plan while it runs: a proxy, and a layer for its changes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "changes/shelf.h"
#include "command/running_command.h"
#include "config/settings.h"
#include "proxy/proxy_thread.h"
#include "terminal/result.h"
#include "wire/types/change_objects.h"

namespace ttyward::cli {

enum class OnLayer : uint8_t { IfConfigured, Always };

class ConfinedRun {
 public:
  // Completes options.spawn. Nothing is needed, and nothing is done, without a sandbox. With OnLayer::Always
  // (`try`) there has to be one.
  static base::Result<ConfinedRun> prepare(command::RunOptions& options,
                                           const config::SandboxSettings& settings, OnLayer layer);

  bool on_layer() const { return set_.has_value(); }
  // When the command has ended and nothing of it is left: hosts that were refused go into the result, and
  // what it changed is returned if it ran on a layer.
  std::optional<wire::Changes> finish(terminal::CommandResult& result);
  // It was never started.
  void abandon();

 private:
  changes::Keeping keeping_;
  std::unique_ptr<proxy::ProxyThread> proxy_;
  std::optional<changes::ChangeSet> set_;
};

}  // namespace ttyward::cli
