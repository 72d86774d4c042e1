import { Checkbox, Field, NumberField, TextInput } from '../parts/field.tsx';
import { useSession } from '../session/session.ts';
import { duration } from '../time/format.ts';
import type { Draft } from './draft.ts';

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void };

/** Renders the fields of a monitor. */
export function MonitorFields({ draft, onChange }: Props) {
  const { max_job_seconds: maxSeconds } = useSession().service.limits;
  return (
    <>
      <div class="field-grid">
        <NumberField
          label="Interval (s)"
          hint="5 to 300"
          min={5}
          max={300}
          value={draft.intervalSeconds}
          onValue={(intervalSeconds) => onChange({ intervalSeconds })}
        />
        <NumberField
          label="Duration (s)"
          hint={`5 to ${maxSeconds}, the limit of this service`}
          min={5}
          max={maxSeconds}
          value={draft.durationSeconds}
          onValue={(durationSeconds) => onChange({ durationSeconds })}
        />
        <NumberField
          label="Cooldown (s)"
          hint="Minimum time between alerts; the API’s default is 0"
          min={0}
          max={3600}
          value={draft.cooldownSeconds}
          onValue={(cooldownSeconds) => onChange({ cooldownSeconds })}
        />
        <NumberField
          label="Maximum alerts"
          hint="Empty: no limit; the API’s default is 1"
          min={1}
          empty="No limit"
          value={draft.maxTriggers}
          onValue={(maxTriggers) => onChange({ maxTriggers })}
        />
      </div>
      <Checkbox
        label="Scan the time between checks"
        hint="Judges visits that end before the next check, for more traffic and model calls; a watch always does"
        checked={draft.lookBack}
        onChecked={(lookBack) => onChange({ lookBack })}
      />
      <Shared draft={draft} onChange={onChange} />
    </>
  );
}

/** Renders the fields of a digest. */
export function DigestFields({ draft, onChange }: Props) {
  const { max_job_seconds: maxSeconds } = useSession().service.limits;
  return (
    <>
      <div class="field-grid">
        <NumberField
          label="Window (min)"
          hint="One summary each, 1 to 60"
          min={1}
          max={60}
          value={draft.windowMinutes}
          onValue={(windowMinutes) => onChange({ windowMinutes })}
        />
        <NumberField
          label="Sample interval (s)"
          hint="10 to 300"
          min={10}
          max={300}
          value={draft.captureSeconds}
          onValue={(captureSeconds) => onChange({ captureSeconds })}
        />
        <NumberField
          label="Maximum windows"
          hint={`Empty: for ${duration(maxSeconds)}, the limit of this service`}
          min={1}
          empty="No limit"
          value={draft.maxWindows}
          onValue={(maxWindows) => onChange({ maxWindows })}
        />
      </div>
      <Checkbox
        label="Frame grid with each summary"
        checked={draft.includeFrames}
        onChecked={(includeFrames) => onChange({ includeFrames })}
      />
      <Shared draft={draft} onChange={onChange} />
    </>
  );
}

function Shared({ draft, onChange }: Props) {
  return (
    <>
      <Checkbox
        label="Motion pre-filter"
        hint="Skips the model call if there is no motion"
        checked={draft.prefilter}
        onChecked={(prefilter) => onChange({ prefilter })}
      />
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
