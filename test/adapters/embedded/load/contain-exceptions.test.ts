import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TransientError } from '../../../../core/errors.ts';
import {
  containCameras,
  containDestinations,
  containExceptions,
  containStreams,
  watchExceptions,
} from '../../../../adapters/embedded/load/contain-exceptions.ts';
import { notify } from '../../destinations/notifications.ts';
import { createCollectedLog } from '../log/collected-log.ts';

/** Emits as the process does: in the context of the callback that threw. */
function throwLater(process: EventEmitter, error: Error): Promise<never> {
  setImmediate(() => process.emit('uncaughtException', error));
  return new Promise(() => undefined);
}

test('an exception in a callback rejects the work that opened it, and leaves other work alone', async () => {
  const process = new EventEmitter();
  watchExceptions(process, () => undefined);
  const failing = containExceptions(() => throwLater(process, new Error('in a callback')));
  const working = containExceptions(async () => {
    await nextTurn();
    return 'done';
  });
  await expect(failing).rejects.toThrow('in a callback');
  await expect(working).resolves.toBe('done');
});

test('an exception in a callback fails the capture, the picture or the search for cameras that opened it', async () => {
  const process = new EventEmitter();
  watchExceptions(process, () => undefined);
  const failing = () => throwLater(process, new Error('in a callback'));
  const streams = containStreams({ probe: failing, capture: failing, picture: failing, follow: failing });
  const cameras = containCameras({ discover: failing, readStreams: failing });
  const request = {
    url: 'http://a.example',
    mode: 'frames',
    clipSeconds: 0,
    caller: 'ada',
    resolveAgain: false,
  } as const;
  const { signal } = new AbortController();
  for (const work of [
    streams.probe('http://a.example', signal, 'ada'),
    streams.capture(request, signal),
    streams.picture({ at: new Date(0), thumbnail: new Uint8Array() }, request, signal),
    streams.follow?.({ url: 'http://a.example' } as never, () => undefined, signal),
    cameras.discover(signal),
    cameras.readStreams('a', null, signal),
  ])
    await expect(work).rejects.toThrow('in a callback');
});

test('an exception of what ended work left open is reported, and ends nothing', async () => {
  const process = new EventEmitter();
  const reported: string[] = [];
  watchExceptions(process, ({ message }) => void reported.push(message));
  const left = Promise.withResolvers<void>();
  await containExceptions(async () => {
    setImmediate(() => {
      process.emit('uncaughtException', new Error('left open'));
      left.resolve();
    });
  });
  await left.promise;
  expect(reported).toEqual(['left open']);
});

test('an exception of anything else ends the process, and of a delivery after the service has closed too', async () => {
  const process = new EventEmitter();
  const stop = watchExceptions(process, () => undefined);
  expect(() => process.emit('uncaughtException', new Error('elsewhere'))).toThrow('elsewhere');
  stop();
  expect(process.listenerCount('uncaughtException')).toBe(0);
});

test('an exception of a delivery is a failed attempt, so that its schedule applies', async () => {
  const process = new EventEmitter();
  watchExceptions(process, () => undefined);
  const log = createCollectedLog();
  const send = () => throwLater(process, new Error('in a callback'));
  const failure = { status: null, error: expect.stringContaining('failed unexpectedly') };
  const offered = { types: [], recipients: [] };
  const throwing = { send, sendEnvelope: send, end: send, reasonToRefuse: () => null, offered };
  const destinations = containDestinations(throwing, log);
  const envelope = { caller: 'alice', id: 'msg_1', body: {} };
  expect(await destinations.sendEnvelope('http://x.example', envelope)).toMatchObject(failure);
  const address = { destination_id: 'd', type: 'mqtt' } as const;
  expect(await destinations.send(address, notify('alert_opened'))).toMatchObject({
    ...failure,
    outcome: 'retry',
  });
  const busy = { ...throwing, sendEnvelope: async () => Promise.reject(new TransientError('busy')) };
  await expect(containDestinations(busy, log).sendEnvelope('http://x.example', envelope)).rejects.toThrow(
    'busy',
  );
  const open = { watchId: 'w', conditions: [], subjects: [] };
  expect(await destinations.end(address, open)).toEqual(failure.error);
  expect(log.entries.map(({ fields }) => fields?.['error'])).toEqual([
    expect.stringContaining('in a callback'),
    expect.stringContaining('in a callback'),
    expect.stringContaining('in a callback'),
  ]);
});
