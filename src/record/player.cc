#include "record/player.h"

namespace ttyward::record {

// What comes from the recording only ever becomes text content, numbers and colours of the form #rrggbb.
// Colours are set through the style objects of elements, which the page's policy allows; style attributes
// would not be.
const std::string_view kPlayerScript = R"js(
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('recording').textContent);
  const by = (id) => document.getElementById(id);
  const screen = by('screen');
  const bar = by('bar');
  const clock = by('clock');
  const play = by('play');
  const colour = (c) => (/^#[0-9a-f]{6}$/.test(c) ? c : '');
  const frames = data.frames;
  const end = Math.max(data.duration, frames.length ? frames[frames.length - 1][0] : 0);
  let rows = [];      // elements
  let lines = [];     // what each shows
  let shown = -1;     // the frame that is on the screen
  let now = 0;        // milliseconds of the recording
  let playing = false;
  let last = 0;
  const cursor = document.createElement('div');
  cursor.className = 'cursor';

  screen.style.color = colour(data.fg);
  screen.style.background = colour(data.bg);
  cursor.style.background = colour(data.fg);
  bar.max = String(end);

  function resize(cols, count) {
    screen.replaceChildren();
    rows = [];
    lines = [];
    for (let i = 0; i < count; i++) {
      const row = document.createElement('div');
      row.className = 'row';
      screen.append(row);
      rows.push(row);
      lines.push(0);
    }
    screen.style.width = cols + 'ch';
    screen.append(cursor);
  }

  function paint(row, line) {
    const parts = [];
    let at = 0;
    const runs = data.lines[line];
    for (let i = 0; i < runs.length; i += 4) {
      const [col, cols, look, text] = runs.slice(i, i + 4);
      if (col > at) parts.push(document.createTextNode(' '.repeat(col - at)));
      const span = document.createElement('span');
      const [fg, bg, flags] = data.looks[look];
      span.textContent = text;
      if (fg !== data.fg) span.style.color = colour(fg);
      if (bg !== data.bg) span.style.background = colour(bg);
      if (flags & 1) span.style.fontWeight = 'bold';
      if (flags & 2) span.style.fontStyle = 'italic';
      if (flags & 12) span.style.textDecoration = (flags & 4 ? 'underline ' : '') + (flags & 8 ? 'line-through' : '');
      if (text.length !== cols || /[^ -~]/.test(text)) {
        span.className = 'fixed';
        span.style.width = cols + 'ch';
      }
      parts.push(span);
      at = col + cols;
    }
    rows[row].replaceChildren(...parts);
  }

  // Going back begins again: the first frame has a size, and with it an empty screen.
  function show(frame) {
    const from = frame < shown ? 0 : shown + 1;
    let size = null;
    const changes = new Map();
    for (let i = from; i <= frame; i++) {
      const [, changed, , , , cols, count] = frames[i];
      if (cols) {
        size = [cols, count];
        changes.clear();
      }
      for (let j = 0; j < changed.length; j += 2) changes.set(changed[j], changed[j + 1]);
    }
    if (size) resize(size[0], size[1]);
    for (const [row, line] of changes) {
      if (row < rows.length && lines[row] !== line) {
        lines[row] = line;
        paint(row, line);
      }
    }
    const [, , visible, row, col] = frames[frame];
    cursor.hidden = !visible;
    cursor.style.left = col + 'ch';
    cursor.style.top = 'calc(' + row + ' * var(--row))';
    shown = frame;
  }

  function frameAt(time) {
    let low = 0;
    let high = frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (frames[middle][0] <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  function text(ms) {
    const s = Math.floor(ms / 1000);
    return Math.floor(s / 60) + ':' + String(s % 60).padStart(2, '0');
  }

  function go(time) {
    now = Math.min(Math.max(time, 0), end);
    const frame = frameAt(now);
    if (frame !== shown) show(frame);
    bar.value = String(now);
    clock.textContent = text(now) + ' / ' + text(end);
    document.body.dataset.at = String(Math.round(now));
  }

  function tick(moment) {
    if (!playing) return;
    let next = now + (moment - last) * Number(by('speed').value);
    last = moment;
    const coming = frames[shown + 1];
    if (by('skip').checked && coming && coming[0] - next > 1000) next = coming[0] - 1000;
    go(next);
    if (now >= end) return stop();
    requestAnimationFrame(tick);
  }
  function stop() {
    playing = false;
    play.textContent = 'Play';
  }
  function start() {
    if (now >= end) go(0);
    playing = true;
    play.textContent = 'Pause';
    last = performance.now();
    requestAnimationFrame(tick);
  }
  const toggle = () => (playing ? stop() : start());

  play.addEventListener('click', toggle);
  bar.addEventListener('input', () => go(Number(bar.value)));
  document.addEventListener('keydown', (event) => {
    if (event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ') toggle();
    else if (event.key === 'ArrowRight') go(now + 5000);
    else if (event.key === 'ArrowLeft') go(now - 5000);
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(end);
    else return;
    event.preventDefault();
  });
  for (const [at, label] of data.markers) {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.textContent = text(at) + '  ' + label;
    button.addEventListener('click', () => go(at));
    item.append(button);
    by('markers').append(item);
  }
  by('chapters').hidden = data.markers.length === 0;
  go(0);
})();
)js";

const std::string_view kPlayerStyle = R"css(
body { margin: 2rem auto; max-width: max-content; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; background: #f4f4f2; color: #222; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0 0 .7rem; overflow-wrap: anywhere; }
#frame { border-radius: 8px; overflow: auto; box-shadow: 0 1px 8px rgb(0 0 0 / .25); max-width: 94vw; }
#screen { --row: 1.25em; position: relative; font: 14px/1.25 ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; padding: 12px; box-sizing: content-box; }
.row { height: var(--row); white-space: pre; }
.fixed { display: inline-block; overflow: hidden; vertical-align: top; height: var(--row); }
.cursor { position: absolute; margin: 12px; width: 1ch; height: var(--row); opacity: .55; }
#controls { display: flex; gap: .8rem; align-items: center; margin: .8rem 0; }
#bar { flex: 1; }
#play { min-width: 4.5rem; }
#chapters { font-size: .9rem; }
#markers { list-style: none; padding: 0; }
#markers button { border: 0; background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; white-space: pre-wrap; }
#markers button:hover { text-decoration: underline; }
@media (prefers-color-scheme: dark) { body { background: #17181a; color: #ddd; } }
)css";

}  // namespace ttyward::record
