import { rules } from '../rules.ts';
import { addSeconds, isOver, secondsUntil } from '../time.ts';

/** Minimum time between requests to an address of a vendor, which destinations and watches share. */
export interface AddressPace {
  /** Takes the next turn. Returns 0, or the seconds until it is free. */
  take(address: string): number;
}

export function createAddressPace(now: () => Date): AddressPace {
  const taken = new Map<string, Date>();
  const seconds = rules.minDestinationSpacingSeconds;
  return {
    take: (address) => {
      const takenAt = now();
      for (const [other, since] of taken) if (isOver(since, seconds, takenAt)) taken.delete(other);
      const last = taken.get(address);
      const waitSeconds = last ? secondsUntil(addSeconds(last, seconds), takenAt, seconds) : 0;
      if (waitSeconds === 0) taken.set(address, takenAt);
      return waitSeconds;
    },
  };
}
