import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Skipped, type Case, type Target } from '../case.ts';
import { assert, excerpt, refused, shaped } from '../expect.ts';
import { errorEnvelope, validationError } from '../shapes.ts';

/** Cases of JSON, HTTP, the tool protocol, the OpenAPI document and sizes (sections 0, 4.11, 7, 8, 9). */

export const httpCases: Case[] = [
  {
    id: 'http-json-answers',
    title: 'responses and errors are JSON',
    covers: ['I-0.2', 'I-0.1'],
    run: async ({ api }) => {
      for (const path of ['/jobs', '/jobs/nonsense', '/metrics']) {
        const { headers } = await api.call('GET', path);
        assert.match(headers.get('content-type') ?? '', /^application\/json/, path);
      }
    },
  },
  {
    id: 'http-broken-body',
    title: 'a body that is not a JSON object returns 422',
    covers: ['I-0.2', 'I-7.9', 'I-2.9.1'],
    run: async ({ api }) => {
      for (const text of ['{', '{"stream_url":', '[]', '"text"', '1', 'null', '{"a":1}}']) {
        const answer = await api.call('POST', '/live-monitor', undefined, { text });
        assert.equal(answer.status, 422, `${text}: ${answer.status}`);
        shaped(validationError, answer.body, text);
      }
    },
  },
  {
    id: 'http-content-type',
    title: 'a body of another content type returns 422',
    covers: ['I-0.2'],
    needs: ['decisions'],
    run: async ({ api }) => {
      const body = { stream_url: 'javascript:x', condition: 'x' };
      const headers = { 'content-type': 'text/plain' };
      const { status } = await api.call('POST', '/live-monitor', body, { headers });
      assert.equal(status, 422);
    },
  },
  {
    id: 'http-malformed',
    title: 'a malformed HTTP request returns 400 as text or JSON, and the service continues',
    covers: ['I-7.13', 'I-4.7.3'],
    run: async ({ api }) => {
      const status = await readStatus(api.baseUrl, 'GET /jobs HTTP/1.1\r\nHost: x\r\nBro ken: \0\r\n\r\n');
      assert.equal(status, 400);
      assert.equal((await api.call('GET', '/jobs')).status, 200);
    },
  },
  {
    id: 'http-unknown-route',
    title: 'an unknown path returns 404, and an unknown method an error, with the error envelope',
    covers: ['I-2.8.1', 'I-7.1'],
    needs: ['decisions'],
    run: async ({ api }) => {
      refused(await api.call('GET', '/nothing'), { status: 404, code: 'NOT_FOUND' }, 'GET /nothing');
      const answer = await api.call('PUT', '/live-monitor', {});
      assert.ok([404, 405].includes(answer.status), `PUT: ${answer.status}`);
      shaped(errorEnvelope, answer.body, 'PUT /live-monitor');
    },
  },
  {
    id: 'http-large-body',
    title: 'a body of more than 5 MB returns 413 with the error envelope',
    covers: ['I-8.17'],
    needs: ['decisions'],
    run: async ({ api }) => {
      const body = { frame_b64: 'A'.repeat(5_100_000), question: 'x' };
      const answer = await api.call('POST', '/analyze-frame', body);
      refused(answer, { status: 413, code: 'PAYLOAD_TOO_LARGE' }, 'POST /analyze-frame');
    },
  },
  {
    id: 'mcp-exists',
    title: 'the host serves an MCP endpoint at /mcp',
    covers: ['I-4.11.1'],
    run: async (target) => {
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'conformance', version: '1' },
        },
      };
      const response = await fetch(hostUrl(target, '/mcp'), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${target.api.key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(initialize),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      assert.equal(response.status, 200, excerpt(text));
      assert.match(text, /"serverInfo"/);
    },
  },
  {
    id: 'mcp-needs-key',
    title: 'the MCP endpoint requires the same keys',
    covers: ['I-4.11.1'],
    needs: ['decisions'],
    run: async (target) => {
      const response = await fetch(hostUrl(target, '/mcp'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        signal: AbortSignal.timeout(30_000),
      });
      assert.equal(response.status, 401);
    },
  },
  {
    id: 'version',
    title: 'the OpenAPI document has version 1.0.0, and its paths have none',
    covers: ['I-9.1', 'I-9.2'],
    run: async (target) => {
      const response = await fetch(hostUrl(target, '/openapi.json'), { signal: AbortSignal.timeout(30_000) });
      if (response.status === 404) throw new Skipped('The service publishes no /openapi.json');
      const { info, paths } = (await response.json()) as any;
      assert.equal(info.version, '1.0.0');
      const versioned = Object.keys(paths).filter((path) => /\/v\d/.test(path));
      assert.deepEqual(versioned, []);
    },
  },
];

function hostUrl({ api }: Target, path: string): URL {
  return new URL(path, api.baseUrl);
}

/** Sends raw bytes and returns the status of the response. */
async function readStatus(baseUrl: string, bytes: string): Promise<number> {
  const { protocol, hostname, port } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port || 443), servername: host })
      : connect({ host, port: Number(port || 80) });
  socket.setTimeout(10_000, () => socket.destroy(new Error('No answer to a malformed request')));
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(bytes);
  await once(socket, 'close');
  return Number(/^HTTP\/1\.\d (\d{3})/.exec(answer)?.[1]);
}
