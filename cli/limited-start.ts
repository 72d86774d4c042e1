import { limitNewObjects } from './limit-new-objects.ts';

// The launcher of the package imports this file first, so that the process which is replaced loads nothing else.
limitNewObjects();
