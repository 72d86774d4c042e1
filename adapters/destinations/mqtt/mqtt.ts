import type { Notification } from '../../../core/ports/delivery.ts';
import { rules } from '../../../core/rules.ts';
import { findAlert, shorten } from '../describe.ts';
import { toWebhookData } from '../webhook/webhook.ts';

/**
 * Message of MQTT. A retained one is kept by the broker for later subscribers. The alert counts as delivered without an
 * optional one.
 */
export type Publication = {
  topic: string;
  payload: string | Uint8Array;
  retain: boolean;
  isOptional?: true;
};

/**
 * Returns the messages of a notification: the event as JSON, and entities of Home Assistant by its discovery, one
 * binary sensor per condition, one for the stream and a camera with the newest evidence
 * (home-assistant.io/integrations/mqtt/#mqtt-discovery). Repeating them changes nothing. What a broker may refuse by
 * closing the connection, entities and picture, comes last.
 */
export function toPublications(notification: Notification): Publication[] {
  const { watchId, event, timestamp, frame } = notification;
  // The picture of a test alert must not replace the newest evidence for later subscribers.
  const isKept = event.type !== 'test';
  const topic = `watchpost/${watchId}`;
  const data = toWebhookData({ ...notification, includeFrame: false });
  const json = JSON.stringify({ type: event.type, timestamp, data });
  const { conditions, current } = notification;
  const removed = findRemoved(event).filter((id) => conditions.every((each) => each.condition_id !== id));
  const past = removed.map((condition_id) => ({ condition_id }));
  if (current === null)
    return [
      { topic: `${topic}/event`, payload: json, retain: false },
      ...toRemoval({ watchId, conditions: [...conditions, ...past] }),
    ];
  return [
    { topic: `${topic}/event`, payload: json, retain: false },
    ...past.flatMap((condition) => removeCondition(watchId, condition)),
    ...states(notification, current, json),
    ...discover(notification, topic),
    ...(frame === null
      ? []
      : [{ topic: `${topic}/frame`, payload: frame, retain: isKept, isOptional: true as const }]),
  ];
}

/** Returns the empty messages that remove what the broker keeps of a watch. */
export function toRemoval({
  watchId,
  conditions,
}: {
  watchId: string;
  conditions: readonly { condition_id: string }[];
}): Publication[] {
  return [
    ...conditions.flatMap((condition) => removeCondition(watchId, condition)),
    ...['stream', 'availability', 'frame'].map((name) => keep(watchId, name, '')),
    entity(watchId, 'binary_sensor', 'stream', ''),
    entity(watchId, 'camera', 'frame', ''),
  ];
}

function removeCondition(watchId: string, { condition_id: id }: { condition_id: string }): Publication[] {
  return [
    keep(watchId, `condition/${id}`, ''),
    keep(watchId, `condition/${id}/event`, ''),
    entity(watchId, 'binary_sensor', `condition_${id}`, ''),
  ];
}

function entity(watchId: string, component: string, name: string, payload: string): Publication {
  const topic = `homeassistant/${component}/watchpost_${watchId}/${name}/config`;
  return { topic, payload, retain: true };
}

/** Announces the entities of all conditions. */
function discover({ watchId, watchName, conditions }: Notification, topic: string): Publication[] {
  const shared = {
    device: {
      identifiers: [`watchpost_${watchId}`],
      name: shorten(watchName, 120),
      manufacturer: 'Watchpost',
    },
    origin: { name: 'Watchpost' },
    availability_topic: `${topic}/availability`,
  };
  const config = (component: string, name: string, content: object): Publication => {
    const payload = JSON.stringify({ unique_id: `watchpost_${watchId}_${name}`, ...content, ...shared });
    return { ...entity(watchId, component, name, payload), isOptional: true };
  };
  return [
    ...conditions.map(({ condition_id: id, condition }) =>
      config('binary_sensor', `condition_${id}`, {
        name: shorten(condition, 120),
        state_topic: `${topic}/condition/${id}`,
        expire_after: rules.brokerExpirySeconds,
        json_attributes_topic: `${topic}/condition/${id}/event`,
      }),
    ),
    config('binary_sensor', 'stream', {
      name: 'Stream',
      device_class: 'connectivity',
      state_topic: `${topic}/stream`,
      expire_after: rules.brokerExpirySeconds,
    }),
    config('camera', 'frame', { name: 'Evidence', topic: `${topic}/frame` }),
  ];
}

/** Returns the conditions that the event reports as removed. */
function findRemoved({ type, data }: Notification['event']): string[] {
  if (type === 'watch_changed') return data.removed_conditions ?? [];
  return type === 'alert_closed' && data.reason === 'removed' ? [data.condition_id] : [];
}

/**
 * Returns the states of all entities at the attempt, whatever the event: a retry of an old closing must not switch off
 * the sensor of the next alert. The newest event of an alert is an attribute of its sensor.
 */
function states({ watchId, event, conditions }: Notification, current: Current, json: string): Publication[] {
  const alert = findAlert(event);
  return [
    ...toStates(watchId, conditions, current),
    toPresence(watchId, true),
    ...(alert === null ? [] : [keep(watchId, `condition/${alert.condition_id}/event`, json)]),
  ];
}

type Current = NonNullable<Notification['current']>;

function toState(isOn: boolean): string {
  return isOn ? 'ON' : 'OFF';
}

export function toStates(
  watchId: string,
  conditions: readonly { condition_id: string }[],
  { openConditions, isStreamLost }: Current,
): Publication[] {
  return [
    keep(watchId, 'stream', toState(!isStreamLost)),
    ...conditions.map(({ condition_id: id }) =>
      keep(watchId, `condition/${id}`, toState(openConditions.includes(id))),
    ),
  ];
}

/** Returns the message by which Home Assistant learns that the service watches, or that it has ended. */
export function toPresence(watchId: string, isOnline: boolean): Publication {
  return keep(watchId, 'availability', isOnline ? 'online' : 'offline');
}

function keep(watchId: string, name: string, payload: string): Publication {
  return { topic: `watchpost/${watchId}/${name}`, payload, retain: true };
}
