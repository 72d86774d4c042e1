export { Watchpost } from './watchpost.ts';
export type { WatchpostProps } from './watchpost.ts';
