import { useEffect, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';

type Theme = 'light' | 'dark';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** Switches the theme. The system theme applies until then; the page keeps the choice in memory. */
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
    // A choice that equals the system theme is removed, so that the page follows the system again.
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
