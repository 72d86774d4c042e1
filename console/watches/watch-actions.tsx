import { useState } from 'preact/hooks';
import type { Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { navigate, routeUrls } from '../shell/routes.ts';
import { walkByPreview } from '../walk/checks.ts';
import { WalkTest } from '../walk/walk-test.tsx';
import { EditWatch } from './edit-watch.tsx';
import { PreviewWatch } from './preview-watch.tsx';
import { SnoozeWatch } from './snooze-watch.tsx';
import { TestWatch } from './test-watch.tsx';

type Task = 'pause' | 'test' | 'snooze' | 'preview' | 'walk' | 'edit' | 'delete';

/** Renders the actions of a watch: check now, walk test, test of destinations, snooze, edit, pause or resume, delete. */
export function WatchActions({ watch, onChange }: { watch: Watch; onChange: () => void }) {
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
      <Button onClick={() => setTask('test')}>Test</Button>
      <Button onClick={() => setTask('edit')}>Edit</Button>
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
      {task && <TaskDialog task={task} watch={watch} onDone={changed} onClose={close} />}
    </>
  );
}

type TaskProps = { task: Task; watch: Watch; onDone: () => void; onClose: () => void };

function TaskDialog({ task, watch, onDone, onClose }: TaskProps) {
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
      return <EditWatch watch={watch} onDone={onDone} onClose={onClose} />;
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
          act={() => api.deleteWatch(watch.watch_id)}
          onDone={() => navigate(routeUrls.watches)}
          onClose={onClose}
        >
          <p>Open alerts close. The stream URL and all evidence are erased, permanently.</p>
        </ConfirmDialog>
      );
  }
}
