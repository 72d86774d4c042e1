import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { ffmpegPath } from '../support/hls/recording.ts';
import { liveSdp, startScriptedServer, type ScriptedAnswer } from '../support/rtsp/scripted-server.ts';
import { forEachItem, openAttack, type Attack } from './attack.ts';
import { hostileAddress } from './canaries.ts';
import { count } from './counted.ts';
import { rtspVectors, type RtspVector } from './vectors/rtsp.ts';
import { fillIn } from './vectors/vector.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();
let attack: Attack;
beforeAll(async () => {
  attack = await openAttack({ ffmpeg: createFfmpegRunner({ ffmpegPath, tempDir }) });
});
afterAll(() => attack.close());

test('an RTSP server cannot cause a connection to an internal address', async (test) => {
  const { canaries } = attack;
  const asked = new Set<string>();
  const wrong: string[] = [];
  await forEachItem(rtspVectors, async (vector) => {
    const server = await startHostileCamera(vector);
    const { probe, capture } = await attack.run(server.url);
    for (const { method } of server.requests) asked.add(method);
    wrong.push(...[probe, capture].filter((outcome) => outcome.startsWith('unexpected')));
    await server.close();
  });
  expect(wrong).toEqual([]);
  expect(canaries.touched()).toEqual([]);
  expect(await canaries.fileWasRead()).toBe(false);
  expect([...asked]).toEqual(expect.arrayContaining(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY']));
  count(test, { vectors: { RTSP: rtspVectors.length }, touched: canaries.touched().length });
});

/** Closes the connection on PLAY, after which no hostile data can follow. */
function startHostileCamera(vector: RtspVector) {
  const answer = (method: string, fill: (text: string) => string): ScriptedAnswer => {
    const usual: Record<string, ScriptedAnswer> = {
      DESCRIBE: { status: 200, body: fill(describedBy(vector.sdp ?? [])) },
      SETUP: { status: 200, headers: { Session: 'abc', Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } },
    };
    const known = usual[method] ?? { status: 200 };
    if (method !== vector.at || 'raw' in known) return known;
    const headers = Object.entries(vector.headers ?? {}).map(([key, value]) => [key, fill(value)]);
    if (vector.raw !== undefined && !vector.answers) return { raw: fill(vector.raw) };
    return {
      ...known,
      status: vector.status ?? known.status,
      headers: { ...known.headers, ...Object.fromEntries(headers) },
    };
  };
  return startScriptedServer(
    ({ method }, url, socket) => {
      const fill = (text: string): string =>
        fillIn(text, { ...attack.canaries, self: new URL(url).host, base: url });
      if (method === vector.at && vector.answers) socket.write(fill(vector.raw ?? ''));
      if (method === 'PLAY') setTimeout(() => socket.end(), 20);
      return answer(method, fill);
    },
    undefined,
    hostileAddress,
  );
}

function describedBy(lines: string[]): string {
  const begun = lines.map((line) => line.slice(0, line.startsWith('a=') ? line.indexOf(':') : 2));
  const kept = liveSdp
    .split('\r\n')
    .filter((line) => line !== '' && !begun.some((each) => line.startsWith(each)));
  return [...kept, ...lines, ''].join('\r\n');
}
