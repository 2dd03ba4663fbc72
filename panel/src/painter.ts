// A screen of the daemon's (ScreenDelta) as bytes for the terminal in the page: what changed, and nothing that a
// program printed as it was. Of the modes only those that decide what keys and the mouse send are passed on.
import type { ScreenDelta, ScreenRun } from "./types";

const UNDERLINES: Record<string, string> = { single: "4", double: "21", curly: "4:3", dotted: "4:4", dashed: "4:5" };
const PASSED_ON = [1, 66, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004];
const SHAPES = { block: 2, underline: 4, bar: 6 }; // as DECSCUSR counts them, without blinking

function colour(base: number, text: string): string {
  if (!text.startsWith("#")) return `${base};5;${Number(text) || 0}`;
  const value = parseInt(text.slice(1), 16);
  return `${base};2;${value >> 16};${(value >> 8) & 255};${value & 255}`;
}

function sgr(run: ScreenRun): string {
  const codes = ["0"];
  if (run.bold) codes.push("1");
  if (run.dim) codes.push("2");
  if (run.italic) codes.push("3");
  if (run.underline) codes.push(UNDERLINES[run.underline] ?? "4");
  if (run.blink) codes.push("5");
  if (run.inverse) codes.push("7");
  if (run.hidden) codes.push("8");
  if (run.strike) codes.push("9");
  if (run.overline) codes.push("53");
  if (run.fg) codes.push(colour(38, run.fg));
  if (run.bg) codes.push(colour(48, run.bg));
  if (run.underline_colour) codes.push(colour(58, run.underline_colour));
  return `\x1b[${codes.join(";")}m`;
}

// Cells hold no control characters; should one ever, it must not act.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;
// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0020-\u007e]*$/;

function rowBytes(runs: ScreenRun[]): string {
  let out = "";
  let col = 0;
  let sure = true; // of the column: terminals differ in how wide some characters are
  for (const run of runs) {
    if (!sure) out += `\x1b[${col + 1}G`;
    out += sgr(run) + run.text.replace(CONTROL, "?");
    col += run.cols;
    sure = ASCII.test(run.text);
  }
  return out + "\x1b[0m" + (sure ? "" : `\x1b[${col + 1}G`);
}

export class Painter {
  cols = 0;
  rows = 0;
  cursor: ScreenDelta["cursor"] = { row: 0, col: 0, visible: false, shape: "block", blinks: false };
  private lines = new Map<number, string>(); // by stable number
  private widths = new Map<number, number>();
  private first = 0;
  private shown: string[] = [];
  private wanted = new Set<number>();
  private modes = new Set<number>();

  apply(delta: ScreenDelta): void {
    if (delta.reset) this.lines.clear();
    if (delta.cols !== this.cols || delta.rows !== this.rows) this.shown = [];
    this.cols = delta.cols;
    this.rows = delta.rows;
    this.first = delta.first_row;
    this.cursor = delta.cursor;
    this.wanted = new Set(delta.modes.filter((mode) => PASSED_ON.includes(mode)));
    for (const line of delta.lines) {
      this.lines.set(line.row, rowBytes(line.runs));
      this.widths.set(line.row, line.runs.reduce((sum, run) => sum + run.cols, 0));
    }
    for (const row of this.lines.keys()) {
      if (row >= this.first && row < this.first + this.rows) continue;
      this.lines.delete(row);
      this.widths.delete(row);
    }
  }

  // The terminal in the page was made anew, or shows something else.
  forget(): void {
    this.shown = [];
    this.modes = new Set();
  }

  paint(keyboard: boolean): string {
    let out = "\x1b[?2026h\x1b[?25l\x1b[?7l";
    if (this.shown.length !== this.rows) {
      out += "\x1b[0m\x1b[2J";
      this.shown = new Array<string>(this.rows).fill("");
    }
    for (let row = 0; row < this.rows; row++) {
      const number = this.first + row;
      const bytes = this.lines.get(number) ?? "";
      if (this.shown[row] === bytes) continue;
      const full = (this.widths.get(number) ?? 0) >= this.cols;
      out += `\x1b[${row + 1};1H${bytes}${full ? "" : "\x1b[K"}`;
      this.shown[row] = bytes;
    }
    const wanted = keyboard ? this.wanted : new Set<number>();
    for (const mode of this.modes) if (!wanted.has(mode)) out += `\x1b[?${mode}l`;
    for (const mode of wanted) if (!this.modes.has(mode)) out += `\x1b[?${mode}h`;
    this.modes = new Set(wanted);
    const { row, col, visible, shape } = this.cursor;
    // Also where it is not shown: the cell with the cursor is drawn on its own, and one screen is to be one picture.
    out += `\x1b[${row + 1};${col + 1}H`;
    if (visible) out += `\x1b[${SHAPES[shape]} q\x1b[?25h`;
    return out + "\x1b[?2026l";
  }
}
