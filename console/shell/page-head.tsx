import type { ComponentChildren } from 'preact';

export function PageHead({
  title,
  lead,
  aside,
}: {
  title: ComponentChildren;
  lead?: ComponentChildren;
  aside?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {aside !== undefined && <div class="row gap-3">{aside}</div>}
    </div>
  );
}
