import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Button } from '../parts/button.tsx';
import { NumberFields, prefilterSwitch, Switches } from '../parts/draft-fields.tsx';
import { Checkbox, Field, NumberField, TextArea, TextInput } from '../parts/field.tsx';
import { Fold } from '../parts/fold.tsx';
import { InputFields } from '../parts/input-fields.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { ConditionFields, ConditionRules } from './condition-fields.tsx';
import { timeZone } from '../time/format.ts';
import { summarizeFolds } from './fold-summaries.ts';
import { StreamCard, useStreamValidation } from '../try/stream-card.tsx';
import { RegionFields } from './region-fields.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { newCondition } from './watch-draft.ts';
import type { ConditionDraft, WatchDraft } from './watch-draft.ts';

const maxConditions = 8;

type Props = {
  /** State at the opening of the form. */
  before: WatchDraft;
  draft: WatchDraft;
  onDraft: (draft: WatchDraft) => void;
  /** Path of the newest frame; absent for a new watch, whose stream is shown while it is entered. */
  framePath?: string | undefined;
  /** Absent if the service discovers no cameras. */
  onFindCamera?: (() => void) | undefined;
  /** Fields of the destinations. */
  whom: ComponentChildren;
  /** True if the form opens at its regions. */
  drawsFirst?: boolean | undefined;
};

/** Renders the fields of a watch: what everybody sets, then folded parts. */
export function WatchForm({ before, draft, onDraft, framePath, onFindCamera, whom, drawsFirst }: Props) {
  const change = (part: Partial<WatchDraft>) => onDraft({ ...draft, ...part });
  const changeField = (field: keyof WatchDraft, value: number | boolean | null) =>
    onDraft({ ...draft, [field]: value });
  const setCondition = (index: number, next: ConditionDraft) =>
    change({ conditions: draft.conditions.with(index, next) });
  const summaries = summarizeFolds(draft);
  const isOther = before.streamUrl !== draft.streamUrl || before.name === '';
  const check = useStreamValidation(isOther ? draft.streamUrl.trim() : '');
  const address = useBlobAddress(check.state === 'known' ? check.stream.frame_b64 : undefined);
  const alt = 'Newest frame, on which regions are drawn';
  const picture =
    address !== undefined ? (
      <img class="picture" src={address} alt={alt} />
    ) : (
      framePath !== undefined && <ProtectedPicture path={framePath} alt={alt} />
    );
  return (
    <>
      <Field label="Name" name="name">
        {(ids) => (
          <TextInput
            {...ids}
            placeholder="Front door"
            value={draft.name}
            onValue={(name) => change({ name })}
            maxLength={120}
            required
          />
        )}
      </Field>
      <Field
        label="Stream URL"
        name="stream_url"
        {...(draft.streamUrl.includes('***') && {
          hint: 'The masked password stays unless you enter another URL',
        })}
      >
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="url"
            value={draft.streamUrl}
            onValue={(streamUrl) => change({ streamUrl })}
            required
          />
        )}
      </Field>
      <StreamCard check={check} />
      {onFindCamera && (
        <div class="row">
          <Button small onClick={onFindCamera}>
            Find a camera
          </Button>
        </div>
      )}
      {before.streamUrl !== draft.streamUrl && framePath !== undefined && draft.regions.length > 0 && (
        <RegionsFit key={draft.streamUrl} onRemove={() => change({ regions: [] })} />
      )}
      {draft.conditions.map((condition, index) => (
        <ConditionFields
          key={index}
          label={draft.conditions.length === 1 ? 'Condition' : `Condition ${index + 1}`}
          name={`conditions.${index}`}
          condition={condition}
          onChange={(next) => setCondition(index, next)}
          onRemove={
            draft.conditions.length > 1
              ? () => change({ conditions: draft.conditions.toSpliced(index, 1) })
              : undefined
          }
          onSchedule={(spans) => change({ schedule: { timeZone, spans } })}
        />
      ))}
      {draft.conditions.length < maxConditions && (
        <div class="row">
          <Button small onClick={() => change({ conditions: [...draft.conditions, newCondition] })}>
            Add condition
          </Button>
        </div>
      )}
      {whom}
      <Checkbox
        label="Film each alert"
        hint="With some seconds before and after its opening"
        checked={draft.clipBefore !== 0 || draft.clipAfter !== 0}
        onChecked={(isOn) =>
          change(isOn ? { clipBefore: null, clipAfter: null } : { clipBefore: 0, clipAfter: 0 })
        }
      />
      <Fold title="Picture and regions" summary={summaries.picture} open={drawsFirst}>
        <RegionFields
          picture={picture}
          regions={draft.regions}
          shownFirst={drawsFirst}
          onChange={(regions) => change({ regions })}
        />
        <InputFields mode={draft.mode} clipSeconds={draft.clipSeconds} onChange={change} />
        <Switches entries={switches} values={draft} onValue={changeField} />
      </Fold>
      <Fold title="Rules" summary={summaries.rules}>
        {draft.conditions.map((condition, index) => (
          <ConditionRules
            key={index}
            name={`conditions.${index}`}
            condition={condition}
            onChange={(next) => setCondition(index, next)}
          />
        ))}
        <NumberField
          label="Second look after (s)"
          name="confirm_seconds"
          hint="Before an alert opens, 1 to the interval"
          min={1}
          max={draft.intervalSeconds ?? 300}
          value={draft.confirmSeconds}
          onValue={(confirmSeconds) => change({ confirmSeconds })}
        />
        <Field
          label="Labels"
          name="labels"
          hint="One per line, at most 8: they are in events and filter lists"
        >
          {(ids) => <TextArea {...ids} value={draft.labels} onValue={(labels) => change({ labels })} />}
        </Field>
      </Fold>
      <Fold title="When" summary={summaries.when}>
        <ScheduleFields schedule={draft.schedule} onChange={(schedule) => change({ schedule })} />
      </Fold>
      <Fold title="Cost" summary={summaries.cost}>
        <NumberFields entries={numbers} values={draft} onValue={changeField} />
        <Switches entries={[prefilterSwitch]} values={draft} onValue={changeField} />
      </Fold>
    </>
  );
}

/** Asks whether regions fit the picture of another stream. The form is not sent without an answer. */
function RegionsFit({ onRemove }: { onRemove: () => void }) {
  const [fit, setFit] = useState(false);
  return (
    <div class="note stack" role="group" aria-label="Regions of another stream">
      <p>The regions were drawn on the picture of the stream before. Do they still fit?</p>
      <Checkbox label="They fit" checked={fit} onChecked={setFit} required />
      <div class="row">
        <Button small onClick={onRemove}>
          Remove the regions
        </Button>
      </div>
    </div>
  );
}

const switches = [
  {
    field: 'lookBack',
    label: 'Scan the time between checks',
    hint: 'Judges also what came and went since the last check; a stream that comes in one size only is read whole, with the traffic of a player',
  },
  {
    field: 'follow',
    label: 'Check as soon as something moves',
    hint: 'Follows an HLS stream with the bandwidth of a player; an RTSP stream is followed in any case',
  },
  {
    field: 'scene',
    label: 'Describe kept pictures',
    hint: 'A sentence on what is visible, whatever the conditions: the search finds it',
  },
] as const;

const numbers = [
  { field: 'intervalSeconds', label: 'Interval (s)', hint: 'Between checks, 5 to 300', min: 5, max: 300 },
  {
    field: 'modelCalls',
    name: 'budget.model_calls_per_day',
    label: 'Model calls per day',
    hint: 'Budget; the checks stop beyond it',
    min: 1,
    max: 1_000_000,
    empty: 'No limit',
  },
  {
    field: 'usd',
    name: 'budget.usd_per_day',
    label: 'Dollars per day',
    hint: 'Budget by the list price of the model',
    min: 0.01,
    max: 10_000,
    step: 0.01,
    empty: 'No limit',
  },
  {
    field: 'retentionDays',
    label: 'Retention (days)',
    hint: 'Alerts and evidence, 1 to 90',
    min: 1,
    max: 90,
  },
  {
    field: 'memoryDays',
    label: 'Memory (days)',
    hint: 'Judged pictures, for the time line and the search, 0 to 90: up to 0.5 GB per day of a busy camera',
    min: 0,
    max: 90,
    empty: 'Default',
  },
  {
    field: 'clipBefore',
    name: 'evidence_clip',
    label: 'Clip before an opening (s)',
    hint: '0 to 30; 0 and 0: no clip',
    min: 0,
    max: 30,
    empty: 'Default',
  },
  { field: 'clipAfter', label: 'Clip after it (s)', hint: '0 to 30', min: 0, max: 30, empty: 'Default' },
] as const;
