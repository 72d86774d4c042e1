import { z } from 'zod';

const pattern = /^(?:\*|(?:W\/)?"\d{1,10}")$/;

/** Header `If-Match`: the ETag of a watch, or `*` for any version. */
export const ifMatchHeader = z
  .string()
  .refine((value) => pattern.test(value), 'use the ETag of GET /watches/{watch_id}, as "3", or *')
  .optional()
  .describe(
    'ETag of the version that the change is based on; 412 if the watch has another. Absent: any version.',
  );

/** Returns the version in an `If-Match` header; undefined for any version. */
export function readVersion(ifMatch: string | undefined): number | undefined {
  const digits = /\d+/.exec(ifMatch ?? '')?.[0];
  return digits === undefined ? undefined : Number(digits);
}

export function toEntityTag(version: number): string {
  return `"${version}"`;
}
