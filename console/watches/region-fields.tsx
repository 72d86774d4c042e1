import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Field, Select, TextInput } from '../parts/field.tsx';
import { addCorner, moveCorner, parseCorners, type RegionDraft } from './region-text.ts';

const maxRegions = 4;
const modes = [
  { value: 'include', label: 'Watch inside' },
  { value: 'exclude', label: 'Hide inside' },
] as const;

type Props = {
  /** Picture on which they are drawn; absent without one. */
  picture: ComponentChildren;
  regions: RegionDraft[];
  onChange: (regions: RegionDraft[]) => void;
};

/**
 * Edits regions: a click on the newest frame adds a corner to the chosen one, and its corners can be dragged; the
 * corners are also text, for the keyboard.
 */
export function RegionFields({ picture, regions, onChange }: Props) {
  const [chosen, setChosen] = useState(0);
  const chosenIndex = Math.min(chosen, regions.length - 1);
  const add = (mode: RegionDraft['mode']) => {
    onChange([...regions, { mode, corners: '' }]);
    setChosen(regions.length);
  };
  const click = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const region = regions[chosenIndex];
    if (!region) return;
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const next = addCorner(region, (event.clientX - left) / width, (event.clientY - top) / height);
    onChange(regions.with(chosenIndex, next));
  };
  return (
    <fieldset class="stack framed">
      <legend>Regions</legend>
      {picture && regions.length > 0 && (
        <div class="over-picture region-canvas">
          {picture}
          <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true" onClick={click}>
            {regions.map(({ mode, corners }, index) => (
              <polygon
                key={index}
                class={index === chosenIndex ? `${mode} chosen` : mode}
                points={(parseCorners(corners) ?? []).map((point) => point.join()).join(' ')}
              />
            ))}
          </svg>
          {(parseCorners(regions[chosenIndex]?.corners ?? '') ?? []).map((point, corner) => (
            <Corner
              key={corner}
              point={point}
              onMove={(x, y) => {
                const region = regions[chosenIndex];
                if (region) onChange(regions.with(chosenIndex, moveCorner(region, corner, x, y)));
              }}
            />
          ))}
        </div>
      )}
      {regions.map((region, index) => (
        <div key={index} class="field-grid">
          <Field label={`Region ${index + 1}`}>
            {(ids) => (
              <Select
                {...ids}
                value={region.mode}
                onValue={(mode) => onChange(regions.with(index, { ...region, mode }))}
                options={[...modes]}
              />
            )}
          </Field>
          <Field
            label={`Corners of region ${index + 1} (%)`}
            name={`regions.${index}`}
            hint="From the top left: 10 20, 90 20, 90 80"
            error={parseCorners(region.corners) ? undefined : 'Use pairs of numbers from 0 to 100'}
          >
            {(ids) => (
              <TextInput
                {...ids}
                value={region.corners}
                onValue={(corners) => onChange(regions.with(index, { ...region, corners }))}
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
            <Button small onClick={() => onChange(regions.with(index, { ...region, corners: '' }))}>
              Clear<span class="visually-hidden"> region {index + 1}</span>
            </Button>
            <Button small kind="danger" onClick={() => onChange(regions.toSpliced(index, 1))}>
              Remove region {index + 1}
            </Button>
          </div>
        </div>
      ))}
      {regions.length > 0 && (
        <p class="small muted">
          Click on the frame to add corners to region {chosenIndex + 1}, and drag them. Hidden areas are black
          everywhere.
        </p>
      )}
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

type CornerProps = { point: [number, number]; onMove: (x: number, y: number) => void };

/** Corner that the pointer drags. Not for the keyboard, which has the text. */
function Corner({ point: [x, y], onMove }: CornerProps) {
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const canvas = event.currentTarget.parentElement;
    if (!canvas || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    onMove((event.clientX - left) / width, (event.clientY - top) / height);
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
