/** Memory that the caches of one name hold in this process, and may hold. */
export type CacheUse = { cache: string; bytes: number; maxBytes: number };
