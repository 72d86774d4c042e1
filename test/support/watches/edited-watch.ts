import { deliver } from '../../../core/delivery/deliver.ts';
import { publishCreations } from '../../../core/delivery/publish.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import type { DestinationResult } from '../../../core/ports/delivery.ts';
import type { DeliveryMessage } from '../../../core/records/delivery.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { createWorld } from '../world.ts';

type Sent = { url: string; type: string; reason: string | undefined };

export const old = 'https://old.example/hook?key=1';
export const other = 'https://new.example/hook?key=2';
export const team = { destination_id: 'team', type: 'webhook' as const, url: old };
export const person = {
  condition: 'a person',
  condition_id: 'person',
  checks_to_open: 1,
  checks_considered: 1,
  checks_to_close: 1,
};
export const duty = { destination_id: 'duty', type: 'webhook' as const, url: 'https://duty.example/hook' };

/** A watch with destinations, whose receivers accept events unless `answer` says otherwise. */
export async function createEditedWatch(
  destinations: object[],
  answer: (sent: Sent) => Partial<DestinationResult> | Promise<Partial<DestinationResult>> = () => ({}),
) {
  const world = createWorld();
  const { c, clock, queuedForDestinations } = world;
  const sent: Sent[] = [];
  const ends: { to: string; subjects: readonly string[] }[] = [];
  const accepted = {
    outcome: 'delivered',
    status: 200,
    latencyMs: 1,
    error: null,
    retryAfter: null,
  } as const;
  c.destinations.send = async ({ url = 'pagerduty' }, { event: { type, data } }) => {
    const reason = 'reason' in data ? (data.reason ?? undefined) : undefined;
    const each = { url, type, reason };
    sent.push(each);
    return { ...accepted, ...(await answer(each)) };
  };
  c.destinations.end = async ({ url = 'pagerduty' }, { subjects }) => {
    ends.push({ to: url, subjects });
    return null;
  };
  c.watches = publishCreations(c.watches, c.runs, c);
  const request = {
    name: 'Gate',
    stream_url: 'https://camera.example/live.m3u8',
    conditions: [person],
    destinations,
  };
  const watch = await createWatch(watchRequestSchema.parse(request), 'alice', c);
  const { run_id: watchId } = watch;
  let step: WorkflowState = await world.begin({ run_id: watchId, generation: 0 });
  const waiting: { message: DeliveryMessage; due: number }[] = [];
  const tick = async (verdict: boolean) => {
    world.script.verdicts.push(verdict);
    step = await world.tick(step);
  };
  return {
    c,
    ends,
    logged: world.logged,
    watchId,
    take: () =>
      sent.splice(0).map(({ url, type, reason }) => [url, type, ...(reason ? [reason] : [])].join(' ')),
    tick,
    /** Ticks without the stream, until it is lost. */
    lose: async () => {
      world.script.captures.push(...Array.from({ length: 8 }, () => new StreamFetchError('no connection')));
      for (let failed = 0; failed < 8; failed += 1) await tick(false);
    },
    /** Delivers what is due within some seconds. */
    pass: async (seconds: number) => {
      const until = clock.now.getTime() + seconds * 1000;
      for (;;) {
        waiting.push(
          ...queuedForDestinations.splice(0).map((message) => ({ message, due: clock.now.getTime() })),
        );
        const [next] = waiting.toSorted((one, another) => one.due - another.due);
        if (!next || next.due > until) break;
        waiting.splice(waiting.indexOf(next), 1);
        clock.now = new Date(Math.max(clock.now.getTime(), next.due));
        const outcome = await deliver(next.message, c);
        if (outcome.kind === 'again')
          waiting.push({ ...next, due: clock.now.getTime() + 1000 * outcome.afterSeconds });
      }
      clock.now = new Date(until);
    },
    edit: async (fields: object) => {
      const patch = watchPatchSchema.parse(fields);
      const validate = (merged: unknown) => watchRequestSchema.parse(merged);
      const edited = await editWatch({ watchId, patch, ifMatch: undefined }, 'alice', c, validate);
      step = await world.begin({ run_id: watchId, generation: edited.generation });
      return edited.former;
    },
    openAlert: async () => {
      const stored = await c.watches.getIncludingEnded(watchId);
      return stored!.state.conditions[0]!.alert!.alert_id;
    },
    states: async () => c.deliveries.states({ run: 'watch', run_id: watchId }),
    /** Everything that is stored of addresses. */
    stored: async () => {
      const stored = await c.watches.getIncludingEnded(watchId);
      return JSON.stringify([stored, await c.watches.secrets(watchId)]);
    },
  };
}

export const pager = { destination_id: 'pager', type: 'pagerduty' as const, routing_key: 'R'.repeat(32) };
export const down = { status: 503, outcome: 'retry' } as const;
