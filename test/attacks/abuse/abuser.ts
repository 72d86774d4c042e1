import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Number of responses by status; 0 for connections that ended without one. */
export type Statuses = Record<number, number>;

type Service = { baseUrl: string; apiKey: string };

/** Abusive actions of one key; each returns the responses by status. */
export function createAbuser({ baseUrl, apiKey }: Service) {
  const origin = new URL(baseUrl).origin;
  return { batches, creations, slowBodies, resends, keyChurn };

  /** MCP batches of 100 calls that start jobs, and the same calls one by one. */
  async function batches(streamUrl: string): Promise<Statuses> {
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'live_monitor', arguments: { stream_url: `${streamUrl}?${id}`, condition: 'a ship' } },
    });
    const bodies = [
      ...Array.from({ length: 5 }, () => Array.from({ length: 100 }, (_, id) => call(id))),
      ...Array.from({ length: 100 }, (_, id) => call(id)),
    ];
    return tally(bodies.length, 50, (index) => post(`${origin}/mcp`, bodies[index]));
  }

  async function creations(count: number, streamUrl: string): Promise<Statuses> {
    return tally(count, 200, (index) =>
      post(`${baseUrl}/live-monitor`, { stream_url: `${streamUrl}?${index}`, condition: 'a ship' }),
    );
  }

  /** Bodies that hold back their last byte, over connections of their own. */
  async function slowBodies(count: number, bytes: number): Promise<Statuses> {
    const url = new URL(baseUrl);
    const body = Buffer.alloc(bytes - 1, 'x');
    return tally(count, count, async () => {
      const socket = connect(Number(url.port), url.hostname);
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1'))).on('error', () => undefined);
      const ended = new Promise((resolve) => socket.on('close', resolve));
      await once(socket, 'connect');
      socket.write(
        [
          `POST ${url.pathname}/analyze-frame HTTP/1.1`,
          `Host: ${url.host}`,
          `Authorization: Bearer ${apiKey}`,
          'Content-Type: application/json',
          `Content-Length: ${bytes}`,
          '',
          '',
        ].join('\r\n'),
      );
      socket.write(body);
      await Promise.race([ended, sleep(20_000, undefined, { ref: false })]);
      socket.destroy();
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
    });
  }

  async function resends(count: number, jobId: string): Promise<Statuses> {
    return tally(count, 5, () => post(`${baseUrl}/jobs/${jobId}/deliveries/1/resend`));
  }

  /** Makes keys and revokes them. Limits on that are answers as good as any. */
  async function keyChurn(count: number): Promise<Statuses> {
    return tally(count, 10, async () => {
      const response = await send('POST', `${baseUrl}/keys`, {});
      const made = (await response?.json().catch(() => ({}))) as { key_id?: string } | undefined;
      if (made?.key_id !== undefined) await send('DELETE', `${baseUrl}/keys/${made.key_id}`);
      return response?.status ?? 0;
    });
  }

  async function post(url: string, body?: object): Promise<number> {
    return (await send('POST', url, body))?.status ?? 0;
  }

  async function send(method: string, url: string, body?: object): Promise<Response | undefined> {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    // Read to its end, so that the connection is used again.
    if (url.endsWith('/keys')) return response;
    await response?.arrayBuffer().catch(() => undefined);
    return response;
  }
}

async function tally(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<number>,
): Promise<Statuses> {
  const statuses: Statuses = {};
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const status = await work((next += 1) - 1);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  return statuses;
}
