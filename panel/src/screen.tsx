// One terminal's live screen, in its real size, and its keyboard if this page has it.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./parts";
import { Painter } from "./painter";
import { attachments, link, store, type AttachEvent } from "./store";
import type { ScreenDelta, Terminal } from "./types";
import { nameOf } from "./words";
import type { Terminal as Xterm } from "./xterm";

export const GIVE_BACK = 10 * 60_000; // ms without a key

export interface Keyboard {
  has: boolean;
  lastKey: number;
}


function base64(text: string, binary: boolean): string {
  const bytes = binary ? Uint8Array.from(text, (char) => char.charCodeAt(0)) : new TextEncoder().encode(text);
  let out = "";
  for (const byte of bytes) out += String.fromCharCode(byte);
  return btoa(out);
}

// The attachment of one page to one terminal.
export class Attachment {
  keyboard: Keyboard = { has: false, lastKey: 0 };
  closed = "";
  onChange = () => {};
  // Held down for the next key, by the keys bar.
  held = { ctrl: false, alt: false };
  private subscription = 0;
  private painter = new Painter();
  private xterm: Xterm | null = null;
  private ended = false;

  constructor(readonly terminal: string) {}

  show(xterm: Xterm): void {
    this.xterm = xterm;
    this.painter.forget();
    xterm.onData((text) => this.type(text, false));
    xterm.onBinary((text) => this.type(text, true));
    this.draw();
  }
  get size(): { cols: number; rows: number } {
    return { cols: this.painter.cols, rows: this.painter.rows };
  }

  async attach(options: { keyboard: boolean; take?: boolean }): Promise<void> {
    const before = this.subscription;
    const answer = await link.call("attach", {
      terminal: this.terminal, read_only: !options.keyboard, take: options.take ?? false, ...(options.keyboard ? { give_back_ms: GIVE_BACK } : {}),
    });
    if (this.ended) {
      link.call("detach", { subscription: answer.subscription }).catch(() => {});
      return;
    }
    attachments.delete(before);
    this.subscription = answer.subscription;
    attachments.set(answer.subscription, (event) => this.take(event));
    if (before) await link.call("detach", { subscription: before }).catch(() => {});
    this.keyboard = { has: answer.writable, lastKey: Date.now() };
    this.closed = "";
    this.apply(answer.screen);
    this.onChange();
    store.changed();
  }

  end(): void {
    this.ended = true;
    attachments.delete(this.subscription);
    if (this.subscription) link.call("detach", { subscription: this.subscription }).catch(() => {});
  }

  type(text: string, binary: boolean): void {
    const { ctrl, alt } = this.held;
    if ((ctrl || alt) && [...text].length === 1 && text >= " ") return this.press(text === " " ? "Space" : text);
    this.send({ base64: base64(text, binary) });
  }

  // A key by its name. The daemon knows what the program wants to get for it.
  press(name: string): void {
    const { ctrl, alt } = this.held;
    this.held = { ctrl: false, alt: false };
    this.send({ keys: (ctrl ? "C-" : "") + (alt ? "M-" : "") + name });
    this.onChange();
    store.changed();
  }

  private send(input: { base64: string } | { keys: string }): void {
    if (!this.keyboard.has) return;
    this.keyboard.lastKey = Date.now();
    link.call("attach_input", { subscription: this.subscription, base64: "", ...input }).catch((error: Error) => store.toast(error.message));
  }

  private take(event: AttachEvent): void {
    if (event.event === "attach_screen") return this.apply(event.screen);
    if (event.event === "attach_keyboard") {
      this.keyboard = { has: event.writable, lastKey: Date.now() };
      if (!event.writable && event.reason === "idle") store.toast("The keyboard was given back: no key for 10 minutes.");
      else if (!event.writable) store.alarm = "The keyboard was taken. You are watching.";
      this.draw();
    } else {
      this.closed = event.reason ?? "the terminal has ended";
      this.keyboard = { has: false, lastKey: 0 };
      attachments.delete(this.subscription);
      this.subscription = 0;
    }
    this.onChange();
    store.changed();
  }

  private apply(delta: ScreenDelta): void {
    const before = this.size;
    this.painter.apply(delta);
    if (before.cols !== delta.cols || before.rows !== delta.rows) {
      this.xterm?.resize(delta.cols, delta.rows);
      this.painter.forget();
      this.onChange();
    }
    this.draw();
  }
  private draw(): void {
    const subscription = this.subscription;
    const painted = () => subscription && link.send({ painted: subscription });
    if (!this.xterm) return void painted();
    this.xterm.options.disableStdin = !this.keyboard.has;
    this.xterm.write(this.painter.paint(this.keyboard.has), painted);
  }
}

// The largest letters with which the whole screen fits.
function fit(box: HTMLElement, cols: number, rows: number, phone: boolean): number {
  const width = box.clientWidth - (phone ? 16 : 56);
  const height = box.clientHeight - (phone ? 12 : 48);
  const byWidth = width / cols / 0.602;
  const byHeight = height / rows / 1.2;
  const most = phone ? 12 : 15;
  const least = phone ? 10 : 5;
  return Math.max(least, Math.min(most, Math.floor(Math.min(phone ? Infinity : byWidth, byHeight) * 4) / 4));
}

export function LiveScreen({ terminal, attachment, onLeave }: { terminal: Terminal; attachment: Attachment; onLeave: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const xterm = useRef<Xterm | null>(null);
  const [size, setSize] = useState(attachment.size);
  const [isMade, setMade] = useState(false);
  const phone = matchMedia("(max-width: 719px)").matches;

  useEffect(() => {
    let over = false;
    let made: Xterm | null = null;
    let stop = () => {};
    void import("./xterm").then(({ makeTerminal, themeNow }) => {
      if (over || !place.current) return;
      made = makeTerminal(store.prefs.reader);
      xterm.current = made;
      const { cols, rows } = attachment.size;
      if (cols) made.resize(cols, rows);
      made.open(place.current);
      if (made.textarea) made.textarea.tabIndex = attachment.keyboard.has ? 0 : -1;
      made.textarea?.setAttribute("aria-describedby", "leave-hint");
      made.textarea?.setAttribute("aria-label", `Keyboard of terminal ${nameOf(terminal)}`);
      // F6 leaves the terminal before it sees the key: nobody is locked in.
      made.attachCustomKeyEventHandler((event) => {
        if (event.key !== "F6") return true;
        if (event.type === "keydown") onLeave();
        event.preventDefault();
        return false;
      });
      const theme = () => {
        made!.options.theme = themeNow();
        made!.options.minimumContrastRatio = document.documentElement.dataset.theme === "contrast" ? 7 : 4.5;
      };
      window.addEventListener("ttyward-theme", theme);
      stop = () => window.removeEventListener("ttyward-theme", theme);
      // It hides the cursor until it had the focus once; a watcher wants to see it, too.
      (made as unknown as { _core?: { _showCursor?: () => void } })._core?._showCursor?.();
      attachment.show(made);
      if (attachment.keyboard.has) made.focus(); // it was taken before there was a screen to type at
      setSize({ ...attachment.size });
      setMade(true);
    });
    return () => {
      over = true;
      stop();
      made?.dispose();
      xterm.current = null;
    };
  }, [attachment]);

  useEffect(() => {
    const adjust = () => {
      const { cols, rows } = attachment.size;
      if (!xterm.current || !box.current || !cols) return;
      const wanted = fit(box.current, cols, rows, phone);
      if (xterm.current.options.fontSize !== wanted) xterm.current.options.fontSize = wanted;
    };
    let timer = 0;
    const watcher = new ResizeObserver(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(adjust, 100);
    });
    if (box.current) watcher.observe(box.current);
    adjust();
    return () => {
      watcher.disconnect();
      window.clearTimeout(timer);
    };
  }, [attachment, size.cols, size.rows, isMade]);

  useEffect(() => {
    const changed = () => {
      setSize({ ...attachment.size });
      if (attachment.keyboard.has) xterm.current?.focus();
      else xterm.current?.blur(); // the page's own keys work again
    };
    attachment.onChange = changed;
    changed();
    return () => {
      attachment.onChange = () => {};
    };
  }, [attachment]);

  // Out of the tab order while it is only watched.
  useEffect(() => {
    const textarea = xterm.current?.textarea;
    if (textarea) textarea.tabIndex = attachment.keyboard.has ? 0 : -1;
  });

  const old = link.health !== "connected" || attachment.closed !== "";
  return (
    <div ref={box} class="stage-box">
      <div class={`screen${attachment.keyboard.has ? " is-mine" : ""}${old ? " is-old" : ""}`} role="group"
        aria-label={`Screen of terminal ${nameOf(terminal)}. The history beside it has the same output as text.`}>
        <div ref={place} class="xterm-place" data-cols={size.cols} data-rows={size.rows} />
      </div>
    </div>
  );
}

export function KeysBar({ attachment, onPaste }: { attachment: Attachment; onPaste: () => void }) {
  const [, redraw] = useState(0);
  const { held } = attachment;
  const hold = (key: "ctrl" | "alt") => {
    attachment.held = { ...held, [key]: !held[key] };
    redraw((value) => value + 1);
  };
  const press = (name: string) => () => attachment.press(name);
  const control = (letter: string) => () => {
    attachment.held = { ...held, ctrl: true };
    attachment.press(letter);
  };
  const keys: { text: string; label?: string; act: () => void; on?: boolean }[] = [
    { text: "Esc", act: press("Escape") }, { text: "Tab", act: press("Tab") },
    { text: "Ctrl", act: () => hold("ctrl"), on: held.ctrl }, { text: "Alt", act: () => hold("alt"), on: held.alt },
    { text: "↑", label: "Up", act: press("Up") }, { text: "Paste", act: onPaste },
    { text: "^C", label: "Control C", act: control("c") }, { text: "^D", label: "Control D", act: control("d") },
    { text: "^Z", label: "Control Z", act: control("z") }, { text: "←", label: "Left", act: press("Left") },
    { text: "↓", label: "Down", act: press("Down") }, { text: "→", label: "Right", act: press("Right") },
  ];
  return (
    <div class="keys-bar" role="group" aria-label="Keys">
      {keys.map((key) => (
        <button key={key.text} type="button" aria-label={key.label} aria-pressed={key.on}
          onPointerDown={(event) => event.preventDefault()} onClick={key.act}>{key.text}</button>
      ))}
    </div>
  );
}

export { Icon };
