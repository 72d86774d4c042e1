import { vi } from 'vitest';

/** Lines written to standard output and standard error during a test: Lambda sends both to the log group. */
export function readStandardOutput() {
  const written: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    }),
  );
  return {
    lines: (): string[] => written.join('').split('\n').filter(Boolean),
    close: () => spies.forEach((spy) => spy.mockRestore()),
  };
}
