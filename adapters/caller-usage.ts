import { VisionError } from '../core/vision-errors.ts';
import type { AsCaller } from '../core/ports/callers.ts';
import type { Log } from '../core/ports/observability.ts';
import type { UsageLedger, CallerUsage } from '../core/ports/usage.ts';
import { sumCalls, type TokenPrice } from '../core/policies/watch/budget.ts';

type Deps = {
  ledger: UsageLedger;
  /** `null` if the price of the model is unknown. */
  modelPrice: TokenPrice | null;
  log: Pick<Log, 'warning'>;
  now: () => Date;
  asCaller?: AsCaller;
};

/** Creates the counts of model calls by caller, with the list price of the model in use. */
export function createCallerUsage({
  ledger,
  modelPrice,
  log,
  now,
  asCaller = async (_caller, work) => work(),
}: Deps): CallerUsage {
  const record: CallerUsage['record'] = async (caller, calls) => {
    if (calls.length === 0) return;
    try {
      await ledger.add(caller, now().toISOString().slice(0, 10), sumCalls(modelPrice, calls));
    } catch (error) {
      log.warning('Use of a caller was not counted', { error: String(error) });
    }
  };
  return {
    record,
    days: (caller, from, to) => ledger.days(caller, from, to),
    charge: async (caller, call) => {
      try {
        const result = await asCaller(caller, call);
        await record(caller, result.calls ?? [result.tokens]);
        return result;
      } catch (error) {
        if (error instanceof VisionError) await record(caller, error.calls);
        throw error;
      }
    },
  };
}
