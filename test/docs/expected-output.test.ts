import { describe, expect, it } from 'vitest';
import { reasonNotToRun } from './snippets/not-run.ts';
import { missingLine } from './snippets/expected-output.ts';

describe('what a page shows as output', () => {
  it('may have other lines in between, and "…" for anything', () => {
    expect(missingLine('a\nb … d', 'a\nx\nb c d\n')).toBeUndefined();
  });

  it('has to come whole and in its order; the first line that did not is named', () => {
    expect(missingLine('a\nb', 'b\na')).toBe('b');
    expect(missingLine('alert', 'no alert')).toBe('alert');
    expect(missingLine('a.c', 'abc')).toBe('a.c');
  });
});

describe('a block of the shell', () => {
  const reasonOf = (text: string) =>
    reasonNotToRun({ page: 'a.md', line: 1, language: 'sh', note: '', text });

  it('is run unless one of its commands is listed', () => {
    expect(reasonOf('curl -sS \\\n  http://127.0.0.1/\n# aws is not meant\n')).toBeUndefined();
    expect(reasonOf('echo a\naws sts get-caller-identity\n')).toBe('needs an AWS account');
  });
});
