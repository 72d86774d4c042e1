import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, expect, test } from 'vitest';
import { childrenCpuMs } from '../../bench/harness.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

/** Writes `/proc` of a kernel that lists no children: a name, the parent, and four times in ticks. */
async function fakeProc(
  processes: Record<number, { name: string; parent: number; ticks: number[]; exe?: string }>,
) {
  const folder = openTemporaryFolder('proc-');
  onTestFinished(() => folder[Symbol.dispose]());
  for (const [pid, { name, parent, ticks, exe = '/usr/bin/ffmpeg' }] of Object.entries(processes)) {
    await mkdir(join(folder.path, pid));
    const fields = ['S', parent, ...Array.from({ length: 9 }, () => 0), ...ticks, 20, 0];
    await writeFile(join(folder.path, pid, 'stat'), `${pid} (${name}) ${fields.join(' ')}`);
    await symlink(exe, join(folder.path, pid, 'exe'));
  }
  await writeFile(join(folder.path, 'uptime'), '1 1');
  return folder.path;
}

test('processor time of children is of those that ended and of those that run, except Node', async () => {
  const proc = await fakeProc({
    10: { name: 'node', parent: 1, ticks: [1000, 1000, 20, 3] },
    11: { name: 'ff) (mpeg', parent: 10, ticks: [4, 1, 500, 500] },
    12: { name: 'server', parent: 10, ticks: [700, 700, 0, 0], exe: process.execPath },
    13: { name: 'ffmpeg', parent: 11, ticks: [900, 900, 0, 0] },
  });
  expect(childrenCpuMs(proc, 10)).toBe(280);
});

test('processor time of children without their statistics is an error that names the system to use', async () => {
  const proc = await fakeProc({});
  expect(() => childrenCpuMs(proc, 10)).toThrow('Use Linux');
});
