/** Version from package.json, defined by the bundler. */
declare const WATCHPOST_VERSION: string | undefined;

/** Version of this service. */
export const softwareVersion = typeof WATCHPOST_VERSION === 'string' ? WATCHPOST_VERSION : 'development';
