import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../client/index.ts';

/**
 * Runs one watch until the clip of its alert: `deliver` invokes `capture`, which stores it, and the origin that streams
 * sends it. Returns a report; throws if a part is missing.
 */
export async function clipThrough(baseUrl: string, apiKey: string, streamUrl: string): Promise<string> {
  const watchpost = createClient({ baseUrl, apiKey });
  const { watch_id: id } = await watchpost.createWatch({
    stream_url: streamUrl,
    name: 'Clips',
    interval_seconds: 5,
    conditions: [{ condition: 'The picture is not black', checks_to_open: 1, checks_considered: 1 }],
    evidence_clip: { before_seconds: 4, after_seconds: 4 },
  });
  const read = async (alertId: string) =>
    fetch(`${baseUrl}/alerts/${alertId}/clip`, {
      headers: { authorization: `Bearer ${apiKey}`, range: 'bytes=4-' },
    });
  for (let waited = 0; waited < 90; waited += 1) {
    const [alert] = (await watchpost.listAlerts({ watch_id: id })).alerts;
    if (!alert?.clip) {
      await sleep(1_000);
      continue;
    }
    const { from, to, bytes, reason } = alert.clip;
    assert.equal(reason, null);
    assert.ok(from !== null && bytes !== null);
    assert.ok(Date.parse(from) < Date.parse(alert.opened_at), 'the clip begins after the opening');
    const response = await read(alert.alert_id);
    assert.equal(response.headers.get('content-range'), `bytes 4-${bytes - 1}/${bytes}`);
    const film = Buffer.from(await response.arrayBuffer());
    assert.equal(film.length, bytes - 4);
    assert.equal(film.toString('latin1', 0, 4), 'ftyp');
    await watchpost.deleteWatch(id);
    assert.equal((await read(alert.alert_id)).status, 404, 'a deletion erases the clip');
    return `${bytes} bytes from ${from} to ${to}`;
  }
  throw new Error('The alert has no clip');
}
