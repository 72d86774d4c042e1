import { useState } from 'preact/hooks';
import type { Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import { Checkbox } from '../parts/field.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { useSession } from '../session/session.ts';
import { navigate, routeUrls } from '../shell/routes.ts';
import { DestinationFields } from './destination-fields.tsx';
import { FindCamera } from '../try/find-camera.tsx';
import { destinationName } from './watch-labels.ts';
import { toWatchRequest, type WatchDraft } from './watch-draft.ts';
import { WatchForm } from './watch-form.tsx';

type Props = {
  before: WatchDraft;
  /** Watch that this one is like; default: the newest one that tells somebody. */
  like?: Watch;
  onClose: () => void;
};

/** Shows a dialog that creates a watch. It tells those whom the watch before tells, unless others are named. */
export function NewWatch({ before, like, onClose }: Props) {
  const session = useSession();
  const { api } = session;
  const [finding, setFinding] = useState(false);
  const [draft, setDraft] = useState(before);
  const [tellsOthers, setTellsOthers] = useState(before.destinations.length > 0);
  // Without them, a watch has no destinations to copy.
  const { value: watches, problem } = useResource((signal) => api.watches(signal), []);
  const isLoading = !watches && !problem;
  const teller = [...(like ? [like] : []), ...(watches ?? []).toReversed()].find(
    ({ destinations }) => destinations.length > 0,
  );
  const copied = tellsOthers ? undefined : teller;
  const creating = useAction(async () => {
    const { watch_id: id } = await api.createWatch(toWatchRequest(draft), copied?.watch_id);
    onClose();
    navigate(routeUrls.watch(id));
  });
  return (
    <Dialog title="New watch" wide closesByClickBeside={false} onClose={onClose}>
      <Form action={creating} onSubmit={() => !isLoading && creating.run()}>
        <WatchForm
          before={before}
          draft={draft}
          onDraft={setDraft}
          onFindCamera={session.service.discovers_cameras ? () => setFinding(true) : undefined}
          whom={
            <>
              {teller && (
                <Checkbox
                  label={`Tell the same as “${teller.name}”`}
                  hint={teller.destinations
                    .map((each) => `${destinationName(each)} ${each.url_masked}`)
                    .join(', ')}
                  checked={!tellsOthers}
                  onChecked={(isSame) => {
                    setTellsOthers(!isSame);
                    setDraft({ ...draft, destinations: [] });
                  }}
                />
              )}
              {!copied && (
                <DestinationFields
                  destinations={draft.destinations}
                  onChange={(destinations) => setDraft({ ...draft, destinations })}
                />
              )}
            </>
          }
        />
        <DialogActions action={creating} onClose={onClose} disabled={isLoading}>
          Start watching
        </DialogActions>
      </Form>
      {finding && (
        <FindCamera
          onClose={() => setFinding(false)}
          onStream={(url) => {
            setDraft({ ...draft, stream_url: url });
            setFinding(false);
          }}
        />
      )}
    </Dialog>
  );
}
