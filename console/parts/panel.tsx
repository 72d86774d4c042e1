import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import { CopyButton } from './button.tsx';

type Props = {
  title: string;
  /** Content to the right of the title. */
  aside?: ComponentChildren;
  intro?: ComponentChildren;
  children: ComponentChildren;
};

export function Panel({ title, aside, intro, children }: Props) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="spread panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="row gap-3 small muted">{aside}</div>}
      </div>
      {intro !== undefined && <p class="muted panel-intro">{intro}</p>}
      {children}
    </section>
  );
}

export function Stats({ children }: { children: ComponentChildren }) {
  return <dl class="stats">{children}</dl>;
}

export function Stat({
  label,
  value,
  note,
}: {
  label: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div>
      <dt class="small muted">{label}</dt>
      <dd>
        <span class="value number">{value}</span>
        {note !== undefined && <p class="small muted">{note}</p>}
      </dd>
    </div>
  );
}

export function EmptyState({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty-state stack gap-2">
      <span>
        <Icon name={icon} />
      </span>
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Shows a placeholder for loading content. */
export function Skeleton({ rows = 3 }: { rows?: number }) {
  return (
    <div class="skeleton stack gap-3" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** Shows code with a copy button. Long lines scroll inside the block, so it accepts focus. */
export function CodeBlock({ code, label, wraps = false }: { code: string; label: string; wraps?: boolean }) {
  return (
    <div class={wraps ? 'code-block wraps' : 'code-block'}>
      <div class="spread small muted">
        <span aria-hidden="true">{label}</span>
        <CopyButton text={code} what={label} />
      </div>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
    </div>
  );
}

type TableHeadProps = {
  columns: readonly string[];
  /** Columns of numbers, which are aligned to the right. */
  numbers?: readonly string[];
};

export function TableHead({ columns, numbers = [] }: TableHeadProps) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col" class={numbers.includes(column) ? 'number' : undefined}>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}

type ConfigPanelProps = {
  /** Name of the id, such as "Job id". */
  idName: string;
  id: string;
  /** Names and values of the configuration. */
  labels: readonly (readonly [name: string, value: string])[];
  aside?: string | undefined;
};

/** Shows the configuration of a job or a watch. */
export function ConfigPanel({ idName, id, labels, aside }: ConfigPanelProps) {
  return (
    <Panel title="Configuration" aside={aside}>
      <dl class="pairs">
        <div>
          <dt class="muted">{idName}</dt>
          <dd class="mono anywhere">
            {id} <CopyButton text={id} what={idName} />
          </dd>
        </div>
        {labels.map(([name, value]) => (
          <div key={name}>
            <dt class="muted">{name}</dt>
            <dd class="anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
