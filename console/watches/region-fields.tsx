import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Field, Select, TextInput } from '../parts/field.tsx';
import {
  addCorner,
  maxRegions,
  moveCorner,
  parseCorners,
  toRectangle,
  type RegionDraft,
} from './region-text.ts';

const modes = [
  { value: 'include', label: 'Watch inside' },
  { value: 'exclude', label: 'Hide inside' },
] as const;

const paints = {
  include: { fill: 'rgb(255 255 255 / 12%)', stroke: 'white' },
  exclude: { fill: 'rgb(0 0 0 / 75%)', stroke: 'black' },
};

type Props = {
  /** Picture on which they are drawn; absent without one. */
  picture: ComponentChildren;
  regions: RegionDraft[];
  /** True if the newest region is to be drawn, and the picture scrolls into view. */
  shownFirst?: boolean | undefined;
  onChange: (regions: RegionDraft[]) => void;
};

/**
 * Edits regions: on the newest frame, a drag draws the chosen one as a rectangle while it is empty, a click adds a
 * corner, and corners can be dragged; the corners are also text, for the keyboard.
 */
export function RegionFields({ picture, regions, shownFirst = false, onChange }: Props) {
  const [chosen, setChosen] = useState(shownFirst ? regions.length - 1 : 0);
  const chosenIndex = Math.min(chosen, regions.length - 1);
  const canvas = useRef<HTMLDivElement>(null);
  const before = useRef(shownFirst ? 0 : regions.length);
  useEffect(() => {
    if (regions.length > before.current) canvas.current?.scrollIntoView({ block: 'center' });
    before.current = regions.length;
  }, [regions.length]);
  const add = (mode: RegionDraft['mode']) => {
    onChange([...regions, { mode, corners: '' }]);
    setChosen(regions.length);
  };
  const region = regions[chosenIndex];
  const isEmpty = region?.corners.trim() === '';
  const draw = (next: RegionDraft) => onChange(regions.with(chosenIndex, next));
  const begin = useRef<{ point: Point; draws: boolean } | undefined>(undefined);
  const drag = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const point = toShares(event, event.currentTarget);
    if (event.type === 'pointerdown') begin.current = { point, draws: isEmpty };
    else if (region && begin.current?.draws && event.buttons !== 0 && isDrag(begin.current.point, point)) {
      event.currentTarget.setPointerCapture(event.pointerId);
      draw(toRectangle(region, begin.current.point, point));
    }
  };
  const click = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const point = toShares(event, event.currentTarget);
    // The click that ends a drag adds no corner.
    if (region && !(begin.current && isDrag(begin.current.point, point))) draw(addCorner(region, ...point));
    begin.current = undefined;
  };
  return (
    <fieldset class="stack framed">
      <legend>Regions</legend>
      {region && (
        <p class="small muted">
          {isEmpty
            ? `Drag over the picture to draw region ${chosenIndex + 1}, or click its corners.`
            : `Drag the corners of region ${chosenIndex + 1}, or click to add one; clear it to draw it again.`}{' '}
          Hidden areas are black everywhere.
        </p>
      )}
      {picture && region && (
        <div ref={canvas} class="over-picture region-canvas">
          {picture}
          <svg
            viewBox="0 0 1 1"
            preserveAspectRatio="none"
            aria-hidden="true"
            class={isEmpty ? 'empty' : undefined}
            onPointerDown={drag}
            onPointerMove={drag}
            onClick={click}
          >
            {regions.map(({ mode, corners }, index) => (
              <polygon
                key={index}
                {...paints[mode]}
                {...(index === chosenIndex && { stroke: 'var(--accent)' })}
                stroke-width="2"
                vector-effect="non-scaling-stroke"
                points={(parseCorners(corners) ?? []).map((point) => point.join()).join(' ')}
              />
            ))}
          </svg>
          {(parseCorners(region.corners) ?? []).map((point, corner) => (
            <Corner key={corner} point={point} onMove={(...to) => draw(moveCorner(region, corner, ...to))} />
          ))}
        </div>
      )}
      {regions.map((each, index) => (
        <div key={index} class="field-grid">
          <Field label={`Region ${index + 1}`}>
            {(ids) => (
              <Select
                {...ids}
                value={each.mode}
                onValue={(mode) => onChange(regions.with(index, { ...each, mode }))}
                options={[...modes]}
              />
            )}
          </Field>
          <Field
            label={`Corners of region ${index + 1} (%)`}
            name={`regions.${index}`}
            hint="From the top left: 10 20, 90 20, 90 80"
            error={parseCorners(each.corners) ? undefined : 'Use pairs of numbers from 0 to 100'}
          >
            {(ids) => (
              <TextInput
                {...ids}
                value={each.corners}
                onValue={(corners) => onChange(regions.with(index, { ...each, corners }))}
                required
              />
            )}
          </Field>
          <div class="row">
            {index !== chosenIndex && (
              <Button small onClick={() => setChosen(index)}>
                Draw region {index + 1}
              </Button>
            )}
            <Button small onClick={() => onChange(regions.with(index, { ...each, corners: '' }))}>
              Clear<span class="visually-hidden"> region {index + 1}</span>
            </Button>
            <Button small kind="danger" onClick={() => onChange(regions.toSpliced(index, 1))}>
              Remove region {index + 1}
            </Button>
          </div>
        </div>
      ))}
      {regions.length < maxRegions && (
        <div class="row">
          <Button small onClick={() => add('include')}>
            Add region to watch
          </Button>
          <Button small onClick={() => add('exclude')}>
            Add region to hide
          </Button>
        </div>
      )}
    </fieldset>
  );
}

type Point = [x: number, y: number];

/** Returns the place of the pointer in an element, in shares of it. */
function toShares({ clientX, clientY }: MouseEvent, element: Element): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [(clientX - left) / width, (clientY - top) / height];
}

/** Returns true for a way too long for a click. */
function isDrag([x, y]: Point, [toX, toY]: Point): boolean {
  return Math.max(Math.abs(toX - x), Math.abs(toY - y)) > 0.02;
}

type CornerProps = { point: Point; onMove: (...to: Point) => void };

/** Corner that the pointer drags. Not for the keyboard, which has the text. */
function Corner({ point: [x, y], onMove }: CornerProps) {
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const canvas = event.currentTarget.parentElement;
    if (!canvas || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onMove(...toShares(event, canvas));
  };
  return (
    <span
      class="corner"
      style={{ left: `${x * 100}%`, top: `${y * 100}%` }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    />
  );
}
