/**
 * npm's `prepare`: builds the console after an install, so that a fresh clone serves it. Where development dependencies are
 * left out there is nothing to build with, and `/console` says so. JavaScript, since any Node that npm runs on must read it.
 */
import { fileURLToPath } from 'node:url';

const vite = await import('vite').catch((/** @type {NodeJS.ErrnoException} */ error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
  throw error;
});

if (vite) {
  await vite.build({
    configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
    logLevel: 'warn',
  });
}
