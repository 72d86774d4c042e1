import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

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
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </div>
      {intro !== undefined && <p class="muted panel-intro">{intro}</p>}
      {children}
    </section>
  );
}
