// Lines with colours (SGR sequences and nothing else) as pieces of text with classes. Used for thumbnails and logs.

export interface Piece { text: string; cls: string; fg?: string; bg?: string }

interface Style { fg: string; bg: string; bold: boolean; dim: boolean; italic: boolean; under: boolean; inverse: boolean; strike: boolean; hidden: boolean }

const PLAIN: Style = { fg: "", bg: "", bold: false, dim: false, italic: false, under: false, inverse: false, strike: false, hidden: false };

function cube(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const at = index - 16;
  const part = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  return `rgb(${part(Math.floor(at / 36))} ${part(Math.floor(at / 6) % 6)} ${part(at % 6)})`;
}

// "3" is a colour of the palette, "rgb(…)" one of its own.
function extended(codes: number[], at: number): { colour: string; used: number } {
  if (codes[at + 1] === 5) {
    const index = codes[at + 2] ?? 0;
    return { colour: index < 16 ? String(index) : cube(index), used: 2 };
  }
  if (codes[at + 1] === 2) return { colour: `rgb(${codes[at + 2] ?? 0} ${codes[at + 3] ?? 0} ${codes[at + 4] ?? 0})`, used: 4 };
  return { colour: "", used: 0 };
}

function apply(style: Style, text: string): Style {
  const next = { ...style };
  const codes = text.replace(/:/g, ";").split(";").map((code) => Number(code) || 0);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 0) Object.assign(next, PLAIN);
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4 || code === 21) next.under = true;
    else if (code === 7) next.inverse = true;
    else if (code === 8) next.hidden = true;
    else if (code === 9) next.strike = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.under = false;
    else if (code === 27) next.inverse = false;
    else if (code === 28) next.hidden = false;
    else if (code === 29) next.strike = false;
    else if (code >= 30 && code <= 37) next.fg = String(code - 30);
    else if (code === 39) next.fg = "";
    else if (code >= 40 && code <= 47) next.bg = String(code - 40);
    else if (code === 49) next.bg = "";
    else if (code >= 90 && code <= 97) next.fg = String(code - 82);
    else if (code >= 100 && code <= 107) next.bg = String(code - 92);
    else if (code === 38 || code === 48 || code === 58) {
      const { colour, used } = extended(codes, i);
      if (code === 38) next.fg = colour;
      if (code === 48) next.bg = colour;
      i += used;
    }
  }
  return next;
}

function piece(text: string, style: Style): Piece {
  const classes: string[] = [];
  const made: Piece = { text: style.hidden ? " ".repeat(text.length) : text, cls: "" };
  if (style.inverse) classes.push("inv");
  if (style.bold) classes.push("bo");
  if (style.dim) classes.push("di");
  if (style.italic) classes.push("it");
  if (style.under) classes.push("un");
  if (style.strike) classes.push("sk");
  if (/^\d+$/.test(style.fg)) classes.push(`f${style.fg}`);
  else if (style.fg) made.fg = style.fg;
  if (/^\d+$/.test(style.bg)) classes.push(`g${style.bg}`);
  else if (style.bg) made.bg = style.bg;
  made.cls = classes.join(" ");
  return made;
}

// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001b\[([0-9;:]*)m|\u001b\[[0-9;:?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f]/g;

// Styles may begin on one line and end on another, so lines are parsed together.
export function parseLines(text: string): Piece[][] {
  let style = PLAIN;
  return text.split("\n").map((line) => {
    const pieces: Piece[] = [];
    let at = 0;
    for (const found of line.matchAll(SEQUENCE)) {
      if (found.index > at) pieces.push(piece(line.slice(at, found.index), style));
      if (found[1] !== undefined) style = apply(style, found[1]);
      at = found.index + found[0].length;
    }
    if (at < line.length) pieces.push(piece(line.slice(at), style));
    return pieces;
  });
}

// A whole screen, whose rows are addressed by cursor positions.
export function parseScreen(text: string, rows: number): Piece[][] {
  const lines = new Array<string>(rows).fill("");
  let row = 0;
  let at = 0;
  const put = (part: string) => {
    if (row < rows) lines[row] += part;
  };
  // eslint-disable-next-line no-control-regex
  for (const found of text.matchAll(/\u001b\[(\d+);(\d+)H/g)) {
    put(text.slice(at, found.index));
    at = found.index + found[0].length;
    row = Number(found[1]) - 1;
    const there = (lines[row] ?? "").replace(SEQUENCE, "").length;
    if (at < text.length - 12) put(" ".repeat(Math.max(0, Number(found[2]) - 1 - there)));
  }
  put(text.slice(at));
  return parseLines(lines.join("\n"));
}

export function textOf(pieces: Piece[]): string {
  return pieces.map((each) => each.text).join("");
}
