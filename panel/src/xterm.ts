// xterm.js, loaded with the first large terminal. Its style elements carry the nonce of this page's answer: no other
// style element is let in.
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
const create = Document.prototype.createElement;
Document.prototype.createElement = function (this: Document, name: string, ...more: [ElementCreationOptions?]) {
  const made = create.call(this, name, ...more);
  if (made instanceof HTMLStyleElement) made.nonce = nonce;
  return made;
} as typeof create;

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

export function themeNow(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const theme: Record<string, string> = {
    background: value("--term-bg"), foreground: value("--term-fg"), cursor: value("--term-fg"), cursorAccent: value("--term-bg"),
    selectionBackground: value("--select"),
  };
  NAMES.forEach((name, at) => {
    theme[name] = value(`--t${at}`);
    theme[`bright${name[0]!.toUpperCase()}${name.slice(1)}`] = value(`--t${at + 8}`);
  });
  return theme;
}

export function makeTerminal(reader: boolean): Terminal {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const terminal = new Terminal({
    allowProposedApi: true,
    scrollback: 0,
    cursorBlink: false,
    cursorInactiveStyle: "outline",
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
    fontSize: 13,
    lineHeight: 1.2,
    disableStdin: true,
    screenReaderMode: reader,
    smoothScrollDuration: still ? 0 : 0,
    minimumContrastRatio: document.documentElement.dataset.theme === "contrast" ? 7 : 4.5,
    macOptionIsMeta: true,
    theme: themeNow(),
    linkHandler: { activate: () => {} },
  });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  return terminal;
}

export type { Terminal };
