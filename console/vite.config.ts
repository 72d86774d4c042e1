import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Builds the console as static files below `/console/`, for the embedded service and for a bucket behind a CDN, and
 * beside it the page of `watchpost label`.
 */
export default defineConfig({
  root: file('.'),
  base: '/console/',
  server: { proxy: { '/api': 'http://127.0.0.1:8787', '/healthz': 'http://127.0.0.1:8787' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    rollupOptions: { input: [file('index.html'), file('label.html')] },
    // Browsers since 2023. Nothing is inlined, because the content security policy forbids data: styles and scripts.
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
