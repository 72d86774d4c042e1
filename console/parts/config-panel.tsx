import { CopyButton } from './copy-button.tsx';
import { Panel } from './panel.tsx';

type Props = {
  /** Name of the id, such as "Job id". */
  idName: string;
  id: string;
  /** Names and values of the configuration. */
  labels: readonly (readonly [name: string, value: string])[];
  aside?: string | undefined;
};

/** Shows the configuration of a job or a watch. */
export function ConfigPanel({ idName, id, labels, aside }: Props) {
  return (
    <Panel title="Configuration" aside={aside}>
      <dl class="pairs">
        <div>
          <dt>{idName}</dt>
          <dd class="mono">
            {id} <CopyButton text={id} what={idName} />
          </dd>
        </div>
        {labels.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
