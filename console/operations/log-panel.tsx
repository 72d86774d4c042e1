import { useState } from 'preact/hooks';
import { useResource } from '../api/use-resource.ts';
import type { LogLevel } from '../api/types.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { EmptyState, Panel, Skeleton } from '../parts/panel.tsx';
import { Checkbox, Field, Select, TextInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { Clock } from '../time/when.tsx';
import { logLines, type LogLine } from './operations-data.ts';

const everyMs = 4_000;

const levels: { value: LogLevel | 'any'; label: string }[] = [
  { value: 'any', label: 'All' },
  { value: 'ERROR', label: 'Error' },
  { value: 'WARNING', label: 'Warning' },
  { value: 'INFO', label: 'Info' },
  { value: 'DEBUG', label: 'Debug' },
];

const tones: Record<LogLevel, Tone> = { ERROR: 'bad', WARNING: 'warn', INFO: 'neutral', DEBUG: 'neutral' };

/** Shows recent log entries, filtered by level and job. */
export function LogPanel() {
  const { api } = useSession();
  const [level, setLevel] = useState<LogLevel | 'any'>('any');
  const [job, setJob] = useState('');
  const [live, setLive] = useState(true);
  const { value, problem, reload } = useResource(
    (signal) => api.logs(level === 'any' ? undefined : level, signal),
    [level],
    live ? everyMs : undefined,
  );
  const lines = logLines(value?.logs ?? [], job);
  return (
    <Panel title="Log" aside={<Checkbox label="Refresh automatically" checked={live} onChecked={setLive} />}>
      <div class="row filters">
        <Field label="Level">
          {(ids) => <Select {...ids} value={level} onValue={setLevel} options={levels} />}
        </Field>
        <Field label="Job or watch">
          {(ids) => (
            <TextInput {...ids} value={job} onValue={setJob} placeholder="First 8 characters of its id" />
          )}
        </Field>
      </div>
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton rows={6} />}
      {value && lines.length === 0 && <EmptyState icon="text" title="No matching entries" />}
      {lines.length > 0 && (
        <ol class="log" tabIndex={0} aria-label="Log entries, newest first">
          {lines.map((line, index) => (
            <Line key={`${line.time} ${index}`} line={line} onJob={setJob} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Line({ line, onJob }: { line: LogLine; onJob: (job: string) => void }) {
  const { job } = line;
  return (
    <li>
      <Clock at={line.time} />
      <Badge tone={tones[line.level]}>{line.level.toLowerCase()}</Badge>
      <span class="anywhere">
        {job !== null && (
          <button type="button" class="chip mono" onClick={() => onJob(job)}>
            <span class="visually-hidden">Only entries of </span>
            {job}
          </button>
        )}
        {line.text}
      </span>
    </li>
  );
}
