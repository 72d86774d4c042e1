import { apiNames, toPascal } from '../api-names.ts';
import { digestRecords } from './digest/records.ts';
import { monitorRecords } from './monitor/records.ts';

/** Schemas of all policies of jobs, and what others read of their records. */
export const jobRecords = { monitor: monitorRecords, digest: digestRecords };

/** Their own types of events. */
export const policyEvents = { ...monitorRecords.events, ...digestRecords.events };
for (const [type, { linked, streamed }] of Object.entries(policyEvents)) {
  apiNames.add(linked, { id: toPascal(type) });
  apiNames.add(streamed, { id: `${toPascal(type)}WithPicture` });
}

/** Numbers and lists that only jobs of one policy have, in responses. */
export const policyNumbers = { ...monitorRecords.numbers, ...digestRecords.numbers };
export const policyLists = { ...monitorRecords.lists, ...digestRecords.lists };
