import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createModelHost, type ModelHostDeps } from '../../../../adapters/vision/local/model-host.ts';
import type { ModelProcess } from '../../../../adapters/vision/local/running-model.ts';
import { createFakeTime } from '../../embedded/fake-time.ts';

const load = {
  runtime: 'r',
  model: '/models/m.gguf',
  projector: '/models/p.gguf',
  threads: 1,
  contextTokens: 64,
};
const request = { system: 's', text: 't', pictures: [], schema: {}, maxTokens: 9 };
const answer = { text: '{}', end: 'complete' as const, inputTokens: 1, outputTokens: 1 };
const { signal } = new AbortController();

/** Process that does what the test says. */
class FakeProcess extends EventEmitter {
  sent: { id?: number; cancel?: number }[] = [];
  kills: unknown[] = [];
  stderr = new EventEmitter();
  held: string[] = [];
  send(message: object) {
    this.sent.push(message);
    return true;
  }
  kill(name: unknown) {
    this.kills.push(name);
    this.emit('exit', null, name);
    return true;
  }
  ref() {
    this.held.push('ref');
  }
  unref() {
    this.held.push('unref');
  }
  becomeReady() {
    this.emit('message', { ready: true });
  }
  answer(memoryBytes = 1) {
    this.emit('message', { id: this.sent.at(-1)?.id, answer, memoryBytes });
  }
}

function host(options: Partial<ModelHostDeps> = {}) {
  const time = createFakeTime();
  const started: FakeProcess[] = [];
  const reports: string[] = [];
  const model = createModelHost({
    load,
    sizeBytes: 2.3e9,
    maxMemoryBytes: 1e9,
    steadyNowMs: () => time.now().getTime(),
    setTimer: time.setTimer,
    report: (text) => void reports.push(text),
    start: () => {
      const child = new FakeProcess();
      started.push(child);
      return child as unknown as ModelProcess;
    },
    ...options,
  });
  return { model, time, started, reports };
}

const tick = async () => new Promise((resolve) => setImmediate(resolve));

test('a model is loaded once, with the first call, and says how long it loads and how large it is', async () => {
  const { model, time, started, reports } = host();
  expect(model.loading()).toBeUndefined();
  const first = model.call(request, signal);
  await tick();
  await time.pass(12);
  expect(model.loading()).toBe('loading 2.3 GB for 12 s');
  expect(reports).toEqual(['loading 2.3 GB for 10 s']);
  started[0]!.becomeReady();
  await tick();
  started[0]!.answer();
  expect(await first.answer).toEqual(answer);
  expect(model.loading()).toBeUndefined();
  expect(reports.at(-1)).toBe('loaded 2.3 GB in 12.0 s');

  const second = model.call(request, signal);
  await tick();
  started[0]!.answer();
  await second.answer;
  expect(started).toHaveLength(1);
  expect(started[0]!.sent[0]).toEqual(load);
});

test('a process that dies during a call fails it as a model fails, and starts again without a call after waits that grow', async () => {
  const { model, time, started } = host();
  const waits: number[] = [];
  for (let death = 0; death < 4; death += 1) {
    const failed = model.call(request, signal);
    await tick();
    started.at(-1)!.becomeReady();
    await tick();
    started.at(-1)!.emit('exit', null, 'SIGSEGV');
    await expect(failed.answer).rejects.toMatchObject({
      code: 'VLM_ERROR',
      remediation: expect.stringContaining('SIGSEGV'),
    });
    await failed.free;
    await expect(model.call(request, signal).answer).rejects.toMatchObject({
      remediation: expect.stringMatching(/starts again in \d+ s/),
    });
    const before = started.length;
    let waited = 0;
    for (; started.length === before; waited += 1) await time.pass(1);
    waits.push(waited);
  }
  expect(waits).toEqual([1, 2, 4, 8]);

  const answered = model.call(request, signal);
  started.at(-1)!.becomeReady();
  await tick();
  started.at(-1)!.answer();
  await answered.answer;
  started.at(-1)!.emit('exit', 139, null);
  const count = started.length;
  await time.pass(1);
  expect(started).toHaveLength(count + 1);
});

test('the wait before a start is at most five minutes', async () => {
  const { model, time, started } = host();
  void model.prepare(signal).catch(() => undefined);
  for (let death = 0; death < 14; death += 1) {
    started.at(-1)!.emit('exit', 1, null);
    await time.pass(300);
  }
  expect(started).toHaveLength(15);
});

test('a load that fails says why, without the folder of the files', async () => {
  const { model, started } = host();
  const loaded = model.prepare(signal);
  started[0]!.stderr.emit(
    'data',
    Buffer.from(
      "a line\nllama_model_load: error loading model: no tensor in '/models/secret/m.gguf'\nllama_x: failed\n",
    ),
  );
  started[0]!.emit('exit', null, 'SIGSEGV');
  await expect(loaded).rejects.toMatchObject({
    remediation: expect.stringMatching(
      /cannot be loaded: SIGSEGV: error loading model: no tensor in 'm.gguf'\. /,
    ),
  });
});

test('a process that the system kills while it loads is a lack of memory', async () => {
  const { model, started } = host();
  const loaded = model.prepare(signal);
  started[0]!.emit('exit', null, 'SIGKILL');
  await expect(loaded).rejects.toMatchObject({ remediation: expect.stringContaining('too little memory') });
});

test('a process above its memory is replaced after the call, without a failure', async () => {
  const { model, started, reports } = host();
  const first = model.call(request, signal);
  await tick();
  started[0]!.becomeReady();
  await tick();
  started[0]!.answer(1.2e9);
  expect(await first.answer).toEqual(answer);
  expect(started[0]!.kills).toEqual(['SIGKILL']);
  expect(reports.at(-1)).toContain('it has 1.2 GB');
  const second = model.call(request, signal);
  await tick();
  started[1]!.becomeReady();
  await tick();
  started[1]!.answer();
  expect(await second.answer).toEqual(answer);
});

test('an aborted call ends immediately, and the process is free when it has stopped, or is killed after 30 s', async () => {
  const { model, time, started } = host();
  const abort = new AbortController();
  const first = model.call(request, abort.signal);
  await tick();
  started[0]!.becomeReady();
  await tick();
  abort.abort(new Error('enough'));
  await expect(first.answer).rejects.toThrow('enough');
  expect(started[0]!.sent.at(-1)).toEqual({ cancel: 1 });
  let isFree = false;
  void first.free.then(() => (isFree = true));
  await time.pass(29);
  expect([isFree, started[0]!.kills]).toEqual([false, []]);
  await time.pass(1);
  expect([isFree, started[0]!.kills]).toEqual([true, ['SIGKILL']]);
});

test('a process without a call does not keep the service alive', async () => {
  const { model, started } = host();
  const first = model.call(request, signal);
  await tick();
  started[0]!.becomeReady();
  await tick();
  expect(started[0]!.held.at(-1)).toBe('ref');
  started[0]!.answer();
  await first.answer;
  expect(started[0]!.held.at(-1)).toBe('unref');
});

test('a closed host kills the process and starts no other', async () => {
  const { model, time, started } = host();
  void model.prepare(signal).catch(() => undefined);
  model.close();
  await time.pass(600);
  expect(started).toHaveLength(1);
  expect(started[0]!.kills).toEqual(['SIGKILL']);
  await expect(model.prepare(signal)).rejects.toMatchObject({ code: 'VLM_ERROR' });
});

test('a process that takes no calls any more is replaced, and its call is made by the next one', async () => {
  const { model, started } = host();
  const first = model.call(request, signal);
  await tick();
  started[0]!.becomeReady();
  await tick();
  started[0]!.emit('message', { id: started[0]!.sent.at(-1)?.id, isStuck: true });
  await tick();
  expect(started[0]!.kills).toEqual(['SIGKILL']);
  started[1]!.becomeReady();
  await tick();
  started[1]!.answer();
  expect(await first.answer).toEqual(answer);
  expect(started[1]!.sent.at(-1)).toMatchObject({ text: 't' });
});
