import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import { useSession } from '../session/session.ts';
import { Icon } from './icon.tsx';
import type { Boxes } from '../api/types.ts';

/** Shows an image that requires the key. If it cannot be loaded, shows a placeholder with the reason. */
export function ProtectedPicture({
  path,
  alt,
  version,
  saysWhy = false,
}: {
  path: string;
  alt: string;
  version?: string;
  /** Shows the reason too, where there is space. */
  saysWhy?: boolean;
}) {
  const { pictures } = useSession();
  const [state, setState] = useState<{ address?: string; problem?: string }>({});
  const wanted = version === undefined ? path : `${path}?at=${encodeURIComponent(version)}`;
  useEffect(() => {
    let wantedStill = true;
    pictures.urlFor(wanted).then(
      (address) => wantedStill && setState({ address }),
      (error: unknown) => wantedStill && setState({ problem: asProblem(error).message }),
    );
    return () => {
      wantedStill = false;
    };
  }, [wanted]);
  if (state.address !== undefined) return <img class="picture" src={state.address} alt={alt} />;
  return (
    <span class="picture missing" role="img" aria-label={state.problem ?? `${alt}: loading`}>
      <Icon name="camera" />
      {saysWhy && state.problem !== undefined && <span class="small">{state.problem}</span>}
    </span>
  );
}

/** A light line on a dark one is visible on any background. */
const boxLines = [
  { class: 'ground', stroke: '#000', 'stroke-width': 5 },
  { class: 'line', stroke: '#0f0', 'stroke-width': 2.5 },
];

/** Shows a picture with the boxes of its objects drawn over it, in shares of the picture. */
export function BoxedPicture({ address, alt, boxes }: { address: string; alt: string; boxes: Boxes }) {
  if (boxes.length === 0) return <img class="picture" src={address} alt={alt} />;
  return (
    <figure>
      <span class="over-picture boxed-picture">
        <img class="picture" src={address} alt={alt} />
        <svg viewBox="0 0 1 1" preserveAspectRatio="none" fill="none" aria-hidden="true">
          {boxes.flatMap(({ x, y, width, height }, index) =>
            boxLines.map((line) => (
              <rect
                {...line}
                key={`${index} ${line.class}`}
                vector-effect="non-scaling-stroke"
                x={x}
                y={y}
                width={width}
                height={height}
              />
            )),
          )}
        </svg>
      </span>
      <figcaption class="small muted">
        Boxes: {boxes.map(({ label, score }) => `${label} ${score.toFixed(2)}`).join(', ')}
      </figcaption>
    </figure>
  );
}

/** Shows the newest frame of a job or watch, whose image is at `path`. */
export function LastFrame({ path, at, alt }: { path: string; at: string | null; alt: string }) {
  return (
    <span class="thumbnail">
      {at === null ? (
        <span class="picture missing">
          <Icon name="camera" />
        </span>
      ) : (
        <ProtectedPicture path={path} version={at} alt={alt} />
      )}
    </span>
  );
}
