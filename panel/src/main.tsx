import { render } from "preact";
import { Approvals, useTitle } from "./approvals";
import { HistoryPage } from "./history";
import { signIn } from "./link";
import { Overview } from "./overview";
import { Logo } from "./parts";
import { Settings } from "./settings";
import { Shell } from "./shell";
import { applyTheme, link, place, store, terminalName, useStore } from "./store";
import "./styles.css";
import { TerminalPage } from "./terminal";
import { Terminals } from "./terminals";

const LINK_WORDS: Record<string, string> = {
  used: "This link was used already.",
  expired: "This link is more than a minute old.",
  unknown: "This link is not known to this panel.",
  wait: "Too many wrong links were tried. Wait a minute.",
};

function SignedOut() {
  const { signIn: state } = useStore();
  return (
    <main class="signed-out">
      <div class="card">
        <Logo />
        <h1>{LINK_WORDS[state] ?? "This page is not signed in."}</h1>
        <p>Get a new link on this machine: <code>ttyward panel</code></p>
      </div>
    </main>
  );
}

function View() {
  const { path } = place();
  const [, first, second] = path.split("/");
  const title = first === "t" ? terminalName(second ?? "") : { terminals: "Terminals", history: "History", c: "History", overview: "Overview", settings: "Settings" }[first ?? ""] ?? "Approvals";
  useTitle(title);
  if (first === "terminals") return <Terminals />;
  if (first === "t") return <TerminalPage key={second} id={decodeURIComponent(second ?? "")} />;
  if (first === "history") return <HistoryPage command="" />;
  if (first === "c") return <HistoryPage command={second ?? ""} />;
  if (first === "overview") return <Overview />;
  if (first === "settings") return <Settings part={second ?? ""} />;
  return <Approvals />;
}

function App() {
  useStore();
  if (link.health === "signed_out") return <SignedOut />;
  return <Shell rail={location.pathname.startsWith("/t/")}><View /></Shell>;
}

async function start(): Promise<void> {
  applyTheme();
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) matchMedia(query).addEventListener("change", applyTheme);
  store.signIn = await signIn().catch(() => "unknown" as const);
  const root = document.getElementById("app")!;
  root.replaceChildren();
  link.start();
  render(<App />, root);
}

void start();
