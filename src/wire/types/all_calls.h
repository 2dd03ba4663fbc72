// The table of all calls: each request type names its call, the role it needs and its answer.
#pragma once

#include "wire/types/change_calls.h"
#include "wire/types/command_calls.h"
#include "wire/types/daemon_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/recording_calls.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::wire {

template <class... Requests>
struct CallList {
  static constexpr size_t kCount = sizeof...(Requests);
  // `visit` has a call operator with one template parameter, the request.
  template <class F>
  static void for_each(F&& visit) {
    (visit.template operator()<Requests>(), ...);
  }
};

using AllCalls = CallList<
    RunRequest, BatchRequest, OpenRequest, AcquireRequest, ReleaseRequest, ExecRequest, InputRequest,
    InterruptRequest, SignalRequest, KillRequest, ResizeRequest, WaitRequest, ReadRequest, RecordingRequest,
    ResultRequest, ScreenRequest, ListRequest, ShowRequest, LendRequest, PersonTokenRequest, ResumeRequest,
    RenameRequest, AssignRequest, AssociateRequest, SessionTerminalsRequest, SessionCwdRequest,
    PathAddRequest, PathRemoveRequest, PathListRequest, EnvironmentRequest, AttachRequest, AttachInputRequest,
    AttachResizeRequest, DetachRequest, SelectRequest, SubscribeRequest, UnsubscribeRequest, CheckRequest,
    PermitRequest, ToldRequest, AgentRequest, ApprovalsRequest, AnswerRequest, WithdrawRequest, RulesRequest,
    RuleAddRequest, RuleRemoveRequest, RulesUnconfirmedRequest, RulesConfirmRequest, SettingsRequest,
    SettingsChangeRequest, ModeRequest, HistoryRequest, DecisionsRequest, ChangeSetsRequest, ChangesRequest,
    ApplyRequest, UndoRequest, DiscardRequest, StatusRequest, MetricsRequest, ReloadRequest, StopRequest>;

}  // namespace ttyward::wire
