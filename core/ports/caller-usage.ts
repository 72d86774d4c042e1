import type { ModelCall, TokenUse } from '../records/vision.ts';
import type { UsageLedger } from './usage-ledger.ts';

/** Use of the model by callers. Counting never throws: a lost count must not fail a check. */
export interface CallerUsage extends Pick<UsageLedger, 'days'> {
  /** Runs a model call and counts it, also if it fails. Throws the errors of the call. */
  charge<Result extends { tokens: TokenUse; calls?: readonly ModelCall[] | undefined }>(
    caller: string,
    call: () => Promise<Result>,
  ): Promise<Result>;
  record(caller: string, calls: readonly ModelCall[]): Promise<void>;
}
