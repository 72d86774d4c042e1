import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

type Props = {
  problem: { message: string; remedy: string; code?: string };
  onRetry?: () => void;
};

/** Shows message, remedy and code of a problem, and a retry button if `onRetry` is given. */
export function ProblemNote({ problem, onRetry }: Props) {
  return (
    <div class="note bad" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{problem.message}</strong>
        {problem.remedy !== '' && <p>{problem.remedy}</p>}
        {problem.code !== undefined && <p class="small muted mono">{problem.code}</p>}
      </div>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Shows a fact that the user should know, without a failure. */
export function WarningNote({ children }: { children: ComponentChildren }) {
  return (
    <div class="note warn" role="status">
      <Icon name="warn" />
      <div>{children}</div>
    </div>
  );
}
