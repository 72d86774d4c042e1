import type { Api } from './api.ts';
import type { Receiver } from './sources/receiver.ts';
import type { Streams } from './sources/streams.ts';

/**
 * Requirement of a case; without it the case is skipped with the reason. `decisions` marks behavior that the interface
 * leaves open and this project decided; another service may differ.
 */
export type Need =
  | 'stream'
  | 'own streams'
  | 'rtsp'
  | 'recording'
  | 'platform'
  | 'receiver'
  | 'internal key'
  | 'second caller'
  | 'retention'
  | 'decisions'
  | 'slow';

/** Conformance case. */
export type Case = {
  /** Id for `--only`: short, kebab-case, unique. */
  id: string;
  /** Behavior, as a sentence. */
  title: string;
  /** Ids of `statements.yaml`. */
  covers: string[];
  needs?: Need[];
  /** Concurrent jobs; `slotsOfCaller` reserves the whole caller. Default: 0. */
  slots?: number;
  /** Approximate duration; the longest cases start first. Default: 5. */
  seconds?: number;
  run: (target: Target) => Promise<void>;
};

/** Maximum concurrent jobs of a caller. */
export const slotsOfCaller = 10;

/** Inputs of a case: clients of the service, streams, receiver and conditions. */
export type Target = {
  api: Api;
  /** Client of another caller, for cases with the need `second caller`. */
  other: Api;
  /** Client with the internal header, for cases with the need `internal key`. */
  internal: Api;
  streams: Streams;
  receiver: Receiver;
  /** Conditions that hold in every frame of the stream, and in none. */
  conditions: { holds: string; fails: string };
  retentionSeconds: number;
};

/** Thrown by a case that cannot run. */
export class Skipped extends Error {}
