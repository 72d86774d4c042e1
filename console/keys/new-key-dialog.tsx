import type { NewKey } from '../api/types.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';

/** Shows a new key. The service stores only its hash, so the console cannot show it again. */
export function NewKeyDialog({ made, onClose }: { made: NewKey; onClose: () => void }) {
  return (
    <Dialog title={made.label ?? 'Your new key'} onClose={onClose} closesByClickBeside={false}>
      <p class="note warn">
        <Icon name="warn" />
        <span>Copy the key now. The service stores only its hash and cannot show it again.</span>
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
