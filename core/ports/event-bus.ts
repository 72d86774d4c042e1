/** Event of a job or of a watch for the event bus of a deployment. Images are links. */
export type BusEvent = {
  /** Id of the event; the same in webhooks and in repetitions. */
  id: string;
  caller: string;
  type: string;
  timestamp: string;
  source_url: string;
  data: Record<string, unknown>;
};

/** Event bus of a deployment, whose rules the operator makes. */
export interface EventBus {
  /** Puts one event on the bus. Throws `TransientError` unless the bus accepted it. */
  put(event: BusEvent): Promise<void>;
}
