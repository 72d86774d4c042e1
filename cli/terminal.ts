import pc from 'picocolors';

/** Where a command writes: results to standard output, everything else to standard error. */
export type Terminal = {
  /** A result: what a script would read. */
  print(line: string): void;
  /** What a person wants to know meanwhile. */
  note(line: string): void;
  /** A line that is redrawn while something takes its time; plain text where there is no terminal. */
  waiting(text: string): { done(): void };
  color: ReturnType<typeof pc.createColors>;
  isTerminal: boolean;
};

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function openTerminal(env: NodeJS.ProcessEnv): Terminal {
  const isTerminal = process.stderr.isTTY && env['TERM'] !== 'dumb';
  const colored = process.stdout.isTTY && isTerminal && !env['NO_COLOR'];
  return {
    print: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    waiting: (text) => (isTerminal ? spin(text) : announce(text)),
    color: pc.createColors(colored),
    isTerminal,
  };
}

function announce(text: string) {
  process.stderr.write(`${text} …\n`);
  return { done: () => undefined };
}

function spin(text: string) {
  let turn = 0;
  const timer = setInterval(() => {
    process.stderr.write(`\r${frames[turn % frames.length]} ${text} …`);
    turn += 1;
  }, 100);
  return {
    done: () => {
      clearInterval(timer);
      process.stderr.write('\r\u001B[2K');
    },
  };
}
