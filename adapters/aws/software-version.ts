/** Put in by the bundler, from package.json. */
declare const WATCHPOST_VERSION: string | undefined;

export const softwareVersion = typeof WATCHPOST_VERSION === 'string' ? WATCHPOST_VERSION : 'development';
