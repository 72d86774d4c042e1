import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Breaks one rule after the other in a copy of `core`, and expects the simulation to notice each. Takes some minutes. */
const mutations: [rule: string, file: string, from: string, to: string][] = [
  ['M of N', 'condition.ts', '>= rule.checks_to_open;', '> rule.checks_to_open;'],
  ['last N', 'condition.ts', 'history.slice(-considered)', 'history'],
  ['checks_to_close', 'condition.ts', '>= rule.checks_to_close;', '>= rule.checks_to_close - 1;'],
  [
    'first datapoint clears',
    'condition.ts',
    "state.phase === 'unknown' ? 'clear'",
    "state.phase === 'unknown' ? 'unknown'",
  ],
  ['cooldown', 'condition.ts', '>= rule.cooldown_seconds', '>= 0'],
  [
    'cooldown across closings',
    'condition.ts',
    'phase, alert: null };',
    'phase, alert: null, last_opened_at: null };',
  ],
  [
    'opening empties the history',
    'condition.ts',
    "{ ...forget(state), phase: 'open'",
    "{ ...state, phase: 'open'",
  ],
  [
    'snooze',
    'condition.ts',
    'if (!mayOpen(state, rule) || isSnoozed(state, now))',
    'if (!mayOpen(state, rule))',
  ],
  ['no reminder if acknowledged', 'condition.ts', ' || alert.acknowledged_at !== null)', ')'],
  ['no reminder if unconfirmed', 'condition.ts', ' || alert.unconfirmed ||', ' ||'],
  ['reminders', 'condition.ts', 'alert.reminded_at ?? alert.opened_at', 'alert.opened_at'],
  ['sight by a skip', 'condition.ts', 'seen_at: now.toISOString(), alert }', 'alert }'],
  ['unknown without sight', 'condition.ts', "{ ...forget(state), phase: 'unknown' }", 'state'],
  ['confirming', 'condition.ts', 'holding > 0 && holding <', 'holding > 1 && holding <'],
  ['only pending questions', 'questions.ts', '!state.next?.confirming || ', 'true || '],
  ['pre-filter bypass', 'questions.ts', ' || isPending(condition, rule);', ';'],
  ['no repeated frame', 'questions.ts', 'judgesRepeated: false', 'judgesRepeated: true'],
  ['asked alone', 'questions.ts', '>= rules.maxLeftOut', '> rules.maxLeftOut'],
  ['new segment', 'next-watch-tick.ts', 'nextSegmentAt(outcome) ?? now', 'now'],
  ['grid', 'next-watch-tick.ts', 'confirmAt < onGrid', 'confirmAt <= onGrid && false'],
  ['boundary', 'next-watch-tick.ts', 'check.at >= boundary', 'check.at > boundary && false'],
  ['grace period', 'stream-trouble.ts', '>= graceSeconds(reason)', '> 2 * graceSeconds(reason)'],
  ['growing waits', 'stream-trouble.ts', 'before.captures + 1', '1'],
  ['refused password', 'stream-trouble.ts', 'rules.watchRefusedSeconds;', '60;'],
  ['lateness of the service', 'stream-trouble.ts', 'lateSeconds > rules.downtimeSeconds', 'false'],
  [
    'frozen for ten minutes',
    'stream-trouble.ts',
    '? rules.watchStillSeconds :',
    '? rules.streamGraceSeconds :',
  ],
  ['block before calls', 'budget.ts', 'reserved: { tick, ...need }', 'reserved: null'],
  [
    'crash forfeits',
    'budget.ts',
    'calls: state.calls + calls, micro_usd: state.micro_usd + micro_usd, reserved',
    'reserved',
  ],
  ['budget', 'budget.ts', 'used.calls + need.calls > calls', 'used.calls > calls'],
  ['warning', 'budget.ts', 'warningShare = 0.8', 'warningShare = 0.9'],
  ['repeated local time', 'schedule.ts', "zone, 'later');", "zone, 'earlier');"],
  [
    'gap of the clock',
    'schedule.ts',
    "earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? later.epochMilliseconds",
    'later.epochMilliseconds',
  ],
  ['adjacent spans', 'schedule.ts', 'span.start <= last.end', 'span.start < last.end'],
  ['crosses midnight', 'schedule.ts', 'to <= from ?', 'false ?'],
  ['span ends alerts', 'tick.ts', "if (!watches) return closed(state, 'unknown');", ''],
  [
    'order of closings',
    'tick.ts',
    '[...closings, ...openings, ...reminders]',
    '[...openings, ...closings, ...reminders]',
  ],
  ['one id per opening', 'tick.ts', 'opening += 1;', ''],
  ['changed text', 'tick.ts', '!answer || answer.condition !== rule.condition', '!answer'],
  ['no reminder if exhausted', 'tick.ts', 'isUsedUp || !remindsNow', '!remindsNow'],
  ['coverage', 'coverage.ts', "in_gap || sight === 'not_seen' || ", "sight === 'not_seen' || "],
  ['late ticks are gaps', 'coverage.ts', 'now.getTime() - from.getTime() > maxMs', 'false'],
  [
    'changed condition begins',
    'change.ts',
    "close(condition, before, 'changed');\n      return initialConditionState(rule.condition_id, now);",
    "close(condition, before, 'changed');\n      return condition;",
  ],
  [
    'other numbers empty the history',
    'change.ts',
    'hasSameChecks(before, rule) ? joined : forget(joined)',
    'joined',
  ],
];

const root = join(import.meta.dirname, '../../../..');
const only = process.argv.slice(2);
let survivors = 0;
for (const [rule, file, from, to] of mutations) {
  if (only.length > 0 && !only.includes(rule)) continue;
  const outcome = runMutation(file, from, to);
  if (outcome !== 'killed') survivors += 1;
  process.stdout.write(`${outcome.padEnd(9)} ${rule} (${file})\n`);
}
process.exitCode = survivors === 0 ? 0 : 1;

function runMutation(file: string, from: string, to: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'watch-mutation-'));
  try {
    cpSync(join(root, 'core'), join(copy, 'core'), { recursive: true });
    cpSync(join(root, 'test/core/watch'), join(copy, 'test/core/watch'), { recursive: true });
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const path = join(copy, 'core/watch', file);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(from)) return 'missing';
    writeFileSync(path, source.replace(from, to));
    const simulation = join(copy, 'test/core/watch/simulation/simulate-process.ts');
    const options = ['--seeds', '60', '--days', '30', '--interval', '60', '--stop'];
    return spawnSync(process.execPath, [simulation, ...options]).status === 0 ? 'SURVIVED' : 'killed';
  } finally {
    rmSync(copy, { recursive: true });
  }
}
