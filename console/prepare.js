/**
 * Builds the console after an install (npm's `prepare`), so that a fresh clone serves it. Without development
 * dependencies it builds nothing, and `/console` reports that. JavaScript, because every Node version that npm supports
 * must read it.
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
