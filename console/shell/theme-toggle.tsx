import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';

type Theme = 'light' | 'dark';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** The reader's system decides until this is pressed; the choice is kept in memory, as everything here is. */
export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(currentTheme);
  useEffect(() => {
    const follow = () => setTheme(currentTheme());
    systemIsDark.addEventListener('change', follow);
    return () => systemIsDark.removeEventListener('change', follow);
  }, []);
  const other = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    const { dataset } = document.documentElement;
    // Back at what the system says, it decides again.
    if (other === systemTheme()) delete dataset['theme'];
    else dataset['theme'] = other;
    setTheme(other);
  };
  return (
    <Button kind="quiet" label={`Use the ${other} theme`} onClick={change}>
      <Icon name={other === 'dark' ? 'moon' : 'sun'} />
    </Button>
  );
}

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemTheme();
}

function systemTheme(): Theme {
  return systemIsDark.matches ? 'dark' : 'light';
}
