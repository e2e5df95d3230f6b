import { printable, type Paint } from '../../terminal.ts';
import type { Finding } from './finding.ts';
import type { Validation } from './validate.ts';

/** A line for each finding, as compilers write them, and the sum. */
export function validationLines({ files, resources, findings }: Validation, paint: Paint): string[] {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const sum = [plural(count('error'), 'error'), plural(count('warning'), 'warning')].join(', ');
  const line = ({ severity, file, line: number, kind, name, message }: Finding): string => {
    const label = severity === 'error' ? paint.red('error') : paint.yellow('warning');
    const subject = kind === '' ? '' : ` ${printable(kind)}/${printable(name)}:`;
    return `${printable(file)}:${number}: ${label}:${subject} ${printable(message)}`;
  };
  return [
    ...findings.map(line),
    `${plural(resources, 'resource')} of Boxwright in ${plural(files, 'file')}: ${sum}`,
  ];
}

/** The same for programs. */
export function validationObject({ files, resources, findings }: Validation): object {
  const head = { apiVersion: 'cli.boxwright.dev/v1alpha1', kind: 'Validation' };
  return { ...head, files, resources, findings };
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
