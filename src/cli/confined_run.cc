#include "cli/confined_run.h"

#include <utility>

#include "app/change_objects.h"
#include "app/layered_run.h"
#include "app/sandbox_proxy.h"
#include "base/folders.h"
#include "proxy/environment.h"

namespace ttyward::cli {

base::Result<ConfinedRun> ConfinedRun::prepare(command::RunOptions& options,
                                               const config::SandboxSettings& settings, OnLayer layer) {
  ConfinedRun made;
  made.keeping_ = app::keeping_of(settings);
  std::optional<sandbox::Plan>& plan = options.spawn.sandbox;
  if (!plan) {
    if (layer == OnLayer::IfConfigured) return made;
    return base::fail(base::ErrorCode::InvalidArgument, "try needs a sandbox; use --sandbox workspace");
  }
  if (layer == OnLayer::Always || (settings.keep_changes && app::can_keep_changes(*plan))) {
    app::LayeredRun run;
    run.id = options.id;
    run.command = options.shown_command;
    run.purpose = layer == OnLayer::Always ? changes::Purpose::Try : changes::Purpose::Keep;
    auto prepared = app::put_on_layer(changes::Shelf(base::user_folders()), run, *plan);
    if (!prepared) return tl::unexpected(prepared.error());
    made.set_ = std::move(prepared->set);
    // What goes on after the end would write to a layer that nobody looks at any more.
    options.survivors = hold::Survivors::Kill;
    options.spawn.session = pty::Session::Own;
  }
  if (plan->network == sandbox::Network::Proxy) {
    auto allowed = proxy::AllowList::parse(plan->hosts);
    if (!allowed) return tl::unexpected(allowed.error());
    plan->proxy_socket = app::proxy_socket(base::user_folders(), options.id);
    auto started = proxy::ProxyThread::start(plan->proxy_socket, std::move(*allowed), app::proxy_user(*plan));
    if (!started) return tl::unexpected(started.error());
    made.proxy_ = std::move(*started);
    proxy::add_proxy_environment(options.spawn.environment, sandbox::kProxyPort);
  }
  return made;
}

std::optional<wire::Changes> ConfinedRun::finish(terminal::CommandResult& result) {
  if (proxy_ && result.sandbox) {
    for (const proxy::RefusedHost& each : proxy_->stop()) result.sandbox->denied.push_back(each.text());
  }
  if (!set_) return std::nullopt;
  return app::settle_changes(changes::Shelf(base::user_folders()), *set_, keeping_);
}

void ConfinedRun::abandon() {
  if (set_) static_cast<void>(std::move(*set_).discard());
  set_.reset();
}

}  // namespace ttyward::cli
