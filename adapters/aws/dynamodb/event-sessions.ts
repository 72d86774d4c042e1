import { z } from 'zod';
import type { EventSession, EventSessions } from '../../../core/ports/event-sessions.ts';
import type { SetTimer } from '../../embedded/timer.ts';
import type { Patience } from './jitter.ts';
import { keyOf } from './keys.ts';
import { countOf, heldPlaces, placesSchema, withoutPlace, type Places } from './places.ts';
import { revise } from './revise.ts';
import type { Table } from './table.ts';

type Needs = {
  table: Table;
  patience: Patience;
  now: () => Date;
  newId: () => string;
  setTimer: SetTimer;
  perCaller: number;
};

/** A place that nobody renews is free after this: the function of that stream crashed. */
const heldMs = 90_000;
/** Two renewals may fail. */
const renewalMs = 30_000;

/** Sessions of all functions, counted in an item a caller. Each renews its place while it is open. */
export function createEventSessions({ perCaller, newId, setTimer, ...c }: Needs): EventSessions {
  return {
    perCaller,
    open: async (caller) => {
      const id = newId();
      const isOpen = await revise(c, keyOf.eventSessions(caller), sessionsSchema, (sessions) => {
        const open = current(sessions.open);
        if (countOf(open) >= perCaller) return { answer: false };
        return { answer: true, state: { open: { ...open, [id]: heldUntil() } } };
      });
      return isOpen ? sessionOf(caller, id) : undefined;
    },
  };

  function sessionOf(caller: string, id: string): EventSession {
    const controller = new AbortController();
    let cancelRenewal = setTimer(renew, renewalMs);
    return {
      signal: controller.signal,
      end: async () => {
        cancelRenewal();
        if (controller.signal.aborted) return;
        controller.abort();
        await change(caller, (open) => withoutPlace(open, id));
      },
    };

    function renew(): void {
      cancelRenewal = setTimer(renew, renewalMs);
      void change(caller, (open) => (controller.signal.aborted ? open : { ...open, [id]: heldUntil() }));
    }
  }

  /** A place that is not renewed or given back ends by itself, so nothing fails for it. */
  async function change(caller: string, changed: (open: Places) => Places): Promise<void> {
    await revise(c, keyOf.eventSessions(caller), sessionsSchema, ({ open }) => ({
      answer: undefined,
      state: { open: changed(current(open)) },
    })).catch(() => undefined);
  }

  function current(open: Places): Places {
    return heldPlaces(open, c.now().getTime(), heldMs);
  }

  function heldUntil(): number {
    return c.now().getTime() + heldMs;
  }
}

const sessionsSchema = z.object({ open: placesSchema.default({}) });
