import type { JobDetail } from '../api/types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Panel } from '../parts/panel.tsx';

/** What the job was asked for, after defaults and caps. */
export function JobConfig({ job }: { job: JobDetail }) {
  return (
    <Panel title="Configuration">
      <dl class="pairs">
        <div>
          <dt>Job id</dt>
          <dd class="mono">
            {job.job_id} <CopyButton text={job.job_id} what="Job id" />
          </dd>
        </div>
        {Object.entries(job.config).map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>{words(value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function words(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return 'no limit';
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}
