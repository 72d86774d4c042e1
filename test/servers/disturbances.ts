import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import type { Stream } from './processes.ts';

type Publication = ReturnType<Stream['start']> extends Promise<infer Started> ? Started : never;

const h264 = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -tune zerolatency -g 10';
const h265 =
  '-c:v libx265 -preset ultrafast -x265-params log-level=none:repeat-headers=1:keyint=10 -pix_fmt yuv420p';
const usual: Case = { name: 'usual', encoding: h264 };

/** Returns streams at one address that change while a monitor watches them. RTMP carries H.264 only, and has no `restart`. */
export function disturbed(
  url: string,
  publish: (each: Case) => Publication,
  restart?: () => Promise<void>,
): Stream[] {
  const follow = (name: string, next: Case, between?: () => Promise<void>): Stream => {
    let publication: Publication | undefined;
    return {
      name,
      url,
      hasClock: true,
      start: async () => {
        publication = publish(usual);
        return { startedAt: publication.startedAt, close: () => publication?.close() };
      },
      disturb: async () => {
        publication?.close();
        await between?.();
        await sleep(1_000);
        publication = publish(next);
      },
    };
  };
  return [
    follow('H.264, a publisher that restarts', usual),
    follow('H.264, a resolution that changes', { ...usual, filter: 'scale=640:360' }),
    ...(restart
      ? [
          follow('H.264, a codec that changes to H.265', { name: 'H.265', encoding: h265 }),
          follow('H.264, a server that restarts', usual, restart),
        ]
      : []),
  ];
}
