/**
 * Security headers of every console file, in embedded mode and on the CDN. The page loads only from its own host,
 * nothing inline, and cannot be embedded. `blob:` is needed for evidence
 * images and clips, which are fetched with the key.
 */
export const consoleSecurityHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
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

/** `Cache-Control` values. Asset names contain a hash of their content; the page refers to the assets of its build. */
export const consoleCaching = {
  page: 'no-cache',
  asset: 'public, max-age=31536000, immutable',
} as const;
