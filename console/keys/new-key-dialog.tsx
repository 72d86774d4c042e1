import type { NewKey } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';

/** The only moment in which a key can be read. */
export function NewKeyDialog({ made, onClose }: { made: NewKey; onClose: () => void }) {
  return (
    <Dialog title={made.label ?? 'Your new key'} onClose={onClose} closesByClickBeside={false}>
      <p class="note warn">
        <Icon name="warn" />
        <span>Copy it now. Only its hash is stored, so nobody can show it again.</span>
      </p>
      <div class="secret">
        <code tabIndex={0} role="textbox" aria-readonly="true" aria-label="New API key">
          {made.key}
        </code>
        <CopyButton text={made.key} what="New API key" />
      </div>
      <div class="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
