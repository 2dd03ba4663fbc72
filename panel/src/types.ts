// The objects of the daemon's socket, as tools/make_sdks.py makes them from docs/protocol/socket.schema.json, under the
// names that the page uses; and the welcome, which is said before the first call and is not in the schema.
import type { Calls, ResultWaiting, RulesAnswerRules, Verdict, VerdictEffects, VerdictReasons } from "../../sdk/typescript/src/types";

export type {
  Approval, AttachClosedEvent, AttachKeyboardEvent, AttachScreenEvent, Changes, DecisionRow, Event, Facts, HistoryRow, Result, ScreenDelta, ScreenRun, Terminal,
} from "../../sdk/typescript/src/types";

export type Effect = VerdictEffects;
export type Reason = VerdictReasons;
export type Risk = Verdict["risk"];
export type Rule = RulesAnswerRules;
export type Waiting = ResultWaiting;

// The calls of a page: the daemon's, and the panel's own.
interface PageCalls extends Calls {
  panel_link(args: { role: "viewer" | "person" }): Promise<{ url: string }>;
}
export type CallName = keyof PageCalls;
export type Args<Name extends CallName> = NonNullable<Parameters<PageCalls[Name]>[0]>;
export type Answer<Name extends CallName> = Awaited<ReturnType<PageCalls[Name]>>;

export interface Welcome {
  version: string;
  daemon: string;
  role: string;
  why: string;
  client: string;
  asked: string;
  notices: string[];
  home?: string;
}
