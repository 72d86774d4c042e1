import { posix } from 'node:path';
import { ofSight } from './sight-mutations.ts';

/**
 * Rule that is broken on purpose: the first `from` in `file` becomes `to`. The unit test `test` must notice it, or
 * without one the simulation.
 */
export type Mutation = { rule: string; file: string; from: string; to: string; test?: string };

/** Rules of watches, by the headings of the design: states, streams, budget, schedule, changes. */
const ofWatches = String.raw`
M of N | holding.ts | >= rule.checks_to_open ? 0 | > rule.checks_to_open ? 0
last N | condition.ts | history.slice(-considered) | history
checks_to_close | condition.ts | >= rule.checks_to_close; | >= rule.checks_to_close - 1;
close_after_seconds | condition.ts | && secondsClear >= rule.close_after_seconds; | ;
first datapoint clears | condition.ts | state.phase === 'unknown' ? 'clear' | state.phase === 'unknown' ? 'unknown'
cooldown | holding.ts | >= rule.cooldown_seconds | >= 0
cooldown across closings | condition.ts | phase, alert: null }; | phase, alert: null, last_opened_at: null };
opening empties the history | condition.ts |
  { ...forget(state), phase: 'open' | { ...state, phase: 'open' | core/workflow/watch-moments.test.ts
snooze | holding.ts | if (isSnoozed(state, shownAt)) return false; | nothing
no reminder if acknowledged | condition.ts | || alert.acknowledged_at !== null) | )
no reminder if unconfirmed | condition.ts | || alert.unconfirmed || | ||
reminders | condition.ts | alert.reminded_at ?? alert.opened_at | alert.opened_at
sight by a skip | condition.ts | seen_at: now.toISOString(), alert } | alert }
unknown without sight | condition.ts | { ...forget(state), phase: 'unknown' } | state
confirming | condition.ts | holding > 0 && holding < | holding > 1 && holding <
only pending questions | questions.ts | !next?.confirming || | true ||
pre-filter bypass | questions.ts | || isPending(condition, rule); | ;
no repeated frame | questions.ts | judgesRepeated: false | judgesRepeated: true
asked alone | questions.ts | >= rules.maxLeftOut | > rules.maxLeftOut | core/workflow/watch-tick.test.ts
new segment | next-tick.ts | nextSegmentAt(outcome) ?? now | now
grid | next-tick.ts | confirmAt < onGrid | confirmAt <= onGrid && false
boundary | next-tick.ts | check.at >= boundary | check.at > boundary && false
grace period | ../../sight/trouble.ts | >= graceSeconds, | > 2 * graceSeconds,
growing waits | ../../sight/trouble.ts | before.captures + 1 | 1
refused password | next-tick.ts | rules.watchRefusedSeconds : | 60 :
lateness of the service | ../../sight/trouble.ts |
  lateSeconds > rules.downtimeSeconds | false | core/job/sight.test.ts
frozen for ten minutes | ../../sight/trouble.ts | ? rules.watchStillSeconds : | ? rules.streamGraceSeconds :
block before calls | budget.ts | reserved: { version, ...need } | reserved: null
crash forfeits | budget.ts | calls: state.calls + calls, micro_usd: state.micro_usd + micro_usd, reserved | reserved
budget | budget.ts | used.calls + need.calls > calls | used.calls > calls
warning | budget.ts | warningShare = 0.8 | warningShare = 0.9
repeated local time | schedule.ts | zone, 'later'); | zone, 'earlier'); | core/policies/watch/schedule.test.ts
gap of the clock | schedule.ts |
  first.getTimeZoneTransition('next')?.epochMilliseconds ?? later.epochMilliseconds |
  later.epochMilliseconds | core/policies/watch/schedule.test.ts
adjacent spans | schedule.ts | span.start <= last.end | span.start < last.end | core/policies/watch/schedule.test.ts
crosses midnight | schedule.ts | to <= from ? | false ? | core/policies/watch/schedule.test.ts
span ends alerts | condition-steps.ts | if (!isActive) return | if (causes.paused) return
order of closings | condition-steps.ts | [...closings, ...told, ...reminders] | [...told, ...closings, ...reminders]
return of a lost stream | condition-steps.ts |
  if (!isNewest || !trouble?.lost) return false; | return false; | core/workflow/watch-loss.test.ts
visits in one scan | condition-steps.ts |
  const mayClose = isByVisit(rule) || isClear || index > lastHeld; |
  const mayClose = isByVisit(rule) || index > lastHeld; | core/workflow/watch-moments.test.ts
a black picture confirms nothing | next-tick.ts |
  if (plan.sight.stream_trouble) | if (false) | core/workflow/black-moments.test.ts
picture after a black one | ../../sight/after-tick.ts |
  if (kind === 'judged' && outcome.captured.black) return rules.forceCheckAfterSkips; |
  nothing | core/workflow/black-moments.test.ts
one id per opening | decide-tick.ts | openings: stored.openings + counts.opened | openings: stored.openings
no reminder if exhausted | condition-steps.ts | causes.budget_exhausted || !remindsNow | !remindsNow
coverage | ../../sight/count-sight.ts |
  const reason = inGap ?? (seen === 'seen' ? null : seen); | const reason = seen === 'seen' ? null : seen;
late ticks are gaps | ../../sight/count-sight.ts | isDown ? 'service' : null | null
time off schedule | ../../sight/after-tick.ts |
  readTime(sign, seen) : 'seen' | readTime(sign, seen) : 'unknown' | core/policies/watch/decide-tick.test.ts
model failure is news | decide-tick.ts | seconds: rules.modelLostSeconds | seconds: 600
changed condition begins | change.ts |
  close(condition, before, 'changed');\n      return sinceNow(initialConditionState(rule.condition_id, now), watch); |
  close(condition, before, 'changed');\n      return condition;
other numbers empty the history | change.ts |
  isOtherQuestion || !hasSameChecks(before, rule) ? forget(asked) : asked | asked
no reminder if snoozed | condition.ts | isSnoozed(state, now) || hasCleared | hasCleared
a skip is no datapoint | condition-steps.ts |
  return withSight(state, later(at, new Date(state.seen_at))); |
  return withVerdict(state, rule, { triggered: false, explanation: '' }, later(at, new Date(state.seen_at)));
statuses in their order | progress.ts |
  if (paused) return 'paused';\n | if (trouble?.lost) return 'stream_lost';\n  if (paused) return 'paused';\n
`;

/** Behavior of the whole service: model, storage, workflow, requests of callers, destinations. */
const ofService = String.raw`
an unsure model gives no verdict | core/tick/ask-model.ts |
  if (triggered === null) return | if (triggered === undefined) return
a doubled id gives no verdict | core/tick/ask-model.ts | if (!verdict || named.length > 1) | if (!verdict)
pause closes alerts | core/policies/watch/change.ts | set, steps, now, 'paused', hours | set, [], now, 'paused', hours
removal closes alerts | core/policies/watch/change.ts | close(condition, before, 'removed'); | void 0;
deletion closes alerts | core/policies/watch/change.ts |
  set, steps, now, 'deleted', hours | set, [], now, 'deleted', hours
acknowledging is an event | core/watch/control-watch.ts | decided ? [decided.event] : [] | []
one transaction per tick | adapters/embedded/runs/run-store.ts |
  await commitInGroup(() => { | await Promise.resolve().then(() => {
a version fences commits | adapters/embedded/runs/run-store.ts |
  stored?.run.version !== change.expectedVersion | stored === undefined
If-Match fences changes | core/watch/edit-watch.ts | ifMatch !== undefined && ifMatch | false && ifMatch
a change begins a generation | core/policies/watch/change.ts |
  set: { ...nextGeneration(watch, null), ...set, state, status } | set: { ...set, state, status }
a missing execution is started | core/workflow/repair.ts |
  if (await renewLease(run, deps)) await executions.start(execution); |
  await renewLease(run, deps); | core/workflow/repair-watches.test.ts
a failed execution is followed by the next | core/workflow/repair.ts |
  else if (mustFail(run)) await startAfterFailure |
  else if (false && mustFail(run)) await startAfterFailure | core/workflow/watch-executions.test.ts
calls are reserved before they are made | core/workflow/analyze.ts |
  if ((await deps.runs.commit(work.reservation)) !== 'committed') return undefined; |
  await deps.runs.commit(work.reservation); | core/workflow/watch-tick.test.ts
coverage is stored | adapters/embedded/runs/run-store.ts | tables.hours.add(runId, addition); | void addition;
progress is kept a day | core/event/stored-run.ts | type === 'progress' ? progressRetentionSeconds : | nothing
alerts expire after their closing | core/watch/stored-watch.ts | expires_at: change.expiresAt | expires_at: null
old motion references are removed | cli/service/maintenance.ts | motionReferences.prune(aDayAgo) | aDayAgo
a newer generation ends the wait of the one before | adapters/embedded/scheduler/tick-loop.ts |
  ['next tick', 'repetition', 'capture'] | ['repetition', 'capture']
events are published before they are marked | core/delivery/publish.ts |
  for (const event of events) await publishEvent |
  await runs.markPublished(id, sequence);\n    for (const event of events) await publishEvent
events of an alert keep their order | core/delivery/deliver.ts |
  message.resend === 0 && target.isOrdered && isHeldBack(target.state, message) | false
a delivered event is not delivered again | core/delivery/deliver.ts |
  delivery.state !== 'pending' || message.resend | message.resend
the result of an attempt is stored | core/delivery/deliver.ts |
  await deps.deliveries.put(attempted, attemptedAt); | nothing
failed attempts are repeated | core/delivery/deliver.ts | if (next === null) { | if (attempted !== null) {
nothing is sent that cannot be stored | adapters/embedded/queue/delivery-queue.ts |
  options.messages.postpone(position, options.now().getTime() + backoffMs(failures), failures + 1);\n |
  nothing | adapters/embedded/queue/delivery-queue.test.ts
severities are filtered | core/delivery/receivers.ts | severities.indexOf(severity) >= | 9 >=
a deleted watch is purged | core/workflow/repair.ts | await deps.runs.purge(run.run_id); | void deps;
nothing is stored of a full disk | adapters/embedded/sqlite/transaction.ts |
  rollBack(database);\n | database.exec('COMMIT');\n
`;

/** Rules of jobs. */
const ofJobs = String.raw`
jobs are read on their clock | core/job/present-job.ts |
  const job = onClock(stored, now, mapJobTimes) | const job = stored | simulation/virtual-jobs.test.ts
jobs end on their clock | core/job/end-job.ts |
  const job = onClock(stored, now, mapJobTimes) | const job = stored | simulation/virtual-jobs.test.ts
last windows end on their clock | core/job/end-job.ts |
  const running = onClock(stored, endedAt, mapJobTimes) | const running = stored | simulation/virtual-jobs.test.ts
watches change on their clock | core/watch/commit-watch.ts |
  onClock(await requireOwnWatch(watchId, caller, deps), deps.now(), mapWatchTimes) |
  await requireOwnWatch(watchId, caller, deps) | core/workflow/watch-clock.test.ts
lateness of the model of a digest | core/policies/job/record-outcome.ts |
  ageSeconds(job.next.wait_until, at) | 0 | core/policies/digest/decide-tick.test.ts
grace period of a job | core/policies/job/outcome.ts |
  >= rules.streamGraceSeconds | >= rules.streamGraceSeconds / 2 | simulation/virtual-jobs.test.ts
`;

export const mutations: readonly Mutation[] = [
  ...[ofWatches, ofSight].flatMap((rows) => readRows(rows, 'core/policies/watch')),
  ...[ofService, ofJobs].flatMap((rows) => readRows(rows)),
];

/**
 * Reads rows of a rule, its file in the folder, what becomes what (or nothing), and a test. An indented line continues
 * its row.
 */
function readRows(rows: string, folder = ''): Mutation[] {
  return rows
    .trim()
    .split(/\n(?! )/)
    .map((row) => {
      const cells = row
        .split(/ \|\s+/)
        .map((cell) => (cell === 'nothing' ? '' : cell.replaceAll('\\n', '\n')));
      const [rule = '', file = '', from = '', to = '', test] = cells;
      return { rule, file: posix.join(folder, file), from, to, ...(test && { test: `test/${test}` }) };
    });
}
