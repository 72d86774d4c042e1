import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Builds the console as static files below `/console/`, for the embedded service and for a bucket behind a CDN. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  server: { proxy: { '/api': 'http://127.0.0.1:8787', '/healthz': 'http://127.0.0.1:8787' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Browsers since 2023. Nothing is inlined, because the content security policy forbids data: styles and scripts.
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
