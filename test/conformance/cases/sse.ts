import type { EventStream } from '../api.ts';
import type { Case, Target } from '../case.ts';
import { assert, shaped } from '../expect.ts';
import { cancel, createMonitor, isTerminal, monitorBody, readJob, untilEnded } from '../jobs.ts';
import { stoppedData, triggeredData } from '../shapes.ts';
import type { SseEvent } from '../sse.ts';

/** Cases of server-sent events of monitors (section 6.2). */

export const sseCases: Case[] = [
  {
    id: 'sse-flow',
    title: 'a monitor in SSE mode streams started, progress, triggered and stopped, and then closes',
    covers: ['I-1.15', 'I-4.2.11', 'I-6.2.1', 'I-6.2.3', 'I-6.3.1', 'I-6.3.2', 'I-6.3.4', 'I-3.5', 'I-4.0.2'],
    needs: ['stream'],
    slots: 1,
    seconds: 12,
    run: async (target) => {
      const stream = await open(target, { condition: target.conditions.holds });
      assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
      const events = await readAll(stream);
      assert.match(
        stream.headers.get('content-location') ?? '',
        new RegExp(`^https?://.+/jobs/${findJob(target)}/events$`),
      );
      const names = events.map(({ event }) => event);
      assert.deepEqual(
        names.filter((name) => name !== 'progress'),
        ['started', 'triggered', 'stopped'],
      );
      assert.ok(names.includes('progress'), names.join());
      assert.equal(names.at(-1), 'stopped');
    },
  },
  {
    id: 'sse-data',
    title: 'each SSE event has its sequence as id and the webhook envelope as data',
    covers: ['I-6.2.5', 'I-6.1.7', 'I-6.1.8'],
    needs: ['stream', 'decisions'],
    slots: 1,
    seconds: 12,
    run: async (target) => {
      const events = await readAll(await open(target, { condition: target.conditions.holds }));
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map((_, at) => String(at + 1)),
      );
      const kinds: Record<string, string> = {
        started: 'job_started',
        progress: 'progress',
        triggered: 'watch_triggered',
        stopped: 'job_stopped',
      };
      for (const { event, id, data } of events) {
        assert.deepEqual(Object.keys(data).toSorted(), ['data', 'source_url', 'timestamp', 'type']);
        assert.deepEqual([data.type, String(data.data.sequence)], [kinds[event], id]);
      }
      const toData = (name: string) => events.find(({ event }) => event === name)?.data.data;
      shaped(triggeredData, toData('triggered'), 'data of triggered');
      shaped(stoppedData, toData('stopped'), 'data of stopped');
      assert.equal(typeof toData('progress').explanation, 'string');
    },
  },
  {
    id: 'sse-triggered-goes-on',
    title: 'triggered is not terminal: with max_triggers 2, a second one and stopped follow',
    covers: ['I-6.2.4', 'I-6.2.3', 'I-3.6'],
    needs: ['stream'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const fields = {
        condition: target.conditions.holds,
        max_triggers: 2,
        enable_prefilter: false,
      };
      const events = await readAll(await open(target, fields));
      assert.deepEqual(
        events.map(({ event }) => event).filter((name) => name !== 'progress'),
        ['started', 'triggered', 'triggered', 'stopped'],
      );
    },
  },
  {
    id: 'sse-cancelled',
    title: 'the event stream of a cancelled job ends with stopped',
    covers: ['I-6.2.3', 'I-6.3.4', 'I-3.9'],
    needs: ['stream'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const names: string[] = [];
      for await (const event of (await open(target)).events()) {
        names.push(event.event);
        if (event.event === 'started') await cancel(target.api, findJob(target));
      }
      assert.deepEqual([names[0], names.at(-1)], ['started', 'stopped']);
      const { status, stats } = await readJob(target.api, findJob(target));
      assert.deepEqual([status, stats?.reason], ['stopped', 'cancelled']);
    },
  },
  {
    id: 'sse-reader-leaves',
    title:
      'a reader that disconnects does not stop the job, and resumes with Last-Event-ID after its last event',
    covers: ['I-6.2.5', 'I-6.2.3'],
    needs: ['stream', 'decisions'],
    slots: 1,
    seconds: 20,
    run: async (target) => {
      const left = await readUntil(
        await open(target, { monitor_duration_seconds: 12, enable_prefilter: false }),
        'progress',
      );
      const jobId = findJob(target);
      assert.ok(!isTerminal((await readJob(target.api, jobId)).status), 'the job ended');
      const headers = { 'last-event-id': left.at(-1)?.id ?? '' };
      const resumed = await readAll(await target.api.open(`/jobs/${jobId}/events`, undefined, headers));
      const ids = [...left, ...resumed].map(({ id }) => Number(id));
      assert.deepEqual(
        ids,
        ids.map((_, at) => at + 1),
      );
      assert.equal(resumed.at(-1)?.event, 'stopped');
    },
  },
  {
    id: 'sse-of-any-job',
    title: 'the event log of a job in polling mode has the same events as JSON and as SSE',
    covers: ['I-6.2.5', 'I-1.15'],
    needs: ['stream', 'decisions'],
    slots: 1,
    seconds: 12,
    run: async (target) => {
      const jobId = await createMonitor(target, { condition: target.conditions.holds });
      await untilEnded(target.api, jobId, 60);
      const events = await readAll(await target.api.open(`/jobs/${jobId}/events`, undefined));
      const { body } = await target.api.call('GET', `/jobs/${jobId}/events?limit=1000`);
      assert.deepEqual(
        events.map(({ data }) => [data.type, data.timestamp, data.data.sequence]),
        body.events.map((event: any) => [event.type, event.timestamp, event.data.sequence]),
      );
    },
  },
  {
    id: 'stream-lost',
    title:
      'a lost stream fails its job: error ends the SSE session, and webhooks receive error and job_stopped',
    covers: ['I-3.10', 'I-6.1.9', 'I-6.2.1', 'I-6.2.3', 'I-6.3.5', 'I-2.1.2'],
    needs: ['own streams', 'receiver'],
    slots: 2,
    seconds: 80,
    run: async (target) => {
      const mortal = await target.streams.startMortal();
      try {
        const inbox = target.receiver.open();
        const fields = { stream_url: mortal.url, webhook_url: inbox.url };
        const jobId = await createMonitor(target, fields);
        const stream = await open(target, { stream_url: mortal.url });
        const reading = readAll(stream);
        await inbox.until(([first]) => first?.body?.type === 'job_started', 30);
        await mortal.close();
        const events = await reading;
        assert.equal(events.at(-1)?.event, 'error');
        assert.equal(events.filter(({ event }) => event === 'error').length, 1);
        const { status } = await untilEnded(target.api, jobId, 60);
        assert.equal(status, 'failed');
        await inbox.until((all) => all.at(-1)?.body?.type === 'job_stopped', 30);
        assert.deepEqual(
          inbox.accepted().map(({ type }) => type),
          ['job_started', 'error', 'job_stopped'],
        );
        assert.equal(inbox.accepted().at(-1).data.status, 'failed');
      } finally {
        await mortal.close();
      }
    },
  },
];

async function open(target: Target, fields: Record<string, unknown> = {}): Promise<EventStream> {
  const stream = await target.api.open('/live-monitor', monitorBody(target, fields));
  assert.equal(stream.status, 200);
  return stream;
}

async function readAll(stream: EventStream): Promise<SseEvent[]> {
  const events = [];
  for await (const event of stream.events()) events.push(event);
  return events;
}

/** Reads events up to the first of this name, then disconnects. Throws if the stream ends before. */
async function readUntil(stream: EventStream, name: string): Promise<SseEvent[]> {
  const events = [];
  for await (const event of stream.events()) {
    events.push(event);
    if (event.event === name) return events;
  }
  throw new Error(`The stream ended without ${name}`);
}

/** Returns the only job that the case created. */
function findJob({ api }: Target): string {
  const [jobId] = api.created;
  if (jobId === undefined) throw new Error('No event named its job');
  return jobId;
}
