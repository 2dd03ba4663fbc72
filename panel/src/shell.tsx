// What stands around every view: the list of views, tasks, the header, messages, the palette, the list of keys.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { A, Dialog, Dot, Icon, Logo } from "./parts";
import { go, link, place, store, useCall, useStore, type Prefs } from "./store";
import { hasFailed, isOver, needsYou, openTerminal, stateOf } from "./terminals";
import type { Terminal } from "./types";
import { nameOf, path, type Mark } from "./words";

const VIEWS = [
  { href: "/", title: "Approvals", icon: "shield", key: "a" },
  { href: "/terminals", title: "Terminals", icon: "term", key: "t" },
  { href: "/history", title: "History", icon: "clock", key: "h" },
  { href: "/overview", title: "Overview", icon: "chart", key: "o" },
  { href: "/settings", title: "Settings", icon: "sliders", key: "s" },
];

function isCurrent(href: string, now: string): boolean {
  if (href === "/") return now === "/";
  if (href === "/terminals") return now === href || now.startsWith("/t/");
  if (href === "/history") return now === href || now.startsWith("/c/");
  return now.startsWith(href);
}

function markOf(terminals: Terminal[]): Mark {
  if (terminals.some(needsYou)) return "wait";
  if (terminals.some(hasFailed)) return "fail";
  if (terminals.some((each) => each.running)) return "run";
  return "off";
}

const HEALTH: Record<string, { mark: Mark; words: string }> = {
  connected: { mark: "ok", words: "Connected" }, connecting: { mark: "off", words: "Connecting" }, offline: { mark: "wait", words: "Reconnecting" },
  gone: { mark: "wait", words: "Reconnecting" }, stopped: { mark: "fail", words: "No daemon" }, signed_out: { mark: "fail", words: "Signed out" },
};

export function Side({ rail }: { rail: boolean }) {
  const { open, terminals } = useStore();
  const now = place();
  const all = [...terminals.values()];
  const live = all.filter((each) => !isOver(each));
  const tasks = [...new Set(all.map((each) => each.task ?? ""))].sort((a, b) => (a === "" ? 1 : b === "" ? -1 : a.localeCompare(b)));
  const health = HEALTH[link.health]!;
  return (
    <aside class={`side${rail ? " side-rail" : ""}`} aria-label="Views and tasks">
      <A class="brand" href="/" aria-label="ttyward"><Logo /><span>ttyward</span></A>
      <nav class="nav" aria-label="Views">
        {VIEWS.map((view) => (
          <A key={view.href} href={view.href} aria-current={isCurrent(view.href, now.path) ? "page" : undefined} title={view.title}>
            <Icon name={view.icon} />
            <span>{view.title}</span>
            {view.href === "/" && open.length > 0 ? <span class="n n-hot" aria-label={`${open.length} open questions`}>{open.length}</span> : null}
            {view.href === "/terminals" && live.length > 0 ? <span class="n">{live.length}</span> : null}
          </A>
        ))}
      </nav>
      {tasks.length > 1 || (tasks[0] ?? "") !== "" ? (
        <>
          <h2 id="tasks">Tasks</h2>
          <nav class="nav tasks" aria-labelledby="tasks">
            {tasks.slice(0, 20).map((task) => {
              const inside = all.filter((each) => (each.task ?? "") === task);
              return (
                <A key={task} href={`/terminals?task=${encodeURIComponent(task || "-")}`} aria-current={now.query.get("task") === (task || "-") ? "true" : undefined}>
                  <Dot mark={markOf(inside)} /><span class="cut"><bdi>{task || "No task"}</bdi></span><span class="n">{inside.length}</span>
                </A>
              );
            })}
          </nav>
        </>
      ) : null}
      <div class="foot"><Dot mark={health.mark} /><span>{health.words}</span></div>
    </aside>
  );
}

const THEMES: Prefs["theme"][] = ["system", "light", "dark", "contrast"];

export function ThemeButton() {
  const { prefs } = useStore();
  const next = THEMES[(THEMES.indexOf(prefs.theme) + 1) % THEMES.length]!;
  return (
    <button type="button" class="btn btn-bare btn-icon" aria-label={`Theme: ${prefs.theme}. Change to ${next}`} title={`Theme: ${prefs.theme}`} onClick={() => store.setPrefs({ theme: next })}><Icon name="moon" /></button>
  );
}

export function Bar({ title, meta, mode, children }: { title: string; meta?: string; mode?: boolean; children?: ComponentChildren }) {
  const { canAct } = useStore();
  const { answer } = useCall("mode", mode ? {} : null);
  return (
    <header class="bar">
      <h1 tabIndex={-1}>{title}</h1>
      {meta ? <span class="meta not-phone">{meta}</span> : null}
      <div class="tools">
        {children}
        {mode && canAct && answer ? <A class="btn btn-bare not-phone" href="/settings/permissions">Mode <b class="mono">{answer.mode}</b></A> : null}
        {store.ready && !canAct ? <span class="chip">View only</span> : null}
        <button type="button" class="btn not-phone" onClick={openPalette}><Icon name="search" />Search <kbd>Ctrl K</kbd></button>
        <button type="button" class="btn btn-bare btn-icon only-phone" aria-label="Search" onClick={openPalette}><Icon name="search" /></button>
        <ThemeButton />
      </div>
    </header>
  );
}

export function openPalette(): void {
  window.dispatchEvent(new Event("ttyward-palette"));
}

function Palette({ onClose }: { onClose: () => void }) {
  const { terminals, canAct } = useStore();
  const [text, set] = useState("");
  const [at, setAt] = useState(0);
  const { answer } = useCall("history", { limit: 30, ...(text.length > 1 ? { text } : {}) });
  const items = useMemo(() => {
    const all: { icon: string; text: string; note: string; act: () => void }[] = [
      ...VIEWS.map((view) => ({ icon: view.icon, text: view.title, note: `g ${view.key}`, act: () => go(view.href) })),
      ...[...terminals.values()].map((each) => ({ icon: "term", text: `${nameOf(each)}`, note: stateOf(each).words, act: () => go(`/t/${each.id}`) })),
      ...(canAct ? [{ icon: "plus", text: "New terminal", note: "", act: () => void openTerminal() }] : []),
      { icon: "moon", text: "Dark theme", note: "", act: () => store.setPrefs({ theme: "dark" }) },
      { icon: "moon", text: "Light theme", note: "", act: () => store.setPrefs({ theme: "light" }) },
      { icon: "moon", text: "High contrast", note: "", act: () => store.setPrefs({ theme: "contrast" }) },
      ...(answer?.commands ?? []).map((row) => ({ icon: "clock", text: row.command, note: path(row.cwd), act: () => go(`/c/${row.command_id}?since=all`) })),
    ];
    const wanted = text.toLowerCase();
    return all.filter((each) => each.text.toLowerCase().includes(wanted)).slice(0, 30);
  }, [text, terminals, answer]);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const choose = (index: number) => {
    const item = items[index];
    if (!item) return;
    onClose();
    item.act();
  };
  return (
    <Dialog title="Search" onClose={onClose} wide>
      <label class="field"><Icon name="search" /><span class="unseen">Views, terminals, commands</span>
        <input ref={field} role="combobox" aria-expanded="true" aria-controls="palette" aria-activedescendant={`item-${at}`} value={text} placeholder="Views, terminals, commands"
          onInput={(event) => { set(event.currentTarget.value); setAt(0); }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") { event.preventDefault(); setAt(Math.min(items.length - 1, at + 1)); }
            if (event.key === "ArrowUp") { event.preventDefault(); setAt(Math.max(0, at - 1)); }
            if (event.key === "Enter") choose(at);
          }} /></label>
      <ul class="palette" id="palette" role="listbox" aria-label="Found">
        {items.map((item, index) => (
          <li key={index} id={`item-${index}`} role="option" aria-selected={index === at} onClick={() => choose(index)} onPointerEnter={() => setAt(index)}>
            <Icon name={item.icon} /><span class="cut grow"><bdi>{item.text}</bdi></span><small class="cut">{item.note}</small>
          </li>
        ))}
        {items.length === 0 ? <li class="dim">Nothing has “{text}”.</li> : null}
      </ul>
    </Dialog>
  );
}

const KEYS: [string, [string, string][]][] = [
  ["Everywhere", [["g a, g t, g h, g o, g s", "go to a view"], ["Ctrl K", "search"], ["/", "filter"], ["j k", "next, previous"], ["?", "this list"]]],
  ["A question", [["A", "allow once"], ["S", "for this session"], ["R", "always, as a rule"], ["D", "deny, with a reason"], ["X", "skip"], ["O", "open its terminal"]]],
  ["A terminal", [["1 to 9", "open a tile"], ["T", "take the keyboard"], ["G", "give it back"], ["I", "interrupt"], ["V", "paste"], ["H", "show or hide the history"], ["[ ]", "previous, next terminal"], ["F6", "leave the terminal"]]],
  ["Output", [["n N", "next, previous match"], ["e E", "next, previous error"], ["c", "copy the output"], ["y", "copy the link"], ["← →", "fold, unfold"]]],
];

function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div class="key-list">
        {KEYS.map(([title, keys]) => (
          <section key={title}><h3>{title}</h3><dl>{keys.map(([key, words]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{words}</dd></div>)}</dl></section>
        ))}
      </div>
      <div class="acts"><span class="gap" /><button type="button" class="btn" onClick={onClose}>Close</button></div>
    </Dialog>
  );
}

export function Shell({ children, rail }: { children: ComponentChildren; rail: boolean }) {
  const { toasts, notices, canAct, announcement, alarm, ready } = useStore();
  const [over, setOver] = useState<"" | "palette" | "keys">("");
  useEffect(() => {
    let prefix = 0;
    const open = () => setOver("palette");
    const pressed = (event: KeyboardEvent) => {
      const at = event.target as HTMLElement | null;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !at?.closest(".xterm")) {
        event.preventDefault();
        setOver("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || at?.closest("input, textarea, select, .xterm, dialog") || !store.prefs.keys) return;
      if (prefix > Date.now() - 1000) {
        prefix = 0;
        const view = VIEWS.find((each) => each.key === event.key);
        if (view) {
          event.preventDefault();
          event.stopImmediatePropagation();
          go(view.href);
          return;
        }
      }
      // While this page has a keyboard, g gives it back.
      if (event.key === "g" && !document.querySelector(".is-mine")) prefix = Date.now();
      if (event.key === "?") setOver("keys");
      if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("[data-search]");
        event.preventDefault();
        field ? field.focus() : setOver("palette");
      }
      if (event.key === "Escape" && location.pathname.startsWith("/t/")) go("/terminals");
    };
    window.addEventListener("keydown", pressed, true);
    window.addEventListener("ttyward-palette", open);
    return () => {
      window.removeEventListener("keydown", pressed, true);
      window.removeEventListener("ttyward-palette", open);
    };
  }, []);
  const down = link.health === "offline" || link.health === "gone";
  return (
    <div class={`app${rail ? " app-rail" : ""}${ready && link.health !== "connected" ? " app-old" : ""}`}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
      <Side rail={rail} />
      <div class="page">
        {ready && down ? (
          <div class="notice notice-wait" role="status"><Icon name="spin" turns /><span class="grow">Reconnecting. This is the last picture.</span><button type="button" class="btn" onClick={() => link.now()}>Now</button></div>
        ) : null}
        {link.health === "connected" && link.welcome?.why ? (
          <div class="notice notice-wait" role="status"><Icon name="warn" /><span class="grow">This page can only watch: the daemon does not count the panel as a person, because {link.welcome.why}.</span></div>
        ) : null}
        {canAct ? notices.map((each) => (
          <div class="notice notice-wait" role="status" key={each}><Icon name="warn" /><span class="grow">{each}</span><A class="btn" href="/settings/permissions">Look</A>
            <button type="button" class="btn btn-bare btn-icon" aria-label="Close" onClick={() => { store.notices = store.notices.filter((other) => other !== each); store.changed(); }}><Icon name="x" small /></button></div>
        )) : null}
        {link.health === "stopped" ? (
          <div class="notice notice-fail" role="status"><Icon name="warn" /><span class="grow">The daemon does not answer. Terminals live on without it; nothing is lost. Any command starts it again: <code>ttyward ls</code></span><button type="button" class="btn" onClick={() => link.now()}>Try again</button></div>
        ) : null}
        {children}
      </div>
      <div class="toasts">
        {toasts.map((toast) => (
          <div class="toast" key={toast.id}><span class="grow">{toast.text}</span>{toast.href ? <A class="btn btn-bare" href={toast.href}>{toast.link}</A> : null}
            <button type="button" class="btn btn-bare btn-icon" aria-label="Close" onClick={() => store.dropToast(toast.id)}><Icon name="x" small /></button></div>
        ))}
      </div>
      <div class="unseen" aria-live="polite">{announcement}</div>
      <div class="unseen" role="alert">{alarm}</div>
      {over === "palette" ? <Palette onClose={() => setOver("")} /> : null}
      {over === "keys" ? <KeyList onClose={() => setOver("")} /> : null}
    </div>
  );
}
