import { existsSync } from 'node:fs';

/** Chromium of Debian without windows, which takes half of the processor time of the other. */
const shell = '/usr/bin/chromium-headless-shell';
const withWindows = '/usr/bin/chromium';

/** Returns the path of the browser of the console tests, which `packages.ts` installs where it is missing. */
export function chromiumPath(): string {
  const found = existsSync(withWindows) && !existsSync(shell) ? withWindows : shell;
  return process.env['WATCHPOST_CHROMIUM'] ?? found;
}
