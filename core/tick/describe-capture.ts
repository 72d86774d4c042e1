import type { NextTick } from '../records/run-base.ts';
import type { SeenOutcome } from '../sight/after-tick.ts';

/**
 * Returns the fields of `progress` that describe the capture of a tick of any run. A stream that `hasEnded` is no
 * trouble: its job ends.
 */
export function describeCapture(outcome: SeenOutcome, explanation: string, next: NextTick, hasEnded = false) {
  const captured = 'captured' in outcome ? outcome.captured : null;
  return {
    prefilter_skipped: outcome.kind === 'skipped',
    motion: captured ? captured.changed_share : null,
    explanation,
    captured_at: captured ? captured.captured_at : null,
    stream: hasEnded ? ('ok' as const) : toStreamState(outcome),
    picture: readPicture(outcome),
    next_check_at: next.done ? null : next.wait_until,
  };
}

function toStreamState({ kind }: SeenOutcome): 'ok' | 'stale' | 'reconnecting' {
  if (kind === 'stale') return 'stale';
  return kind === 'capture_failed' || kind === 'unavailable' || kind === 'ended' ? 'reconnecting' : 'ok';
}

function readPicture(outcome: SeenOutcome): 'ok' | 'frozen' | 'black' | 'repeated' | null {
  if (outcome.kind === 'stale') return 'repeated';
  if (outcome.kind === 'skipped') return outcome.why === 'no_motion' ? 'ok' : outcome.why;
  if (!('captured' in outcome)) return null;
  return outcome.captured.black ? 'black' : 'ok';
}

export function explainScreening(
  outcome: Extract<SeenOutcome, { kind: 'skipped' | 'stale' | 'capture_failed' | 'unavailable' }>,
): string {
  switch (outcome.kind) {
    case 'skipped':
      return skipExplanations[outcome.why];
    case 'stale':
      return 'The playlist has stopped moving on; its last picture is not judged again.';
    case 'capture_failed':
      return `No picture: ${outcome.message}. ${outcome.remediation}`;
    case 'unavailable':
      return `No picture, which is no fault of the stream: ${outcome.message}. It is tried again.`;
  }
}

export const blackExplanation = 'The picture is black; moments before it are judged.';

export const busyExplanation =
  'The picture was not judged: this machine has more pictures than its model can judge in time.';

const skipExplanations = {
  no_motion: 'Nothing moved since the last picture that the model saw.',
  frozen: 'The picture is frozen; it is not judged again.',
  black: 'The picture is black; there is nothing to judge.',
  repeated: 'The stream has brought no new segment since the last check.',
} as const;
