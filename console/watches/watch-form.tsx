import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { conditionRequestDefaults, watchRequestFields as fields } from '../../client/openapi-types.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { Button } from '../parts/button.tsx';
import { NumberFields, Switches, prefilterSwitch } from '../parts/draft-fields.tsx';
import { Checkbox, Field, TextArea, TextInput } from '../parts/field.tsx';
import { Fold } from '../parts/fold.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { ConditionFields, ConditionRules } from './condition-fields.tsx';
import { timeZone } from '../time/format.ts';
import { summarizeFolds } from './fold-summaries.ts';
import { InputFields } from '../try/check-form.tsx';
import { StreamCard, useStreamValidation } from '../try/stream-card.tsx';
import { RegionFields } from './region-fields.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import type { ConditionDraft, WatchDraft } from './watch-draft.ts';

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
  const confirm = {
    field: 'confirm_seconds',
    label: 'Second look after (s)',
    hint: 'Before an alert opens',
    max: draft.interval_seconds ?? fields.confirm_seconds.max,
  } as const;
  const summaries = summarizeFolds(draft);
  const isOther = before.stream_url !== draft.stream_url || before.name === '';
  const check = useStreamValidation(isOther ? draft.stream_url.trim() : '');
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
            {...fields.name}
          />
        )}
      </Field>
      <Field
        label="Stream URL"
        name="stream_url"
        {...(draft.stream_url.includes('***') && {
          hint: 'The masked password stays unless you enter another URL',
        })}
      >
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="url"
            value={draft.stream_url}
            onValue={(url) => change({ stream_url: url })}
            {...fields.stream_url}
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
      {before.stream_url !== draft.stream_url && framePath !== undefined && draft.regions.length > 0 && (
        <RegionsFit key={draft.stream_url} onRemove={() => change({ regions: [] })} />
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
          onSchedule={(active) => change({ schedule: { time_zone: timeZone, active } })}
        />
      ))}
      {draft.conditions.length < fields.conditions.maxItems && (
        <div class="row">
          <Button
            small
            onClick={() => change({ conditions: [...draft.conditions, conditionRequestDefaults] })}
          >
            Add condition
          </Button>
        </div>
      )}
      {whom}
      <Checkbox
        label="Film each alert"
        name="evidence_clip"
        hint="With some seconds before and after its opening"
        checked={draft.evidence_clip.before_seconds !== 0 || draft.evidence_clip.after_seconds !== 0}
        onChecked={(isOn) => {
          const seconds = isOn ? null : 0;
          change({ evidence_clip: { before_seconds: seconds, after_seconds: seconds } });
        }}
      />
      <Fold title="Picture and regions" summary={summaries.picture} open={drawsFirst}>
        <RegionFields
          picture={picture}
          regions={draft.regions}
          shownFirst={drawsFirst}
          onChange={(regions) => change({ regions })}
        />
        <InputFields bounds={fields} values={draft} onChange={change} />
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
        <NumberFields entries={[confirm]} bounds={fields} values={draft} onValue={changeField} />
        <Field
          label="Labels"
          name="labels"
          hint={`One per line, at most ${fields.labels.maxItems}: they are in events and filter lists`}
        >
          {(ids) => <TextArea {...ids} value={draft.labels} onValue={(labels) => change({ labels })} />}
        </Field>
      </Fold>
      <Fold title="When" summary={summaries.when}>
        <ScheduleFields schedule={draft.schedule} onChange={(schedule) => change({ schedule })} />
      </Fold>
      <Fold title="Cost" summary={summaries.cost}>
        <div class="field-grid">
          <NumberFields entries={numbers} bounds={fields} values={draft} onValue={changeField} />
          <NumberFields
            entries={limits}
            place="budget."
            bounds={fields.budget}
            values={draft.budget}
            onValue={(field, value) => change({ budget: { ...draft.budget, [field]: value } })}
          />
          <NumberFields
            entries={clips}
            place="evidence_clip."
            bounds={fields.evidence_clip}
            values={draft.evidence_clip}
            onValue={(field, value) => change({ evidence_clip: { ...draft.evidence_clip, [field]: value } })}
          />
        </div>
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
    field: 'look_back',
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
  { field: 'interval_seconds', label: 'Interval (s)', hint: 'Between checks' },
  { field: 'retention_days', label: 'Retention (days)', hint: 'Alerts and evidence' },
  {
    field: 'memory_days',
    label: 'Memory (days)',
    hint: 'Judged pictures, for the time line and the search, up to 0.5 GB per day of a busy camera',
    empty: 'Default',
  },
] as const;

const limits = [
  {
    field: 'model_calls_per_day',
    label: 'Model calls per day',
    hint: 'Budget, beyond which the checks stop',
    empty: 'No limit',
  },
  {
    field: 'usd_per_day',
    label: 'Dollars per day',
    hint: 'Budget by the list price of the model',
    step: 0.01,
    empty: 'No limit',
  },
] as const;

const clips = [
  {
    field: 'before_seconds',
    label: 'Clip before an opening (s)',
    hint: 'No clip if both are 0',
    empty: 'Default',
  },
  { field: 'after_seconds', label: 'Clip after it (s)', empty: 'Default' },
] as const;
