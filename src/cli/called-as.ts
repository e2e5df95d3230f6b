import { basename } from 'node:path';

/** What a person, or kubectl, called this program by. */
export interface CalledAs {
  /** For help texts. */
  program: string;
  /** As kubectl calls what completes the words of a plugin. */
  completes: boolean;
}

const PLUGIN = 'kubectl-boxwright';
/** Source: Kubernetes documentation, "Extend kubectl with plugins", shell completion. */
const COMPLETER = 'kubectl_complete-boxwright';

/** By the name of the file that was started: kubectl finds its plugins, and what completes them, by name. */
export function calledAs(file: string | undefined): CalledAs {
  const name = basename(file ?? '').replace(/\.(exe|cmd|js)$/, '');
  return {
    program: name === PLUGIN || name === COMPLETER ? 'kubectl boxwright' : 'boxwright',
    completes: name === COMPLETER,
  };
}
