import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import pc from 'picocolors';
import { showControls } from '../core/observability/redact.ts';

/** Output of a command: results to standard output, all other text to standard error. */
export type Terminal = {
  /** Prints a result, which scripts can read. */
  print(line: string): void;
  note(line: string): void;
  /** Shows a progress line until `done`. Without a terminal it prints the first text only. */
  waiting(text: string): { update(text: string): void; done(): void };
  /** Asks a question with the answers yes and no. Returns false without a terminal. */
  confirm(question: string): Promise<boolean>;
  color: ReturnType<typeof pc.createColors>;
  isTerminal: boolean;
};

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function openTerminal(env: NodeJS.ProcessEnv): Terminal {
  const isTerminal = isatty(2) && env['TERM'] !== 'dumb';
  // Always a boolean: picocolors decides by `CI` and `FORCE_COLOR` when it is given `undefined`.
  const colored = isatty(1) && isTerminal && !env['NO_COLOR'];
  return {
    print: (line) => void process.stdout.write(`${showText(line, colored)}\n`),
    note: (line) => void process.stderr.write(`${showText(line, colored)}\n`),
    waiting: (text) => (isTerminal ? spin(text) : announce(text)),
    confirm: async (question) => isTerminal && process.stdin.isTTY && ask(question),
    color: pc.createColors(colored),
    isTerminal,
  };
}

/**
 * Shows control characters of foreign texts. Keeps the colors of this program, where there are some; no code hides
 * text.
 */
function showText(text: string, colored: boolean): string {
  if (!colored) return showControls(text);
  return text
    .split(colorCode)
    .map((part, index) => (index % 2 === 0 ? showControls(part) : part))
    .join('');
}

// oxlint-disable-next-line no-control-regex
const colorCode = /(\u001B\[(?!8m)\d{1,3}m)/;

/** Returns a text from elsewhere as part of one line, so that it forges no line of its own. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

async function ask(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } catch (error) {
    // Ctrl+C and Ctrl+D are a no.
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  } finally {
    lines.close();
  }
}

function announce(text: string) {
  process.stderr.write(`${showControls(text)} …\n`);
  return { update: () => undefined, done: () => undefined };
}

function spin(first: string) {
  let turn = 0;
  let text = first;
  const timer = setInterval(() => {
    process.stderr.write(`\r\u001B[2K${frames[turn % frames.length]} ${showControls(text)} …`);
    turn += 1;
  }, 100);
  return {
    update: (next: string) => {
      text = next;
    },
    done: () => {
      clearInterval(timer);
      process.stderr.write('\r\u001B[2K');
    },
  };
}
