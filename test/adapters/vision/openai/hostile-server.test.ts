import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createOpenAiVision } from '../../../../adapters/vision/openai/openai-vision.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';
import { labelledSheets as sheets } from '../../../support/vision/labelled-sheets.ts';
import { readPort } from '../port-of.ts';

const endlessly = (head: object, piece: string) => (response: ServerResponse) => {
  response.writeHead(200, { ...head });
  const text = piece.repeat(Math.ceil(100_000 / piece.length));
  const send = (): void => {
    while (response.write(text));
  };
  response.on('drain', send);
  send();
};

const answers: [string, (response: ServerResponse) => void, RegExp][] = [
  ['without an end', endlessly({}, ' '), /more than an answer/],
  ['without an end, as a stream of chunks', endlessly({}, 'data: {"choices":[]}\n\n'), /more than an answer/],
  ['of too many levels', (response) => response.end('['.repeat(1_000_000)), /more than an answer/],
  ['of too many values', (response) => response.end(`[${'0,'.repeat(600_000)}0]`), /more than an answer/],
  [
    'that leads to itself',
    (response) => response.writeHead(307, { location: '/v1/chat/completions' }).end(),
    /redirects/,
  ],
  [
    'with a head without an end',
    (response) => response.socket?.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`),
    /cannot be reached/,
  ],
];

test.each(answers)(
  'an answer of a model server %s ends as an error that says so',
  async (_, answer, error) => {
    const server = createServer((request, response) => {
      response.on('error', () => undefined).socket?.on('error', () => undefined);
      request.resume().on('end', () => answer(response));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseUrl = `http://127.0.0.1:${readPort(server)}/v1`;
    const vision = createOpenAiVision({ sheets, baseUrl, model: 'm', fetch });
    const media = { mode: 'frames', frame: new Uint8Array([255, 216]) } as const;
    await expect(
      judgeCondition(vision, media, { condition: 'x' }, AbortSignal.timeout(20_000)),
    ).rejects.toMatchObject({ name: 'VisionError', remediation: expect.stringMatching(error) });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
);
