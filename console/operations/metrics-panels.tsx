import { useResource } from '../api/use-resource.ts';
import type { Metrics } from '../api/types.ts';
import { pluralize } from '../time/format.ts';
import { TableHead, Panel, Stat, Stats, Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { When } from '../time/when.tsx';
import { savings } from './operations-data.ts';

const everyMs = 5_000;

/** Shows job, webhook, pre-filter and model metrics. */
export function MetricsPanels() {
  const { api } = useSession();
  const { value, problem, reload } = useResource((signal) => api.metrics(signal), [], everyMs);
  if (problem && problem.status !== 0) return <ProblemNote problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton rows={4} />;
  return (
    <>
      <Numbers metrics={value} />
      <div class="columns">
        <Savings frames={value.frames} />
        <Providers providers={value.providers} />
      </div>
    </>
  );
}

function Numbers({ metrics: { jobs, webhooks, mails, media, started_at: startedAt } }: { metrics: Metrics }) {
  return (
    <Stats>
      <Stat
        label="Jobs created"
        value={jobs.created.toLocaleString()}
        note={
          <>
            since <When at={startedAt} />
          </>
        }
      />
      <Stat label="Jobs completed" value={jobs.completed.toLocaleString()} />
      <Stat label="Jobs failed" value={<Bad count={jobs.failed} />} />
      <Stat label="Webhooks sent" value={webhooks.sent.toLocaleString()} />
      <Stat label="Webhooks failed" value={<Bad count={webhooks.failed} />} />
      <Stat label="Mails sent" value={mails.sent.toLocaleString()} />
      <Stat label="Mails failed" value={<Bad count={mails.failed} />} />
      {media && (
        <Stat
          label="Pictures on disk"
          value={media.bytes === null ? '–' : megabytes(media.bytes)}
          note={media.max_bytes === null ? 'without a maximum' : `of ${megabytes(media.max_bytes)}`}
        />
      )}
      {media && (
        <Stat
          label="Pictures removed before their time"
          value={<Bad count={media.evidence_removed} />}
          note="WATCHPOST_MEDIA_MB"
        />
      )}
    </Stats>
  );
}

function Savings({ frames }: { frames: Metrics['frames'] }) {
  const share = savings(frames);
  return (
    <Panel title="Pre-filter savings">
      <p class="figure">{share === null ? '–' : `${Math.round(share * 100)} %`}</p>
      <progress
        class="meter"
        max={1}
        value={share ?? 0}
        aria-label="Share of captures that the pre-filter skipped"
      />
      <p class="small muted">
        {share === null
          ? 'No captures yet.'
          : `${pluralize(frames.skipped_prefilter, 'capture')} skipped, ${frames.captured.toLocaleString()} not skipped.`}
      </p>
    </Panel>
  );
}

function Providers({ providers }: { providers: Metrics['providers'] }) {
  return (
    <Panel title="Models">
      <table class="table">
        <TableHead columns={['Provider', 'Calls', 'Errors']} numbers={['Calls', 'Errors']} />
        <tbody>
          {Object.entries(providers).map(([name, { calls, errors }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{calls.toLocaleString()}</td>
              <td class="number">
                <Bad count={errors} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Bad({ count }: { count: number }) {
  return <span class={count > 0 ? 'bad-text' : ''}>{count.toLocaleString()}</span>;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString()} MB`;
}
