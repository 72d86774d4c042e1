import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { contained } from '../../adapters/contained.ts';
import { askByDatagram } from '../../adapters/egress/guarded-udp.ts';
import { setSystemTimer } from '../../core/time-limit.ts';

test('a contained callback hands on what it throws, and else what it is given', () => {
  const seen: unknown[] = [];
  const callback = contained(
    (text: string) => {
      if (text === '') throw new RangeError('empty');
      seen.push(text);
    },
    (error) => void seen.push(error),
  );
  callback('a');
  callback('');
  expect(seen).toEqual(['a', new RangeError('empty')]);
});

test('an answer that cannot be handled fails its question, not the process', async () => {
  const host = createSocket('udp4');
  host.on('message', (_, { port, address }) => host.send('answer', port, address));
  await once(host.bind(0, '127.0.0.1'), 'listening');
  const asked = askByDatagram({
    isAllowed: () => true,
    group: '239.255.255.250',
    port: host.address().port,
    interfaces: [],
    hosts: ['127.0.0.1'],
    messages: ['question'],
    gapMs: 10_000,
    listenMs: 10_000,
    setTimer: setSystemTimer,
    signal: AbortSignal.timeout(10_000),
    onAnswer: () => {
      throw new RangeError('Maximum call stack size exceeded');
    },
    onOutside: () => undefined,
  });
  await expect(asked).rejects.toThrow('Maximum call stack');
  host.close();
});
