import { framePictures } from '../../../adapters/media/scan/frame-pictures.ts';
import { play } from '../../../cli/replay/play.ts';
import { isWatch } from '../../../core/records/run.ts';
import { Random } from '../../simulation/random.ts';
import { VisitedCamera, type StreamKind } from '../../simulation/visited-camera.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';
import { createWorld } from '../../support/world.ts';

const tokens = { input_tokens: 1000, output_tokens: 50 };

/**
 * Watches a film of visits live, with a store: things with an odd number are vans, and the condition of the watch is
 * about visitors, vans or not.
 */
export async function watchFilm(
  seed: number,
  {
    kind = { keyFrameMs: 2000, segmentMs: 0 },
    hours = 0.4,
    fields = {},
    gone,
  }: { kind?: StreamKind; hours?: number; fields?: object; gone?: [number, number] } = {},
) {
  const world = createWorld();
  const random = new Random(seed);
  const begin = world.clock.now.getTime();
  const camera = new VisitedCamera(kind, begin - 3_600_000);
  const call = await createHttpCaller(world);
  const calls: string[] = [];
  const vision = scriptedModel({
    judge: judgingEach(async ({ frame }, condition) => {
      calls.push(condition);
      const holds = camera.judge(frame, world.clock.now.getTime());
      const things: number[] = JSON.parse(Buffer.from(frame).toString());
      const triggered = condition.includes('van') ? holds && things.some((thing) => thing % 2 === 1) : holds;
      return { triggered, explanation: condition, tokens };
    }),
  });
  const capture = async (request: Parameters<VisitedCamera['capture']>[0]) =>
    camera.capture(request, world.clock.now.getTime());
  Object.assign(world.c, { vision, compareMotion: camera.compare });
  world.c.streams.capture = capture;
  for (let at = begin + 60_000; at < begin + hours * 3_600_000; at += random.integer(40_000, 200_000)) {
    const seconds = random.pick([6, 12, 20, 40, 90]);
    camera.visits.push({ from: at, to: at + seconds * 1000, share: 0.3, isOther: random.chance(0.2) });
    at += seconds * 1000;
  }
  const [from, to] = (gone ?? []).map((seconds) => begin + seconds * 1000);
  if (from !== undefined && to !== undefined) camera.troubles.push({ kind: 'gone', from, to });
  const condition = { condition: 'Somebody is there', condition_id: 'visitor' };
  const stream = 'https://camera.example/live.m3u8';
  const request = { name: 'Gate', stream_url: stream, conditions: [condition], memory_days: 3, ...fields };
  const { watch_id: watchId } = (await call('POST', '/watches', request)).body;
  const end = begin + hours * 3_600_000;
  let step = await world.begin({ run_id: watchId, generation: 0 });
  for (let generation = 0; ;) {
    while (!step.done && Date.parse(step.wait_until) < end) step = await world.tick(step);
    if (!step.done) break;
    generation += 1;
    step = await world.begin({ run_id: watchId, generation });
  }
  world.clock.now = new Date(end);
  const live = (
    await world.c.watches.alerts({ caller: 'harbour', limit: 500 }, world.clock.now)
  ).toReversed();
  calls.length = 0;
  return {
    world,
    call,
    camera,
    watchId,
    live: live.map(({ opened_at, closed }) => ({ opened_at, closed_at: closed?.at ?? null })),
    calls,
    /** Requests a backtest to its end. */
    backtest: async (body: object = {}) => {
      const alerts: { opened_at: string; closed_at: string | null; moments: unknown[] }[] = [];
      const possible: { opened_at: string }[] = [];
      for (let cursor: string | undefined, requests = 1; ; requests += 1) {
        const { status, body: result } = await call('POST', `/watches/${watchId}/backtest`, {
          ...body,
          cursor,
        });
        if (status !== 200) throw new Error(JSON.stringify(result));
        alerts.push(...result.alerts);
        possible.push(...result.possible);
        if (result.next_cursor === null || result.stopped === 'calls')
          return { alerts, possible, result, requests };
        cursor = result.next_cursor;
      }
    },
    /** Plays the same film as a recording. */
    replay: async () => {
      const run = await world.c.runs.get(watchId, world.clock.now);
      if (!run || !isWatch(run)) throw new Error('No watch');
      const clock = { now: new Date(begin) };
      const played = await play(
        { ...run, config: { ...run.config, memory_days: 0 } },
        {
          streams: {
            probe: async (url) => ({ platform: 'hls', playbackUrl: url }),
            capture: async (asked) => camera.capture(asked, clock.now.getTime()),
            ...framePictures,
          },
          vision,
          compareMotion: camera.compare,
          clock,
          nextRecorded: (seconds) => (seconds < hours * 3600 ? seconds : undefined),
          newId: () => 'id',
          limits: { captureTimeoutSeconds: 30, visionTimeoutSeconds: 30 },
          onCheck: async () => undefined,
          onProgress: () => undefined,
        },
        new AbortController().signal,
      );
      const toTime = (seconds: number) => new Date(begin + seconds * 1000).toISOString();
      return played.alerts.map(({ opened_seconds: opened, closed_seconds: closed }) => ({
        opened_at: toTime(opened),
        closed_at: closed === null ? null : toTime(closed),
      }));
    },
  };
}
