import { watchRequestFields } from '../../client/openapi-types.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, Field, TextInput } from '../parts/field.tsx';
import { timeZone } from '../time/format.ts';
import { weekdays, type ScheduleDraft } from './watch-draft.ts';

const names = { mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat', sun: 'Sun' };
const fields = watchRequestFields.schedule;

type Props = { schedule: ScheduleDraft | null; onChange: (schedule: ScheduleDraft | null) => void };

/** Edits the schedule: always, or spans of local time. */
export function ScheduleFields({ schedule, onChange }: Props) {
  const nights = { days: [...weekdays], from: '18:00', to: '08:00' };
  return (
    <fieldset class="stack framed">
      <legend>Schedule</legend>
      <Checkbox
        label="Watch at certain times only"
        checked={schedule !== null}
        onChecked={(isOn) => onChange(isOn ? { time_zone: timeZone, active: [nights] } : null)}
      />
      {schedule && (
        <>
          <Field label="Time zone" name="schedule.time_zone" hint="Such as Europe/Berlin">
            {(ids) => (
              <TextInput
                {...ids}
                value={schedule.time_zone}
                onValue={(zone) => onChange({ ...schedule, time_zone: zone })}
                {...fields.time_zone}
              />
            )}
          </Field>
          {schedule.active.map((span, index) => {
            const change = (part: Partial<typeof span>) =>
              onChange({ ...schedule, active: schedule.active.with(index, { ...span, ...part }) });
            return (
              <div key={index} class="stack" role="group" aria-label={`Span ${index + 1}`}>
                <div class="field-grid">
                  <Field
                    label={`From, span ${index + 1}`}
                    name={`schedule.active.${index}.from`}
                    hint="HH:MM"
                  >
                    {(ids) => (
                      <TextInput {...ids} value={span.from} onValue={(from) => change({ from })} required />
                    )}
                  </Field>
                  <Field
                    label={`To, span ${index + 1}`}
                    name={`schedule.active.${index}.to`}
                    hint="HH:MM; before From: on the next day"
                  >
                    {(ids) => (
                      <TextInput {...ids} value={span.to} onValue={(to) => change({ to })} required />
                    )}
                  </Field>
                </div>
                <div class="row gap-3">
                  {weekdays.map((day) => (
                    <Checkbox
                      key={day}
                      label={names[day]}
                      checked={span.days.includes(day)}
                      onChecked={(isOn) =>
                        change({
                          days: weekdays.filter((each) => (each === day ? isOn : span.days.includes(each))),
                        })
                      }
                    />
                  ))}
                </div>
                {schedule.active.length > 1 && (
                  <Button
                    small
                    kind="danger"
                    onClick={() => onChange({ ...schedule, active: schedule.active.toSpliced(index, 1) })}
                  >
                    Remove span {index + 1}
                  </Button>
                )}
              </div>
            );
          })}
          {schedule.active.length < fields.active.maxItems && (
            <Button small onClick={() => onChange({ ...schedule, active: [...schedule.active, nights] })}>
              Add span
            </Button>
          )}
        </>
      )}
    </fieldset>
  );
}
