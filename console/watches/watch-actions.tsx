import { useState, useEffect } from 'preact/hooks';
import type { Watch, WatchTest, Boxes, WatchPreview } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { navigate, routeUrls } from '../shell/routes.ts';
import { walkByPreview } from '../walk/use-walk-test.ts';
import { WalkTest } from '../walk/walk-test.tsx';
import { EditWatch } from './edit-watch.tsx';
import { findTold, type Told } from './told-dialog.tsx';
import { NewWatch } from './new-watch.tsx';
import { toDuplicate } from './watch-draft.ts';
import { destinationName } from './watch-labels.ts';
import { Badge } from '../parts/badge.tsx';
import { Skeleton } from '../parts/panel.tsx';
import { milliseconds } from '../time/format.ts';
import { Findings } from '../try/advice.tsx';
import { useResource } from '../api/use-resource.ts';
import { useBlobAddress } from '../api/use-blob-address.ts';
import { BoxedPicture } from '../parts/protected-picture.tsx';
import { Clock } from '../time/when.tsx';
import { Field, Select } from '../parts/field.tsx';

const durations = [
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '14400', label: '4 hours' },
  { value: '43200', label: '12 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

/** Shows a dialog that snoozes one condition or all. */
function SnoozeWatch({ watch, onDone, onClose }: { watch: Watch; onDone: () => void; onClose: () => void }) {
  const { api } = useSession();
  const [seconds, setSeconds] = useState('3600');
  const [conditionId, setConditionId] = useState('');
  const snoozing = useAction(() =>
    api.snoozeWatch(watch.watch_id, Number(seconds), conditionId === '' ? undefined : conditionId),
  );
  const conditions = [
    { value: '', label: 'All conditions' },
    ...watch.conditions.map(({ condition_id: value, condition }) => ({ value, label: condition })),
  ];
  return (
    <Dialog title="Snooze alerts" onClose={onClose}>
      <Form action={snoozing} onSubmit={async () => (await snoozing.run()) && onDone()}>
        <p>No alert opens and none is repeated meanwhile. Checks continue.</p>
        <Field label="Duration">
          {(ids) => <Select {...ids} value={seconds} onValue={setSeconds} options={durations} />}
        </Field>
        <Field label="Condition">
          {(ids) => <Select {...ids} value={conditionId} onValue={setConditionId} options={conditions} />}
        </Field>
        <DialogActions action={snoozing} onClose={onClose}>
          Start snooze
        </DialogActions>
      </Form>
    </Dialog>
  );
}

type Task = 'pause' | 'test' | 'snooze' | 'preview' | 'walk' | 'edit' | 'duplicate' | 'delete';

type Props = { watch: Watch; onChange: () => void; onTold: (told: Told | undefined) => void };

/**
 * Renders the actions of a watch: check now, walk test, test of destinations, snooze, edit, duplicate, pause or resume,
 * delete.
 */
export function WatchActions({ watch, onChange, onTold }: Props) {
  const { api } = useSession();
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  const changed = () => {
    close();
    onChange();
  };
  const resuming = useAction(async () => {
    await api.resumeWatch(watch.watch_id);
    onChange();
  });
  return (
    <>
      <Button onClick={() => setTask('preview')}>Check now</Button>
      <Button onClick={() => setTask('walk')}>Walk test</Button>
      <Button onClick={() => setTask('test')}>Test alert</Button>
      <Button onClick={() => setTask('edit')}>Edit</Button>
      <Button onClick={() => setTask('duplicate')}>Duplicate</Button>
      <Button onClick={() => setTask('snooze')}>Snooze</Button>
      {watch.state.causes.paused ? (
        <Button kind="primary" busy={resuming.busy} onClick={() => void resuming.run()}>
          Resume
        </Button>
      ) : (
        <Button onClick={() => setTask('pause')}>Pause</Button>
      )}
      <Button kind="danger" onClick={() => setTask('delete')}>
        Delete
      </Button>
      {resuming.problem && <ProblemNote problem={resuming.problem} />}
      {task && <TaskDialog task={task} watch={watch} onDone={changed} onClose={close} onTold={onTold} />}
    </>
  );
}

type TaskProps = Pick<Props, 'watch' | 'onTold'> & { task: Task; onDone: () => void; onClose: () => void };

function TaskDialog({ task, watch, onDone, onClose, onTold }: TaskProps) {
  const { api } = useSession();
  switch (task) {
    case 'preview':
      return <PreviewWatch watchId={watch.watch_id} onClose={onClose} />;
    case 'walk':
      return (
        <Dialog title="Walk test" wide closesByClickBeside={false} onClose={onClose}>
          <WalkTest check={walkByPreview(api, watch.watch_id)} />
        </Dialog>
      );
    case 'test':
      return <TestWatch watchId={watch.watch_id} onClose={onClose} />;
    case 'edit':
      return (
        <EditWatch
          watch={watch}
          onDone={({ former_destinations: former }) => {
            onTold(findTold(former));
            onDone();
          }}
          onClose={onClose}
        />
      );
    case 'duplicate':
      return <NewWatch before={toDuplicate(watch)} like={watch} onClose={onClose} />;
    case 'snooze':
      return <SnoozeWatch watch={watch} onDone={onDone} onClose={onClose} />;
    case 'pause':
      return (
        <ConfirmDialog
          title="Pause this watch?"
          confirm="Pause watch"
          act={() => api.pauseWatch(watch.watch_id)}
          onDone={onDone}
          onClose={onClose}
        >
          <p>Checks stop until you resume the watch. Open alerts close.</p>
        </ConfirmDialog>
      );
    case 'delete':
      return (
        <ConfirmDialog
          title={`Delete ${watch.name}?`}
          confirm="Delete watch"
          act={async () => {
            const { notified } = await api.deleteWatch(watch.watch_id);
            const told = findTold(notified, routeUrls.watches);
            onTold(told);
            if (!told) navigate(routeUrls.watches);
          }}
          onDone={onClose}
          onClose={onClose}
        >
          <p>Open alerts close. The stream URL and all evidence are erased, permanently.</p>
        </ConfirmDialog>
      );
  }
}

/** Sends a test alert to all destinations of a watch and shows what each answered. */
function TestWatch({ watchId, onClose }: { watchId: string; onClose: () => void }) {
  const { api } = useSession();
  const [result, setResult] = useState<WatchTest>();
  const testing = useAction(async () => setResult(await api.testWatch(watchId)));
  useEffect(() => void testing.run(), [watchId]);
  return (
    <Dialog title="Test alert to each destination" onClose={onClose}>
      {testing.busy && <Skeleton rows={3} />}
      {testing.problem && <ProblemNote problem={testing.problem} onRetry={() => void testing.run()} />}
      {result?.destinations.length === 0 && <p>This watch has no destinations. Add some with “Edit”.</p>}
      {result && (
        <ul class="stack divided" aria-label="Results">
          {result.destinations.map(({ destination_id: id, type, error, latency_ms: latency }) => (
            <li key={id}>
              <div class="spread titled">
                <strong>{destinationName({ destination_id: id, type })}</strong>
                <Badge tone={error === null ? 'good' : 'alert'}>
                  {error === null ? `accepted in ${milliseconds(latency)}` : 'failed'}
                </Badge>
              </div>
              {error !== null && (
                <p>{error} Check its address with “Edit”, and that this machine reaches its server.</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** Checks all conditions once on a new capture and shows the verdicts. Changes no state. */
function PreviewWatch({ watchId, onClose }: { watchId: string; onClose: () => void }) {
  const { api } = useSession();
  const { value, problem, reload } = useResource(() => api.previewWatch(watchId), [watchId]);
  const address = useBlobAddress(value?.frame_b64);
  return (
    <Dialog title="Check now" wide onClose={onClose}>
      {!value && !problem && <Skeleton rows={4} />}
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {value && (
        <>
          {address !== undefined && (
            <BoxedPicture address={address} alt="Checked frame" boxes={value.verdicts.flatMap(frameBoxes)} />
          )}
          <ul class="stack divided">
            {value.verdicts.map(
              ({ condition_id: id, condition, triggered, judged, explanation, findings }) => (
                <li key={id}>
                  <div class="spread titled">
                    <strong>{condition}</strong>
                    <Badge tone={triggered ? 'alert' : 'neutral'}>
                      {judged === false ? 'not judged' : triggered ? 'holds' : 'does not hold'}
                    </Badge>
                  </div>
                  <p>{explanation}</p>
                  <Findings findings={findings} />
                </li>
              ),
            )}
          </ul>
          <p class="small muted">
            Captured at <Clock at={value.captured_at} />, took {milliseconds(value.latency_ms)}. This check
            changes no state and sends nothing.
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Returns the boxes of a verdict; none if they are of another frame of the clip. */
function frameBoxes({ boxes, shown_at_seconds: seconds }: WatchPreview['verdicts'][number]): Boxes {
  return seconds === undefined ? (boxes ?? []) : [];
}
