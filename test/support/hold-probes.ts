import { NotLiveError } from '../../core/errors.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';

/** Holds each probe of a stream from now on until the test lets it pass or fail, by its number. */
export function holdProbes(deps: { streams: StreamCapturer }) {
  const probes: { pass: () => void; fail: () => void }[] = [];
  let notify = () => {};
  deps.streams.probe = (url) =>
    new Promise((resolve, reject) => {
      const pass = () => resolve({ platform: 'hls', playbackUrl: url });
      probes.push({ pass, fail: () => reject(new NotLiveError('Give a live URL.')) });
      notify();
    });
  return {
    /** Resolves when that many probes have begun. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        notify = () => {
          if (probes.length >= count) resolve();
        };
        notify();
      }),
    pass: (index: number) => probes[index]?.pass(),
    fail: (index: number) => probes[index]?.fail(),
  };
}
