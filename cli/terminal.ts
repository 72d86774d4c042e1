import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import pc from 'picocolors';

/** Output of a command: results to standard output, all other text to standard error. */
export type Terminal = {
  /** Prints a result, which scripts can read. */
  print(line: string): void;
  /** Prints a note for the user. */
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
    print: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    waiting: (text) => (isTerminal ? spin(text) : announce(text)),
    confirm: async (question) => isTerminal && process.stdin.isTTY && ask(question),
    color: pc.createColors(colored),
    isTerminal,
  };
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
  process.stderr.write(`${text} …\n`);
  return { update: () => undefined, done: () => undefined };
}

function spin(first: string) {
  let turn = 0;
  let text = first;
  const timer = setInterval(() => {
    process.stderr.write(`\r\u001B[2K${frames[turn % frames.length]} ${text} …`);
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
