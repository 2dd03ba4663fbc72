// The service for settings that decide what agents may do: shown, and changed in the person's config.toml.
//
// A person changes them through here, so that the change counts as confirmed. Nothing is lost: a change is
// made only to the very file that was shown, and what others changed in it must have been confirmed before.
//
// Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <utility>

#include "app/core.h"
#include "app/reply.h"
#include "wire/types/policy_calls.h"

namespace ttyward::app {

class SettingChanges {
 public:
  // `reload` reads the configuration and the rules again.
  SettingChanges(Core& core, std::function<void()> reload) : core_(core), reload_(std::move(reload)) {}

  base::Result<wire::SettingList> settings(const Caller& caller, const wire::SettingsRequest& request);
  base::Result<wire::ChangedSettings> settings_change(const Caller& caller,
                                                      const wire::SettingsChangeRequest& request);

 private:
  Core& core_;
  const std::function<void()> reload_;
};

}  // namespace ttyward::app
