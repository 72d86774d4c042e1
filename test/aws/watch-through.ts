import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../client/index.ts';
import { startReceiver } from '../support/servers/receiver.ts';

/**
 * Runs one monitor from POST to `job_stopped` through HTTP API, Step Functions, functions, DynamoDB, SQS, a receiver,
 * an event bus and an event stream. Returns a report; throws if an event is missing or out of order.
 */
export async function watchThrough(
  baseUrl: string,
  apiKey: string,
  streamUrl: string,
  readBus: (jobId: string, count: number) => Promise<string[]>,
): Promise<string> {
  const watchpost = createClient({ baseUrl, apiKey });
  const { secret } = await watchpost.getWebhookSecret();
  const receiver = await startReceiver(
    () => secret,
    (_, type, before) => (type === 'watch_triggered' && before === 0 ? 503 : 204),
  );
  try {
    const { job_id } = await watchpost.startMonitor({
      stream_url: streamUrl,
      condition: 'The picture is not black',
      webhook_url: `${receiver.url}/alerts`,
      interval_seconds: 5,
      input_mode: 'frames',
      max_triggers: 2,
    });
    const followed: string[] = [];
    for await (const event of watchpost.follow(job_id)) followed.push(event.type);

    for (let waited = 0; waited < 120; waited += 1) {
      if (receiver.received.filter(({ status }) => status === 204).length === 4) break;
      await sleep(500);
    }
    // An event that was refused retries alone, so that later ones may arrive first.
    const arrived = receiver.received
      .filter(({ status }) => status === 204)
      .toSorted((one, other) => one.data.sequence - other.data.sequence);
    assert.ok(
      arrived.every(({ verified }) => verified),
      'a signature does not verify',
    );
    const expected = ['job_started', 'watch_triggered', 'watch_triggered', 'job_stopped'];
    assert.deepEqual(
      arrived.map(({ type }) => type),
      expected,
    );
    assert.deepEqual(
      followed.filter((type) => type !== 'progress'),
      expected,
    );
    const refused = receiver.received.filter(({ status }) => status === 503);
    assert.equal(refused.length, 2, 'each alert was refused once');
    assert.ok(refused.every(({ id }) => arrived.some((event) => event.id === id)));
    assert.deepEqual(await readBus(job_id, expected.length), expected, 'the event bus has other events');
    const { status, stats } = await watchpost.getJob(job_id);
    assert.equal(status, 'completed');
    assert.equal(stats.reason, 'max_triggers_reached');
    const sequence = arrived[1]?.data.sequence;
    const picture = await watchpost.picture(job_id, sequence);
    assert.equal(Buffer.from(picture.subarray(0, 2)).toString('hex'), 'ffd8');
    return `${followed.length} events by SSE, ${arrived.length} webhooks, two of them after a failed attempt, the same events on the event bus; evidence of ${picture.length} bytes`;
  } finally {
    receiver.close();
  }
}
