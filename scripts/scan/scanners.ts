import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { goTool, type GoTool } from '../../test/support/go-tool.ts';

/** Something that a scanner objects to. */
export interface Finding {
  check: string;
  /** `Kind/name`. */
  object: string;
  says: string;
}

/** A program that looks at manifests. */
export interface Scanner {
  name: string;
  tool: GoTool;
  /** What it objects to in a file of manifests. Throws when it cannot read it. */
  scan(program: string, file: string): Finding[];
}

const MODULES = join(import.meta.dirname, '../../test/scanners');
/** Grade of a kube-score check that has nothing to object to. */
const FLAWLESS = 10;

export const SCANNERS: readonly Scanner[] = [
  {
    name: 'kube-score',
    tool: { folder: join(MODULES, 'kube-score'), package: 'github.com/zegl/kube-score/cmd/kube-score' },
    scan(program, file) {
      interface Scored {
        object_name: string;
        type_meta: { kind: string };
        object_meta: { name: string };
        checks: {
          skipped: boolean;
          grade: number;
          check: { id: string };
          comments: { summary: string }[] | null;
        }[];
      }
      const args = ['score', '--kubernetes-version', 'v1.36', '--output-format', 'json', file];
      return (output(program, args) as Scored[]).flatMap(({ type_meta, object_meta, checks }) =>
        checks
          .filter(({ skipped, grade }) => !skipped && grade < FLAWLESS)
          .map(({ check, comments }) => ({
            check: check.id,
            object: `${type_meta.kind}/${object_meta.name}`,
            says: (comments ?? []).map(({ summary }) => summary).join('; '),
          })),
      );
    },
  },
  {
    name: 'trivy',
    // Its code reads JSON by a package of Go that is an experiment yet.
    tool: { folder: join(MODULES, 'trivy'), package: '.', env: { GOEXPERIMENT: 'jsonv2' } },
    scan(program, file) {
      interface Report {
        findings: { id: string; severity: string; message: string }[];
      }
      return (output(program, [dirname(file)]) as Report).findings.map(({ id, severity, message }) => ({
        check: id,
        object: /'?(\w+)'? '([\w.-]+)'/.exec(message)?.slice(1, 3).join('/') ?? '?',
        says: `${severity}: ${message}`,
      }));
    },
  },
];

/** The program, or undefined where it cannot be built; says so. */
export async function build({ name, tool }: Scanner): Promise<string | undefined> {
  try {
    return await goTool(tool);
  } catch (error) {
    process.stderr.write(`${name} is left out: ${(error as Error).message}\n`);
    return undefined;
  }
}

/** Scanners end with 1 when they find something: what counts is what they print. */
function output(program: string, args: readonly string[]): unknown {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  try {
    return JSON.parse(stdout) as unknown;
  } catch (cause) {
    throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`, { cause });
  }
}
