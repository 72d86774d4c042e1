import type { Terminal } from '../terminal.ts';

/** Output of the demo: lines with the time since its start, or JSON lines. */
export type Story = {
  say(text: string): void;
  event(type: string, details: Record<string, unknown>): void;
  good(text: string): void;
};

/** Creates the output of the demo. */
export function tellStory({ print, color }: Terminal, asJson: boolean): Story {
  const startedMs = performance.now();
  const line = (text: string) => print(`${color.dim(clock(performance.now() - startedMs))}  ${text}`);
  return {
    say: (text) => (asJson ? print(JSON.stringify({ note: text })) : line(text)),
    good: (text) => (asJson ? print(JSON.stringify({ result: text })) : line(color.green(text))),
    event: (type, details) => {
      if (asJson) print(JSON.stringify({ type, ...details }));
      else line(`${paint(type, color)}  ${describe(details)}`);
    },
  };
}

function clock(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(5)} s`;
}

function paint(type: string, color: Terminal['color']): string {
  const padded = type.padEnd(15);
  if (type === 'watch_triggered') return color.bold(color.red(padded));
  return type === 'progress' ? color.dim(padded) : color.cyan(padded);
}

function describe(details: Record<string, unknown>): string {
  return Object.values(details)
    .filter((value) => value !== undefined && value !== '')
    .map(String)
    .join('  ');
}
