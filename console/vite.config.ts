import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** The console as static files below `/console/`, for the one-machine service and for a bucket behind a CDN alike. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  server: { proxy: { '/api': 'http://127.0.0.1:8787', '/healthz': 'http://127.0.0.1:8787' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Every browser since 2023; nothing is inlined, since the policy takes no data: style or script.
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
