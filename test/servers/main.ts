import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startService } from '../support/service-process.ts';
import { UnavailableError } from './install.ts';
import { ownAddress } from './processes.ts';
import { servers } from './servers.ts';
import { writeTable, type Record } from './table.ts';
import { watchStream } from './watch.ts';

/**
 * Watches streams of servers that others wrote, and compares with what ffmpeg opens: `npm run test:servers -- --only gortsplib --case H.265`. Loopback only.
 * `--seconds 120` lets each monitor run for two minutes; `--write` records the results of the servers that were tried in docs/use/sources.md.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    case: { type: 'string', default: '' },
    seconds: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
});

await using cleanup = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'watchpost-servers-'));
cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const ranges = ['127.0.0.0/8', ...(ownAddress === undefined ? [] : [`${ownAddress}/32`])].join(',');
const service = await startService(join(folder, 'data'), { WATCHPOST_ALLOW_RANGES: ranges });
cleanup.defer(async () => void (await service.kill('SIGTERM')));
const record: Record = { results: [], unavailable: [] };

for (const { name, open } of servers) {
  if (!name.includes(values.only)) continue;
  try {
    const server = await open(folder);
    try {
      for (const stream of server.streams.filter((each) => each.name.includes(values.case))) {
        const result = await watchStream(name, stream, service, Number(values.seconds));
        record.results.push(result);
        process.stdout.write(`${JSON.stringify(result)}\n`);
      }
    } finally {
      server.close();
    }
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    record.unavailable.push({ server: name, reason: error.message });
    process.stdout.write(`SKIPPED ${name}: ${error.message}\n`);
  }
}
if (values.write) await writeTable(record, values.case !== '');
const misread = record.results.filter(
  ({ ffmpeg, ...own }) =>
    ffmpeg === 'ok' &&
    Object.values(own).some((text) => typeof text === 'string' && text.startsWith('wrong')),
);
process.exitCode = misread.length > 0 ? 1 : 0;
