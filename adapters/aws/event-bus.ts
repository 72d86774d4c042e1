import { EventBridgeClient, PutEventsCommand, type PutEventsResultEntry } from '@aws-sdk/client-eventbridge';
import type { BusEvent, EventBus } from '../../core/ports/delivery.ts';
import type { Log, MetricsSink } from '../../core/ports/observability.ts';
import { TransientError } from '../../core/errors.ts';
import { throwCoreError } from './aws-error.ts';
import { busSource } from './bus-source.ts';
import { clientSettings } from './client-settings.ts';

export type EventBusOptions = {
  /** Default: a client of its own. */
  client?: EventBridgeClient;
  /** Name or ARN of the bus. */
  bus: string;
  /** Name of the deployment, since several may share a bus. */
  deployment: string;
  log: Log;
  measurements: MetricsSink;
};

/**
 * Maximum size of an entry, in bytes. EventBridge accepts 1 MB since January 2026, and targets of rules 256 kB; the
 * rest is for the envelope that EventBridge adds
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html).
 */
const maxEntryBytes = 250 * 1000;

/** Creates the event bus on EventBridge. Each failed entry is an error, also within a successful response. */
export function createEventBus({
  client = new EventBridgeClient(clientSettings),
  bus,
  deployment,
  log,
  measurements,
}: EventBusOptions): EventBus {
  return {
    put: async (event) => {
      const { timestamp, type } = event;
      const detail = fit({ ...event, deployment });
      if (detail.isShortened) log.warning('Event shortened for the event bus', { id: event.id, type });
      const entry = {
        EventBusName: bus,
        Source: busSource,
        DetailType: type,
        Time: new Date(timestamp),
        Detail: detail.text,
      };
      try {
        const command = new PutEventsCommand({ Entries: [entry] });
        const { FailedEntryCount: failed = 0, Entries = [] } = await client
          .send(command)
          .catch(throwCoreError);
        if (failed > 0) throw refusal(Entries[0]);
        measurements.add('BusEvents');
      } catch (error) {
        measurements.add('BusErrors');
        throw error;
      }
    },
  };
}

function refusal({
  ErrorCode: code = 'no code',
  ErrorMessage: text = 'no message',
}: PutEventsResultEntry = {}) {
  return new TransientError(`The event bus refused the event: ${code}: ${text}`);
}

/**
 * Returns the event as JSON, with its texts shortened until it fits. Lists keep their length, so that the schema holds.
 */
function fit(event: BusEvent & { deployment: string }): { text: string; isShortened: boolean } {
  let text = JSON.stringify(event);
  let maxLength = 16_384;
  while (Buffer.byteLength(text) > maxEntryBytes && maxLength > minTextLength) {
    maxLength /= 2;
    text = JSON.stringify(event, (_, value: unknown) => shorten(value, maxLength));
  }
  return { text, isShortened: maxLength < 16_384 };
}

/** Ids and times are shorter. */
const minTextLength = 128;

function shorten(value: unknown, maxLength: number): unknown {
  return typeof value === 'string' && value.length > maxLength ? `${value.slice(0, maxLength - 1)}…` : value;
}
