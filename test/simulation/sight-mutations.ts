export type Row = [rule: string, file: string, from: string, to: string, test?: string];

/** Rules of what a watch is sure to have seen, by file of its policy. */
export const ofSight: Row[] = [
  [
    'grid with a phase',
    'next-tick.ts',
    'phase === null ? new Date(createdAt) : new Date(phase)',
    'now',
    'core/policies/watch/decide-tick.test.ts',
  ],
  ['begin of a span', 'next-tick.ts', "watch.status === 'off_schedule'", 'false'],
  [
    'last scan of a span',
    'next-tick.ts',
    '!check || !scansAtEnd(watch, sight)',
    'true',
    'core/workflow/watch-span-end.test.ts',
  ],
  [
    'part of a failed scan',
    'next-tick.ts',
    '!isRescan && answers.some(isFailed)',
    'false',
    'core/workflow/watch-rescan.test.ts',
  ],
  [
    'moments of a repeated scan',
    'datapoints.ts',
    '!(rescans && hasCounted(moment.at))',
    'true',
    'core/workflow/watch-rescan.test.ts',
  ],
  [
    'sure visit in other motion',
    '../../sight/choose-moments.ts',
    'coverLongVisit(scanned, newest.at.getTime(), chooseOfVisits(frames, newest))',
    'chooseOfVisits(frames, newest)',
    'core/sight/shortest-visit.test.ts',
  ],
  [
    'quiet has no motion',
    'outcome.ts',
    '!moved && moments.length === 0 && !scan?.leaves_motion',
    'moments.length === 0',
    'core/watch/claims.test.ts',
  ],
  [
    'judged is judged whole',
    'outcome.ts',
    'judged.every(Boolean) && ',
    '',
    'core/workflow/watch-seen.test.ts',
  ],
  [
    'time between pictures',
    '../../sight/spans.ts',
    'Math.max(look.scannedSeconds, seconds)',
    '100_000',
    'core/sight/spans.test.ts',
  ],
  [
    'heartbeat in a gap',
    'health.ts',
    'sight.in_gap === null &&',
    '',
    'core/delivery/deliver-to-destinations.test.ts',
  ],
  [
    'state ages when it is read',
    '../../watch/present-watch.ts',
    'afterTimeWithoutSight(condition, intervalSeconds, now)',
    'condition',
    'core/watch/claims.test.ts',
  ],
  ['sight without a verdict', 'condition.ts', 'if (state.unjudged > 0) return state;', ''],
  ['budget is a gap', 'decide-tick.ts', 'exhausted && inGap === null', 'false'],
];
