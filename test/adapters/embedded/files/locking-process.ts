import { setInterval } from 'node:timers';
import { openDataDirectory } from '../../../../adapters/embedded/files/data-directory.ts';

/** Locks a data directory until the process is killed. */
await openDataDirectory(process.argv[2] ?? '');
process.stdout.write('taken\n');
setInterval(() => undefined, 60_000);
