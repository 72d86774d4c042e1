import type { JobDetail } from '../api/types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Panel } from '../parts/panel.tsx';
import { configLabels } from './config-labels.ts';

/** Shows the configuration of a job after defaults and caps. */
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
        {configLabels(job.config).map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
