import type { Finding } from '../../core/ports/health.ts';
import type { Terminal } from '../terminal.ts';

/** Returns the lines of a finding for the terminal: its result, and the next step if there is one. */
export function formatFinding(
  { check, status, message, next, detail }: Finding,
  color: Terminal['color'],
): string[] {
  const mark =
    status === 'failed' ? color.red('FAILED ') : status === 'warning' ? color.yellow('WARNING ') : '';
  const line = `  ${check.padEnd(9)} ${mark}${message}${detail === undefined ? '' : ` (${detail})`}`;
  return next === null ? [line] : [line, `            ${next}`];
}
