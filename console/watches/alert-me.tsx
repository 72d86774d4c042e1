import { useState } from 'preact/hooks';
import type { Watch } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Fold } from '../parts/fold.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { navigate, routeUrls } from '../shell/routes.ts';
import { Backtest } from './backtest.tsx';
import { ConditionFields, ConditionRules } from './condition-fields.tsx';
import { summarizeRules } from './fold-summaries.ts';
import { conditionRequestDefaults } from '../../client/openapi-types.ts';
import type { ConditionDraft } from './watch-draft.ts';

type Props = {
  watches: Watch[];
  /** Watch that is chosen first; default: the first one. */
  watchId?: string;
  /** Text of the condition. */
  words: string;
};

/** Renders the button of a new condition for what a search or a moment shows. */
export function AlertMeButton({ small = false, ...props }: Props & { small?: boolean }) {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  if (props.watches.length === 0 || !mayUse(session, 'jobs')) return null;
  return (
    <>
      <div class="row">
        <Button small={small} onClick={() => setOpen(true)}>
          Alert me about this
        </Button>
      </div>
      {isOpen && <AlertMe {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Shows a dialog that tries a new condition on the past of a watch, and adds it. */
function AlertMe({
  watches,
  watchId = watches[0]?.watch_id ?? '',
  words,
  onClose,
}: Props & { onClose: () => void }) {
  const { api } = useSession();
  const [chosen, setChosen] = useState(watchId);
  const [draft, setDraft] = useState<ConditionDraft>({ ...conditionRequestDefaults, condition: words });
  const condition = { ...draft, condition: draft.condition.trim() };
  const added = watches.find(({ watch_id: id }) => id === chosen)?.conditions.length ?? 0;
  const name = `conditions.${added}`;
  const wanted = JSON.stringify([chosen, condition]);
  const [tried, setTried] = useState<string>();
  const saving = useAction(async () => {
    // The watch may have changed since the page was read.
    const { config_version: version, conditions } = await api.watch(chosen);
    await api.changeWatch(chosen, version, { conditions: [...conditions, condition] });
    onClose();
    navigate(routeUrls.watch(chosen));
  });
  return (
    <Dialog title="Alert me about this" wide closesByClickBeside={false} onClose={onClose}>
      <Form action={saving} onSubmit={saving.run}>
        {watches.length > 1 && (
          <Field label="Watch">
            {(ids) => (
              <Select
                {...ids}
                value={chosen}
                onValue={setChosen}
                options={watches.map(({ watch_id: value, name: label }) => ({ value, label }))}
              />
            )}
          </Field>
        )}
        <ConditionFields label="Condition" name={name} condition={draft} onChange={setDraft} />
        <Fold title="Rules" summary={summarizeRules({ conditions: [draft] })}>
          <ConditionRules name={name} condition={draft} onChange={setDraft} />
        </Fold>
        {tried === wanted ? (
          <Backtest key={wanted} watchId={chosen} condition={condition} />
        ) : (
          <div class="row">
            <Button disabled={condition.condition === ''} onClick={() => setTried(wanted)}>
              Try it on the past
            </Button>
          </div>
        )}
        <DialogActions action={saving} onClose={onClose}>
          Add condition
        </DialogActions>
      </Form>
    </Dialog>
  );
}
