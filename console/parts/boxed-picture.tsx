import type { Boxes } from '../api/types.ts';

/** Shows a picture with the boxes of its objects drawn over it, in shares of the picture. */
export function BoxedPicture({ address, alt, boxes }: { address: string; alt: string; boxes: Boxes }) {
  if (boxes.length === 0) return <img class="picture" src={address} alt={alt} />;
  return (
    <figure class="boxed">
      <span class="boxed-picture">
        <img class="picture" src={address} alt={alt} />
        <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {boxes.flatMap(({ x, y, width, height }, index) =>
            ['ground', 'line'].map((kind) => (
              <rect key={`${index} ${kind}`} class={kind} x={x} y={y} width={width} height={height} />
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
