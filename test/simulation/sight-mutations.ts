/** Rules of what a watch is sure to have seen, and for how long, by file of its policy: rows of `mutations.ts`. */
export const ofSight = String.raw`
picture of a capture under way | ../../sight/moment-time.ts |
  earlier(ownTime, end) | earlier(ownTime, beganAt) | simulation/each-visit.test.ts
time not seen does not count | holding.ts | rule.open_after_seconds + holding.unseen_seconds | rule.open_after_seconds
an alert is not seen in a gap | holding.ts |
  if (isGap && alert) | if (false && alert) | core/workflow/watch-seen.test.ts
M of N begin the time | holding.ts | rule.checks_to_open; | rule.checks_to_open + 1;
denials end the time | holding.ts | denied < rule.checks_to_close | denied <= rule.checks_to_close
denials in a row | holding.ts | holds ? 0 : holding.denied + 1 | holding.denied + (holds ? 0 : 1)
the time restarts | holding.ts | seconds > rules.maxUnseenHoldSeconds | false
the time begins after a blind one | holding.ts |
  if (!holding) return { ...state, unseen_until: shownAt.toISOString() }; |
  if (!holding) return state; | core/workflow/watch-holding.test.ts
an end forgets the time | condition.ts | holding: __, | nothing
judged when it is due | questions.ts | || awaitsOpening(condition, rule, newestAt) | nothing
checked when it is due | next-tick.ts | plan.secondsToOpening === null | true
grid with a phase | next-tick.ts |
  phase === null ? new Date(createdAt) : new Date(phase) | now | core/policies/watch/decide-tick.test.ts
begin of a span | next-tick.ts | watch.status === 'off_schedule' | false
last scan of a span | next-tick.ts | !check || !scansAtEnd(watch, sight) | true | core/workflow/watch-span-end.test.ts
part of a failed scan | next-tick.ts |
  !isRescan && answers.some(isFailed) | false | core/workflow/watch-rescan.test.ts
moments of a repeated scan | datapoints.ts |
  !(rescans && hasCounted(moment.at)) | true | core/workflow/watch-rescan.test.ts
sure visit in other motion | ../../sight/choose-moments.ts |
  coverLongVisit(scanned, newest.at.getTime(), chooseOfVisits(frames, newest)) |
  chooseOfVisits(frames, newest) | core/sight/shortest-visit.test.ts
quiet has no motion | outcome.ts |
  !moved && moments.length === 0 && !scan?.leaves_motion | moments.length === 0 | core/watch/claims.test.ts
judged is judged whole | outcome.ts | judged.every(Boolean) && | nothing | core/workflow/watch-seen.test.ts
time between pictures | ../../sight/spans.ts |
  Math.max(look.scannedSeconds, seconds) | 100_000 | core/sight/spans.test.ts
heartbeat in a gap | health.ts | sight.in_gap === null && | nothing | core/delivery/deliver-to-destinations.test.ts
state ages when it is read | ../../watch/present-watch.ts |
  afterTimeWithoutSight(condition, intervalSeconds, now) | condition | core/watch/claims.test.ts
sight without a verdict | condition.ts |
  if (state.unjudged > 0) return state; | nothing | core/policies/watch/decide-tick.test.ts
left-out time beside a confirming check | ../../sight/after-tick.ts |
  isShort ? (before?.left_out_seconds ?? 0) : 0 | 0 | core/workflow/left-out-time.test.ts
changed text | datapoints.ts |
  answer?.condition === condition ? answer : undefined | answer | core/workflow/watch-tick.test.ts
budget is a gap | decide-tick.ts | exhausted && inGap === null | false
another view stands | health.ts |
  && isOver(since, rules.otherViewSeconds, now) | nothing | core/policies/watch/changed-view.test.ts
another view has several pictures | health.ts |
  pictures + 1 >= rules.otherViewPictures && | nothing | core/policies/watch/changed-view.test.ts
a view comes back | health.ts |
  view: { ...before, other: null },\n      ... | view: before,\n      ... | core/policies/watch/changed-view.test.ts
one message of unsure sightings a week | health.ts |
  && !isOver(before.since, rules.unsureSeconds, now) | nothing | core/policies/watch/unsure-week.test.ts
`;
