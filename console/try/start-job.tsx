import { useEffect, useState } from 'preact/hooks';
import {
  digestRequestFields,
  monitorRequestDefaults as defaults,
  monitorRequestFields,
} from '../../client/openapi-types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Form } from '../parts/form.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Panel, CodeBlock } from '../parts/panel.tsx';
import { useSession } from '../session/session.ts';
import { routeUrls, navigate } from '../shell/routes.ts';
import { NewWatch } from '../watches/new-watch.tsx';
import { digestRequest, monitorRequest, toNewWatch } from './draft.ts';
import type { Draft, Purpose } from './draft.ts';
import { basePath } from '../api/http.ts';
import { Tabs } from '../parts/tabs.tsx';
import { requestCode } from './request-code.ts';
import type { Language } from './request-code.ts';
import { NumberFields, prefilterSwitch, Switches } from '../parts/draft-fields.tsx';
import { Checkbox, Field, TextInput } from '../parts/field.tsx';
import { duration } from '../time/format.ts';

type Props = { draft: Draft; onChange: (part: Partial<Draft>) => void };

const purposes: { value: Purpose; label: string; hint: string }[] = [
  {
    value: 'monitor',
    label: 'Monitor',
    hint: 'Checks the stream repeatedly and alerts when the condition holds.',
  },
  { value: 'digest', label: 'Digest', hint: 'Summarizes the stream, one summary per time window.' },
  { value: 'look', label: 'Single check', hint: 'Shows the check above as a request for your own code.' },
];

/** Starts a job from the form, and shows the same request as code. */
export function StartJob({ draft, onChange }: Props) {
  const { api } = useSession();
  const [purpose, setPurpose] = useState<Purpose>('monitor');
  const starting = useAction(async () => {
    const { job_id: jobId } =
      purpose === 'digest'
        ? await api.startDigest(digestRequest(draft))
        : await api.startMonitor(monitorRequest(draft));
    navigate(routeUrls.job(jobId));
  });
  const [keeps, setKeeps] = useState(false);
  const { busy } = starting;
  // A problem of an earlier request would be misread as one of the new.
  useEffect(() => {
    if (busy) return;
    starting.clear();
  }, [purpose, draft]);
  const complete = draft.stream_url.trim() !== '' && (purpose === 'digest' || draft.condition.trim() !== '');
  return (
    <Panel title="Start a job">
      <div class="columns form-first">
        <Form action={starting} onSubmit={() => complete && !busy && starting.run()} label="Start a job">
          <Choice
            legend="Kind of request"
            hideLegend
            options={purposes}
            value={purpose}
            onValue={setPurpose}
          />
          {purpose !== 'look' && <JobFields purpose={purpose} draft={draft} onChange={onChange} />}
          {starting.problem && <ProblemNote problem={starting.problem} />}
          {purpose !== 'look' && (
            <>
              <div class="row">
                <Button kind="primary" type="submit" busy={starting.busy} disabled={!complete}>
                  {purpose === 'monitor' ? 'Start monitor' : 'Start digest'}
                </Button>
                {purpose === 'monitor' && (
                  <Button disabled={!complete || starting.busy} onClick={() => setKeeps(true)}>
                    Keep watching for good
                  </Button>
                )}
              </div>
              {purpose === 'monitor' && (
                <p class="small muted">
                  A watch has no duration and no maximum of alerts. It opens an alert for each visit that two
                  pictures show, and closes it when the visit has ended.
                </p>
              )}
              {!complete && (
                <p class="small muted">
                  {purpose === 'monitor'
                    ? 'Enter the stream URL and the condition above.'
                    : 'Enter the stream URL above.'}
                </p>
              )}
            </>
          )}
        </Form>
        <RequestTabs purpose={purpose} draft={draft} />
        {keeps && <NewWatch before={toNewWatch(draft)} onClose={() => setKeeps(false)} />}
      </div>
    </Panel>
  );
}

const names: Record<Language, string> = { curl: 'curl', typescript: 'TypeScript', python: 'Python' };
const languages = (['curl', 'typescript', 'python'] as const).map((value) => ({
  value,
  label: names[value],
}));
const verbs: Record<Purpose, string> = { look: 'Single check', monitor: 'Monitor', digest: 'Digest' };

/** Shows the request as code, one tab per language. */
function RequestTabs({ purpose, draft }: { purpose: Purpose; draft: Draft }) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = requestCode(purpose, draft, `${location.origin}${basePath}`);
  return (
    <div class="stack gap-2">
      <h3>The same request as code</h3>
      <Tabs label="Language" tabs={languages} value={language} onValue={setLanguage}>
        <CodeBlock code={code[language]} label={`${verbs[purpose]} in ${names[language]}`} />
      </Tabs>
      <p class="small muted">
        <code>WATCHPOST_API_KEY</code> is an environment variable with your key. All endpoints are in the{' '}
        <a href="/docs" target="_blank" rel="noreferrer">
          API reference
        </a>
        .
      </p>
    </div>
  );
}

/** Edits what a job does beside its stream and condition. */
function JobFields({ purpose, draft, onChange }: Props & { purpose: 'monitor' | 'digest' }) {
  const { max_job_seconds: maxSeconds } = useSession().service.limits;
  const isMonitor = purpose === 'monitor';
  const shared = {
    values: draft,
    onValue: (field: keyof Draft, value: number | boolean | null) => onChange({ ...draft, [field]: value }),
  };
  return (
    <>
      <div class="field-grid">
        {isMonitor ? (
          <NumberFields entries={listMonitorNumbers(maxSeconds)} bounds={monitorRequestFields} {...shared} />
        ) : (
          <NumberFields entries={listDigestNumbers(maxSeconds)} bounds={digestRequestFields} {...shared} />
        )}
      </div>
      <Switches entries={[isMonitor ? lookBackSwitch : gridSwitch, prefilterSwitch]} {...shared} />
      <WebhookFields draft={draft} onChange={onChange} />
    </>
  );
}

const listMonitorNumbers = (maxSeconds: number) =>
  [
    { field: 'interval_seconds', label: 'Interval (s)' },
    {
      field: 'monitor_duration_seconds',
      label: 'Duration (s)',
      hint: 'Up to the limit of this service',
      max: maxSeconds,
    },
    {
      field: 'trigger_cooldown_seconds',
      label: 'Cooldown (s)',
      hint: `Minimum time between alerts; the API’s default is ${defaults.trigger_cooldown_seconds}`,
    },
    {
      field: 'max_triggers',
      label: 'Maximum alerts',
      hint: `Empty: no limit; the API’s default is ${defaults.max_triggers ?? 'none'}`,
      empty: 'No limit',
    },
  ] as const;

const listDigestNumbers = (maxSeconds: number) =>
  [
    { field: 'window_minutes', label: 'Window (min)', hint: 'One summary each' },
    { field: 'capture_interval_seconds', label: 'Sample interval (s)' },
    {
      field: 'max_windows',
      label: 'Maximum windows',
      hint: `Empty: for ${duration(maxSeconds)}, the limit of this service`,
      empty: 'No limit',
    },
  ] as const;

const lookBackSwitch = {
  field: 'look_back',
  label: 'Scan the time between checks',
  hint: 'Judges visits that end before the next check, for more traffic and model calls; a watch always does',
} as const;
const gridSwitch = { field: 'include_frames', label: 'Frame grid with each summary' } as const;

function WebhookFields({ draft, onChange }: Props) {
  return (
    <>
      <Field label="Webhook URL" hint="Optional: Watchpost sends each event there, signed">
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="url"
            placeholder="https://example.com/hooks/watchpost"
            value={draft.webhook_url}
            onValue={(url) => onChange({ webhook_url: url })}
          />
        )}
      </Field>
      {draft.webhook_url.trim() !== '' && (
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
