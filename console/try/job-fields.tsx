import { NumberFields, prefilterSwitch, Switches } from '../parts/draft-fields.tsx';
import { Checkbox, Field, TextInput } from '../parts/field.tsx';
import { useSession } from '../session/session.ts';
import { duration } from '../time/format.ts';
import type { Draft } from './draft.ts';

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void };

/** Renders the fields of a monitor. */
export function MonitorFields({ draft, onChange }: Props) {
  const { max_job_seconds: maxSeconds } = useSession().service.limits;
  const numbers = [
    { field: 'intervalSeconds', label: 'Interval (s)', hint: '5 to 300', min: 5, max: 300 },
    {
      field: 'durationSeconds',
      label: 'Duration (s)',
      hint: `5 to ${maxSeconds}, the limit of this service`,
      min: 5,
      max: maxSeconds,
    },
    {
      field: 'cooldownSeconds',
      label: 'Cooldown (s)',
      hint: 'Minimum time between alerts; the API’s default is 0',
      min: 0,
      max: 3600,
    },
    {
      field: 'maxTriggers',
      label: 'Maximum alerts',
      hint: 'Empty: no limit; the API’s default is 1',
      min: 1,
      empty: 'No limit',
    },
  ] as const;
  return (
    <>
      <NumberFields
        entries={numbers}
        values={draft}
        onValue={(field, value) => onChange({ ...draft, [field]: value })}
      />
      <Switches
        entries={[
          {
            field: 'lookBack',
            label: 'Scan the time between checks',
            hint: 'Judges visits that end before the next check, for more traffic and model calls; a watch always does',
          },
          prefilterSwitch,
        ]}
        values={draft}
        onValue={(field, value) => onChange({ ...draft, [field]: value })}
      />
      <WebhookFields draft={draft} onChange={onChange} />
    </>
  );
}

/** Renders the fields of a digest. */
export function DigestFields({ draft, onChange }: Props) {
  const { max_job_seconds: maxSeconds } = useSession().service.limits;
  const numbers = [
    {
      field: 'windowMinutes',
      label: 'Window (min)',
      hint: 'One summary each, 1 to 60',
      min: 1,
      max: 60,
    },
    { field: 'captureSeconds', label: 'Sample interval (s)', hint: '10 to 300', min: 10, max: 300 },
    {
      field: 'maxWindows',
      label: 'Maximum windows',
      hint: `Empty: for ${duration(maxSeconds)}, the limit of this service`,
      min: 1,
      empty: 'No limit',
    },
  ] as const;
  return (
    <>
      <NumberFields
        entries={numbers}
        values={draft}
        onValue={(field, value) => onChange({ ...draft, [field]: value })}
      />
      <Switches
        entries={[{ field: 'includeFrames', label: 'Frame grid with each summary' }, prefilterSwitch]}
        values={draft}
        onValue={(field, value) => onChange({ ...draft, [field]: value })}
      />
      <WebhookFields draft={draft} onChange={onChange} />
    </>
  );
}

function WebhookFields({ draft, onChange }: Props) {
  return (
    <>
      <Field label="Webhook URL" hint="Optional: Watchpost sends each event there, signed">
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="url"
            placeholder="https://example.com/hooks/watchpost"
            value={draft.webhookUrl}
            onValue={(webhookUrl) => onChange({ webhookUrl })}
          />
        )}
      </Field>
      {draft.webhookUrl.trim() !== '' && (
        <Checkbox
          label="Webhook for alerts only"
          hint="Sends alerts, summaries and errors, not the start and end of the job"
          checked={draft.alertsOnly}
          onChecked={(alertsOnly) => onChange({ alertsOnly })}
        />
      )}
    </>
  );
}
