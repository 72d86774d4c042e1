import type {
  Alarms,
  CheckOnceRequest,
  EvidenceBox,
  InputMode,
  LoggedEvent,
  Logs,
  StreamedEvent,
  SummaryGenerated,
  SummaryGeneratedWithPicture,
  WatchTriggered,
  WatchTriggeredWithPicture,
} from '../../client/openapi-types.ts';

/** Types of the API, from the client, and names for parts of them. */

export type * from '../../client/openapi-types.ts';

/** Event from a page of the log or from the event stream: the one links to its image, the other contains it. */
export type JobEvent = LoggedEvent | StreamedEvent;
export type AlertEvent = WatchTriggered | WatchTriggeredWithPicture;
export type SummaryEvent = SummaryGenerated | SummaryGeneratedWithPicture;

/** Check request of the console, which always sets the mode. */
export type CheckRequest = CheckOnceRequest & { input_mode: InputMode };

/** Objects of a picture, in shares of its width and height. */
export type Boxes = EvidenceBox[];
export type Alarm = NonNullable<Alarms['alarms']>[number];
export type LogEntry = Logs['logs'][number];
