import { expect, onTestFinished, test, vi } from 'vitest';
import { createLineLog } from '../../adapters/embedded/log/log.ts';
import { withFields } from '../../adapters/log-message.ts';
import { showControls } from '../../core/observability/redact.ts';
import { oneLine, openTerminal } from '../../cli/terminal.ts';

const hostile = '\u001b[31mred\u001b]0;title\u0007\u009b2J\r\u202e\u0000\u007f';
const shown = String.raw`\u001b[31mred\u001b]0;title\u0007\u009b2J\u000d\u202e\u0000\u007f`;

test('control characters are shown by their code, and other characters and line breaks stay', () => {
  expect(showControls(hostile)).toBe(shown);
  expect(showControls('né 門 👨‍👩‍👧 \u200f\tx\ny')).toBe('né 門 👨‍👩‍👧 \u200f\tx\ny');
  const record = { name: `${hostile}"\\` };
  expect(JSON.parse(showControls(JSON.stringify(record)))).toEqual(record);
});

test('a command prints a hostile name by its codes, in one line', () => {
  const written: string[] = [];
  const write = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  onTestFinished(() => write.mockRestore());
  openTerminal({ TERM: 'dumb' }).print(oneLine(`gate\nnight ${hostile}`));
  expect(written).toEqual([`gate night ${shown.replace(String.raw`\u000d`, ' ')}\n`]);
});

test.each([true, false])(
  'a log entry of foreign text is one entry without control characters (lines: %s)',
  (humanReadable) => {
    const lines: string[] = [];
    const at = new Date('2026-03-01T12:00:00Z');
    const log = createLineLog({
      level: 'info',
      now: () => at,
      write: (line) => lines.push(line),
      humanReadable,
    });
    log.info(hostile, { error: `x\n12:00:00  ERROR    forged ${hostile}` });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/[\p{Cc}--\n]/v);
    expect(lines[0]).not.toMatch(/^12:00:00 {2}ERROR/m);
  },
);

test('GET /logs has no control characters', () => {
  expect(withFields(hostile, { name: hostile, error: 'a\nb' })).not.toMatch(/\p{Cc}/u);
});
