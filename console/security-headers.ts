/**
 * What every file of the console is served with, by the one-machine service and by the CDN. Everything that the page loads
 * is of its own host: nothing inline, nothing from elsewhere, no frame around it. `blob:` is how evidence pictures are shown,
 * which are fetched with the key.
 */
export const consoleSecurityHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), browsing-topics=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** Names of assets carry a hash of their content; the page names the assets of its build. */
export const consoleCaching = {
  page: 'no-cache',
  asset: 'public, max-age=31536000, immutable',
} as const;
