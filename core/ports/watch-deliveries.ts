import type { DestinationState, WatchDelivery } from '../records/watch-delivery.ts';

/** Storage of the deliveries of watches, and of the states of their destinations. They are removed with the watch. */
export interface WatchDeliveryStore {
  get(watchId: string, sequence: number, destinationId: string): Promise<WatchDelivery | undefined>;
  /** Stores the delivery until `rules.watchDeliverySeconds` after `now`. */
  put(delivery: WatchDelivery, now: Date): Promise<void>;
  state(watchId: string, destinationId: string): Promise<DestinationState | undefined>;
  /** Returns the states of all destinations of the watch that had an attempt, also of removed ones, by id. */
  states(watchId: string): Promise<DestinationState[]>;
  /**
   * Replaces the state of a destination by what `change` returns for the stored one, in one step: attempts may run concurrently. `change` may be called again.
   * Returns the new state.
   */
  changeState(
    watchId: string,
    destinationId: string,
    change: (stored: DestinationState | undefined) => DestinationState,
  ): Promise<DestinationState>;
}
