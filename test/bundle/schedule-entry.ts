import { localDay } from '../../core/watch/schedule.ts';

/** Entry that is bundled like a function and run separately: prints the local day of an instant, which needs the library of time zones. */
process.stdout.write(JSON.stringify(localDay('Europe/Berlin', new Date('2026-03-29T12:00:00Z'))));
