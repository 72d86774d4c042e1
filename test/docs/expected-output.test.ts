import { describe, expect, test } from 'vitest';
import { reasonNotToRun } from './snippets/not-run.ts';
import { missingLine } from './snippets/expected-output.ts';

describe('missingLine', () => {
  test('documented output may have other lines in between, and "…" matches any text', () => {
    expect(missingLine('a\nb … d', 'a\nx\nb c d\n')).toBeUndefined();
  });

  test('missingLine returns the first documented line that is missing or out of order', () => {
    expect(missingLine('a\nb', 'b\na')).toBe('b');
    expect(missingLine('alert', 'no alert')).toBe('alert');
    expect(missingLine('a.c', 'abc')).toBe('a.c');
  });
});

describe('reasonNotToRun', () => {
  const findReason = (text: string) =>
    reasonNotToRun({ page: 'a.md', line: 1, language: 'sh', note: '', text });

  test('a shell block runs unless one of its commands is listed', () => {
    expect(findReason('curl -sS \\\n  http://127.0.0.1/\n# aws is not meant\n')).toBeUndefined();
    expect(findReason('echo a\naws sts get-caller-identity\n')).toBe('requires an AWS account');
  });
});
