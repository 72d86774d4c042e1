import { render } from 'preact';
import { LabelPage } from './label-page.tsx';

const root = document.getElementById('label');
if (root) render(<LabelPage />, root);
