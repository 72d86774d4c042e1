import type { InputMode } from '../../core/records/capture.ts';
import type { RaceSource, Result } from './race.ts';

/** Results of a race on one stream in one mode. */
export type Raced = {
  source: RaceSource;
  delayMs: number;
  mode: InputMode;
  results: Record<'watchpost' | 'default' | 'best', Result>;
};

/** Measured value and goal of a race. */
export type GoalLine = { stream: string; mode: InputMode; what: string; measured: number; goal: number };

const clipSeconds = 3;

/** Returns the goals that apply to a race. */
export function compareWithGoals({ source, delayMs, mode, results }: Raced): GoalLine[] {
  const { watchpost, best } = results;
  const line = (what: string, measured: number, goal: number): GoalLine => ({
    stream: source.name,
    mode,
    what,
    measured,
    goal,
  });
  const isHlsClip = mode !== 'frames' && source.kind === 'hls';
  const wall = watchpost.wallMs / best.wallMs;
  return [
    ...(mode === 'frames' ? [line('wall time / best flags', wall, frameGoal(source, delayMs))] : []),
    ...(mode === 'frames' && source.kind === 'hls'
      ? [
          line(
            'age beyond the live edge, worst, s',
            watchpost.worstBehindSeconds,
            source.segmentSeconds + 0.5,
          ),
        ]
      : []),
    ...(isHlsClip ? [line('wall time / real time', watchpost.wallMs / 1000 / clipSeconds, 0.2)] : []),
    line('processor time / best flags', watchpost.cpuMs / best.cpuMs, isHlsClip ? 1.1 : 1.2),
    line('overhead, ms', watchpost.overheadMs, 300),
  ];
}

function frameGoal({ kind }: RaceSource, delayMs: number): number {
  if (kind === 'rtsp') return 1.1;
  return delayMs === 0 ? 0.8 : 0.7;
}
