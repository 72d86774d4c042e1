import type { Api } from './api.ts';
import type { Receiver } from './sources/receiver.ts';
import type { Streams } from './sources/streams.ts';

/**
 * What a case cannot do without; a target that lacks it has the case skipped, with the reason. `decisions` marks what the interface
 * leaves open and this project decided: another service may have decided otherwise.
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
  | 'patience';

export type Case = {
  /** For `--only` and docs/contract.md: short, kebab-case, unique. */
  id: string;
  /** The behaviour, as a sentence. */
  title: string;
  /** Statements of docs/contract.md. */
  covers: string[];
  needs?: Need[];
  /** Active jobs at the same time; `slotsOfCaller` keeps every other case off its caller. 0 by default. */
  slots?: number;
  /** About how long it takes; long ones begin first. 5 by default. */
  seconds?: number;
  run: (target: Target) => Promise<void>;
};

/** The limit of the interface, section 8. */
export const slotsOfCaller = 10;

/** What a case works with: the service as its caller sees it, and the world around it. */
export type Target = {
  api: Api;
  /** Another tenant; only for cases that need one. */
  other: Api;
  /** With the internal header; only for cases that need it. */
  internal: Api;
  streams: Streams;
  receiver: Receiver;
  /** Conditions of which the first holds in every picture of the stream and the second in none. */
  conditions: { holds: string; fails: string };
  retentionSeconds: number;
};

/** Thrown by a case that finds that it cannot be run. */
export class Skipped extends Error {}
