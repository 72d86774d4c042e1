import type { Watch } from '../api/types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Panel } from '../parts/panel.tsx';
import { watchConfigLabels } from './watch-config-labels.ts';

/** Shows the configuration of a watch. */
export function WatchConfig({ watch }: { watch: Watch }) {
  return (
    <Panel title="Configuration" aside={`Version ${watch.config_version}`}>
      <dl class="pairs">
        <div>
          <dt>Watch id</dt>
          <dd class="mono">
            {watch.watch_id} <CopyButton text={watch.watch_id} what="Watch id" />
          </dd>
        </div>
        {watchConfigLabels(watch).map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
