import { useState } from 'preact/hooks';
import type { ChangedWatch, Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { useSession } from '../session/session.ts';
import { DestinationFields } from './destination-fields.tsx';
import { findUnsent, SendOpen, type Unsent } from './send-open.tsx';
import { toWatchDraft, toWatchPatch, type WatchDraft } from './watch-draft.ts';
import { WatchForm } from './watch-form.tsx';

type Props = {
  watch: Watch;
  /** True if a part of the picture is to be hidden: the form opens at a new region. */
  hides?: boolean;
  onDone: (changed: ChangedWatch) => void;
  onClose: () => void;
};

/** Shows a dialog that changes the fields of a watch. It fails if somebody else changed the watch meanwhile. */
export function EditWatch({ watch, hides = false, onDone, onClose }: Props) {
  const { api } = useSession();
  // The version that the person sees: later reloads of the page do not change it.
  const [seen] = useState({ version: watch.config_version, draft: toWatchDraft(watch) });
  const [draft, setDraft] = useState(() => (hides ? withHidden(seen.draft) : seen.draft));
  const [offer, setOffer] = useState<{ changed: ChangedWatch; unsent: Unsent }>();
  const saving = useAction(async () => {
    const patch = toWatchPatch(seen.draft, draft);
    // Regions that are saved in another view fit it.
    const { regions } = watch;
    const drawn = watch.state.view_changed_since === null ? patch : { regions, ...patch };
    const changed = await api.changeWatch(watch.watch_id, seen.version, drawn);
    // The change is saved: a failure here must not look like one of it.
    const unsent = await findUnsent(watch, changed, api).catch(() => undefined);
    if (unsent) setOffer({ changed, unsent });
    else onDone(changed);
  });
  if (offer) return <SendOpen unsent={offer.unsent} onClose={() => onDone(offer.changed)} />;
  return (
    <Dialog title="Edit watch" wide closesByClickBeside={false} onClose={onClose}>
      <Form action={saving} onSubmit={saving.run}>
        <WatchForm
          before={seen.draft}
          draft={draft}
          drawsFirst={hides}
          onDraft={setDraft}
          framePath={watch.state.last_frame_at === null ? undefined : `/watches/${watch.watch_id}/frame`}
          whom={
            <DestinationFields
              destinations={draft.destinations}
              onChange={(destinations) => setDraft({ ...draft, destinations })}
            />
          }
        />
        <p class="small muted">
          Another text of a condition closes its open alert and has statistics of its own.
        </p>
        <DialogActions
          action={saving}
          onClose={onClose}
          problem={saving.problem && conflictOr(saving.problem)}
        >
          Save
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Adds a region to hide, of which no corner is drawn. */
function withHidden(draft: WatchDraft): WatchDraft {
  return { ...draft, regions: [...draft.regions, { mode: 'exclude', corners: '' }] };
}

/** Replaces the remedy of a conflict, which is for programs. */
function conflictOr(problem: NonNullable<ReturnType<typeof useAction>['problem']>) {
  if (problem.status !== 412) return problem;
  const remedy = 'Close this dialog and open it again to edit the newest version.';
  return { code: problem.code, message: problem.message, remedy };
}
