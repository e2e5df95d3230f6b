import { formatDuration } from '../../../base/duration.ts';
import { cutText } from '../../../base/text.ts';
import { tableLines, type Column } from '../../columns.ts';
import { wrap, type Paint } from '../../terminal.ts';
import type { Shown } from '../../watch/board.ts';
import type { Entry } from './entry.ts';
import { flat, type Tree } from './forest.ts';

/** How the text is drawn. */
export interface TextOptions {
  /** Columns of the terminal; infinite for a program. */
  width: number;
  paint: Paint;
  /** Wall clock. */
  now: number;
  /** A heading for each namespace. */
  byNamespace: boolean;
}

const COLUMNS: readonly Column[] = [
  { head: 'RESOURCE', rank: 0 },
  { head: 'READY', rank: 0 },
  { head: 'REASON', rank: 1 },
  { head: 'SINCE', rank: 2 },
  { head: 'DETAILS', rank: 3 },
];

interface Line {
  tree: Tree;
  /** In front of the name. */
  branch: string;
  /** In front of what is said under it. */
  stem: string;
}

/** The trees as text: a line each, and under it what it waits for and what a person does about it. */
export function statusLines(trees: readonly Tree[], options: TextOptions): string[] {
  const { byNamespace, width } = options;
  const sum = wrap(summary(trees), width);
  if (!byNamespace) return [...treeLines(trees, options), '', ...sum];
  const namespaces = [...new Set(trees.map(({ namespace }) => namespace))];
  return [
    ...namespaces.flatMap((name) => [
      options.paint.bold(`NAMESPACE ${name}`),
      ...treeLines(
        trees.filter(({ namespace }) => namespace === name),
        options,
      ),
      '',
    ]),
    ...sum,
  ];
}

/** Cuts what it paints: a line with a word longer than the terminal is wide would wrap. */
function cutting(paint: Paint, width: number): Paint {
  const cut = (text: string): string => cutText(text, width);
  return {
    green: (text) => paint.green(cut(text)),
    yellow: (text) => paint.yellow(cut(text)),
    red: (text) => paint.red(cut(text)),
    bold: (text) => paint.bold(cut(text)),
    dim: (text) => paint.dim(cut(text)),
  };
}

/** The trees for somebody who watches: drawn anew on a terminal, told line by line elsewhere. */
export function statusShown(trees: () => readonly Tree[], now: () => number, byNamespace: boolean): Shown {
  return {
    lines: (width, paint) =>
      statusLines(trees(), { width, paint: cutting(paint, width), now: now(), byNamespace }),
    news: () =>
      flat(trees()).flatMap(({ kind, namespace, name, entry }) => {
        if (entry === undefined) return [];
        const { ready, reason, message, details } = entry;
        return [
          {
            key: byNamespace ? `${namespace}/${kind}/${name}` : `${kind}/${name}`,
            text: [`Ready=${ready}`, reason, ...Object.values(details)]
              .filter((word) => word !== '')
              .join(' '),
            detail: ready === 'True' ? '' : message,
          },
        ];
      }),
  };
}

function treeLines(trees: readonly Tree[], options: TextOptions): string[] {
  const { paint, width, now } = options;
  const lines = trees.flatMap((tree) => laid(tree, '', ''));
  const table = tableLines(
    COLUMNS,
    lines.map(({ tree, branch }) => cells(tree, branch, now)),
    width,
  );
  return table.flatMap((text, index) => {
    const line = lines[index - 1];
    if (line === undefined) return [paint.bold(text)];
    return [coloured(line.tree, text, paint), ...under(line, options).map((each) => paint.dim(each))];
  });
}

function laid(tree: Tree, branch: string, stem: string): Line[] {
  const { children } = tree;
  return [
    { tree, branch, stem: `${stem}${children.length === 0 ? '   ' : '│  '}` },
    ...children.flatMap((child, index) => {
      const isLast = index === children.length - 1;
      return laid(child, `${stem}${isLast ? '└─ ' : '├─ '}`, `${stem}${isLast ? '   ' : '│  '}`);
    }),
  ];
}

function cells({ entry, kind, name }: Tree, branch: string, now: number): string[] {
  const label = `${branch}${kind}/${name}`;
  if (entry === undefined) return [label, '', 'not there', '', ''];
  const { ready, reason, since, details } = entry;
  return [
    label,
    ready,
    reason,
    since === undefined ? '' : ago(since, now),
    Object.values(details).join('  '),
  ];
}

/** What it waits for, what else is true of it, and what a person does about it. */
function under({ tree: { entry }, stem }: Line, { width, now }: TextOptions): string[] {
  if (entry === undefined) return [];
  const said = [...waits(entry, now), ...entry.notes.map(({ type, message }) => `${type}: ${message}`)];
  const next = entry.isStalled && entry.nextStep !== undefined ? [`→ ${entry.nextStep}`] : [];
  return [...said, ...next].flatMap((text) =>
    wrap(text, width - stem.length).map((line) => `${stem}${line}`),
  );
}

function waits(entry: Entry, now: number): string[] {
  const { ready, message, operation, deletingSince } = entry;
  const lines = ready === 'True' || message === '' ? [] : [message];
  if (operation !== undefined) {
    const began = operation.startedAt === undefined ? '' : `, begun ${ago(operation.startedAt, now)} ago`;
    const stuck = operation.deadline === undefined ? '' : `, counts as stuck at ${operation.deadline}`;
    lines.push(`Operation ${operation.event}${began}${stuck}`);
  }
  if (deletingSince !== undefined) lines.push(`Is being deleted, for ${ago(deletingSince, now)}`);
  return lines;
}

function coloured({ entry }: Tree, text: string, paint: Paint): string {
  if (entry === undefined || entry.isStalled) return paint.red(text);
  if (entry.ready === 'True') return entry.notes.length === 0 ? paint.green(text) : paint.yellow(text);
  return entry.ready === 'False' ? paint.yellow(text) : text;
}

function summary(trees: readonly Tree[]): string {
  const entries = flat(trees).flatMap(({ entry }) => entry ?? []);
  const count = (matches: (entry: Entry) => boolean): number => entries.filter(matches).length;
  const ready = count((entry) => entry.ready === 'True');
  const stalled = count((entry) => entry.ready !== 'True' && entry.isStalled);
  const others = entries.length - ready - stalled;
  const missing = flat(trees).filter(({ entry }) => entry === undefined).length;
  return [
    `${entries.length} ${entries.length === 1 ? 'resource' : 'resources'}: ${ready} Ready`,
    ...(others === 0 ? [] : [`${others} under way`]),
    ...(stalled === 0 ? [] : [`${stalled} stalled`]),
    ...(missing === 0 ? [] : [`${missing} not there`]),
  ].join(', ');
}

function ago(time: string, now: number): string {
  const ms = now - Date.parse(time);
  return Number.isNaN(ms) ? '' : formatDuration(Math.max(0, Math.floor(ms / 1_000) * 1_000));
}
