import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createLookups, type NameProcess } from '../../../../adapters/embedded/names/lookups.ts';

type Asked = { id: number; host: string };
const address = { address: '192.0.2.7', family: 4 } as const;

/** Lookups whose process answers no name that begins with `silent`. */
function open() {
  const clock = { nowMs: 0, caller: 'ada' };
  const timers = new Map<() => void, number>();
  const asked: string[] = [];
  const ended: boolean[] = [];
  const start = (): NameProcess => {
    const child = new EventEmitter();
    const index = ended.push(false) - 1;
    return Object.assign(child, {
      kill: () => (ended[index] = true),
      send: ({ id, host }: Asked) => {
        asked.push(host);
        const reply = host.startsWith('gone') ? { id, error: 'ENOTFOUND' } : { id, addresses: [address] };
        if (!host.startsWith('silent')) queueMicrotask(() => child.emit('message', reply));
        return true;
      },
    }) as unknown as NameProcess;
  };
  const lookups = createLookups({
    currentCaller: () => clock.caller,
    elapsedMs: () => clock.nowMs,
    setTimer: (fire, delayMs) => {
      timers.set(fire, clock.nowMs + delayMs);
      return () => void timers.delete(fire);
    },
    start,
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number) => {
    await settled();
    clock.nowMs += ms;
    for (const [fire, atMs] of timers)
      if (atMs <= clock.nowMs) {
        timers.delete(fire);
        fire();
      }
    await settled();
  };
  const lookupAs = (caller: string, host: string) => {
    clock.caller = caller;
    return lookups.lookup(host);
  };
  return { lookupAs, pass, asked, ended, lookups };
}

test('a silent name is given up after 5 s, and with it the process that nobody else needs', async () => {
  const { lookupAs, pass, ended } = open();
  const silent = lookupAs('ada', 'silent.example').catch((error: unknown) => String(error));
  await pass(4_999);
  expect(ended).toEqual([false]);
  await pass(1);
  expect(await silent).toContain('not resolved in time');
  expect(ended).toEqual([true]);
  expect(await lookupAs('ada', 'camera.example')).toEqual([address]);
  expect(ended).toEqual([true, false]);
});

test('the end of a process with a silent name waits for the lookups of others', async () => {
  const { lookupAs, pass, ended } = open();
  const early = lookupAs('ada', 'silent-1.example').catch(() => 'given up');
  await pass(3_000);
  const late = lookupAs('bob', 'silent-2.example').catch(() => 'given up');
  await pass(2_000);
  expect(await early).toBe('given up');
  expect(ended).toEqual([false]);
  await pass(3_000);
  expect(await late).toBe('given up');
  expect(ended).toEqual([true]);
});

test('silent names of one caller delay no lookup of another', async () => {
  const { lookupAs, asked } = open();
  for (let name = 0; name < 40; name += 1)
    lookupAs('greedy', `silent-${name}.example`).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(12);
  expect(await lookupAs('modest', 'camera.example')).toEqual([address]);
});

test('a failure is remembered for some seconds, of a name that was silent twice for longer, for its caller only', async () => {
  const { lookupAs, pass, asked } = open();
  const ask = (caller: string, host: string) =>
    lookupAs(caller, host).catch((error: unknown) => String(error));
  expect(await ask('ada', 'gone.example')).toContain('ENOTFOUND');
  expect(await ask('ada', 'gone.example')).toContain('ENOTFOUND');
  expect(asked).toHaveLength(1);
  await ask('bob', 'gone.example');
  expect(asked).toHaveLength(2);
  await pass(5_000);
  await ask('ada', 'gone.example');
  expect(asked).toHaveLength(3);

  for (const keptMs of [5_000, 30_000]) {
    const asks = asked.push('begin');
    const silent = ask('ada', 'silent.example');
    await pass(5_000);
    await silent;
    await pass(keptMs - 1);
    expect(await ask('ada', 'silent.example')).toContain('not resolved in time');
    expect(asked).toHaveLength(asks + 1);
    await pass(1);
  }
});

test('concurrent lookups of a name by one caller are one', async () => {
  const { lookupAs, asked } = open();
  await Promise.all([lookupAs('ada', 'camera.example'), lookupAs('ada', 'camera.example')]);
  expect(asked).toEqual(['camera.example']);
});

test('an idle process ends, and the lookups of one that is ended fail', async () => {
  const { lookupAs, pass, ended, lookups } = open();
  await lookupAs('ada', 'camera.example');
  await pass(60_000);
  expect(ended).toEqual([true]);
  const asking = lookupAs('ada', 'silent.example');
  await pass(0);
  lookups.close();
  await expect(asking).rejects.toThrow('has ended');
});
