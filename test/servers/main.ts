import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startService } from '../support/service-process.ts';
import { ownAddress } from './processes.ts';
import { servers } from './servers.ts';
import { writeTable } from './table.ts';
import { watchAll } from './watch-all.ts';

/**
 * Watches streams of servers that others wrote, and compares with what ffmpeg opens: `npm run test:servers -- --only
 * gortsplib --case H.265`. Loopback only. Each monitor runs for `--seconds`, `--at-once` of them at the same time;
 * `--write` records the results of the servers that were tried in docs/use/sources.md.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    case: { type: 'string', default: '' },
    seconds: { type: 'string', default: '120' },
    // One caller has 10 jobs.
    'at-once': { type: 'string', default: '8' },
    write: { type: 'boolean', default: false },
  },
});

await using cleanup = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'watchpost-servers-'));
cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const ranges = ['127.0.0.0/8', ...(ownAddress === undefined ? [] : [`${ownAddress}/32`])].join(',');
const service = await startService(join(folder, 'data'), { WATCHPOST_ALLOW_RANGES: ranges });
cleanup.defer(async () => void (await service.kill('SIGTERM')));

const chosen = servers.filter(({ name }) => name.includes(values.only));
const [seconds, atOnce] = [Number(values.seconds), Number(values['at-once'])];
const record = await watchAll(chosen, { folder, service, seconds, atOnce, part: values.case });
if (values.write)
  await writeTable(
    { processors: cpus().length, ...record },
    values.case !== '',
    servers.map(({ name }) => name),
  );
const misread = record.results.filter(
  ({ ffmpeg, ...own }) =>
    ffmpeg === 'ok' &&
    Object.values(own).some((text) => typeof text === 'string' && text.startsWith('wrong')),
);
if (misread.length > 0) process.exitCode = 1;
