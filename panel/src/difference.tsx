// What changes between two texts, line by line.

interface Line { sign: " " | "−" | "+" | "…"; text: string; number: number }
const CONTEXT = 2;
const MOST_LINES = 2000; // of the part that differs, for the careful way

function linesOf(text: string): string[] {
  return text ? text.replace(/\n$/, "").split("\n") : [];
}

// The longest common part stays; the rest is removed and added.
export function differing(before: string, after: string): Line[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const [a, b] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const out: Line[] = old.slice(0, head).map((text, at) => ({ sign: " ", text, number: at + 1 }));
  if (a.length > MOST_LINES || b.length > MOST_LINES) {
    a.forEach((text, at) => out.push({ sign: "−", text, number: head + at + 1 }));
    b.forEach((text, at) => out.push({ sign: "+", text, number: head + at + 1 }));
  } else {
    const same: Uint16Array[] = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--) same[i]![j] = a[i] === b[j] ? same[i + 1]![j + 1]! + 1 : Math.max(same[i + 1]![j]!, same[i]![j + 1]!);
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && j < b.length && a[i] === b[j]) {
        out.push({ sign: " ", text: a[i]!, number: head + j + 1 });
        i++;
        j++;
      } else if (i < a.length && (j >= b.length || same[i + 1]![j]! >= same[i]![j + 1]!)) {
        out.push({ sign: "−", text: a[i]!, number: head + ++i });
      } else {
        out.push({ sign: "+", text: b[j]!, number: head + ++j });
      }
    }
  }
  now.slice(now.length - tail).forEach((text, at) => out.push({ sign: " ", text, number: now.length - tail + at + 1 }));
  // Only what is near a change.
  const near = out.map((_, at) => out.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => line.sign !== " "));
  return out.flatMap((line, at): Line[] => (near[at] ? [line] : near[at - 1] ? [{ sign: "…", text: "", number: 0 }] : []));
}

export function Difference({ before, after }: { before: string; after: string }) {
  const lines = differing(before, after);
  return (
    <div class="difference" role="group" aria-label="Difference">
      {lines.map((line, at) => (
        <div key={at} class={line.sign === "+" ? "add" : line.sign === "−" ? "del" : ""}><span>{line.number || ""}</span><span>{line.sign}</span><span>{line.text}</span></div>
      ))}
      {lines.length === 0 ? <p class="dim">Nothing changes.</p> : null}
    </div>
  );
}
