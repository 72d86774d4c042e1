import { useState } from 'preact/hooks';
import type { Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Select } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';

const durations = [
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '14400', label: '4 hours' },
  { value: '43200', label: '12 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

/** Shows a dialog that snoozes one condition or all. */
export function SnoozeWatch({
  watch,
  onDone,
  onClose,
}: {
  watch: Watch;
  onDone: () => void;
  onClose: () => void;
}) {
  const { api } = useSession();
  const [seconds, setSeconds] = useState('3600');
  const [conditionId, setConditionId] = useState('');
  const snoozing = useAction(() =>
    api.snoozeWatch(watch.watch_id, Number(seconds), conditionId === '' ? undefined : conditionId),
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await snoozing.run()) onDone();
  };
  const conditions = [
    { value: '', label: 'All conditions' },
    ...watch.conditions.map(({ condition_id: value, condition }) => ({ value, label: condition })),
  ];
  return (
    <Dialog title="Snooze alerts" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <p>No alert opens and none is repeated meanwhile. Checks continue.</p>
        <Field label="Duration">
          {(ids) => <Select {...ids} value={seconds} onValue={setSeconds} options={durations} />}
        </Field>
        <Field label="Condition">
          {(ids) => <Select {...ids} value={conditionId} onValue={setConditionId} options={conditions} />}
        </Field>
        {snoozing.problem && <ProblemNote problem={snoozing.problem} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={snoozing.busy}>
            Start snooze
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
