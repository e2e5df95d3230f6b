import { KINDS, type AnyResource } from '../../../api/kinds.ts';
import {
  ANNOTATION_NOTES,
  ANNOTATIONS,
  API_VERSION,
  GROUP,
  unknownAnnotations,
  unknownAnnotationText,
} from '../../../api/names.ts';
import type { StructuralSchema } from '../../../api/schema/structural.ts';
import { mostSimilar } from '../../../base/similar.ts';
import type { Loaded } from './files.ts';
import { findingAt, type Finding, type Valid } from './finding.ts';

type Fields = Readonly<Record<string, unknown>>;

/** RFC 1123 subdomain, as the API server has it for names. */
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** What the API server fills in, and a manifest does not have. */
const STORED = { uid: '-', resourceVersion: '-', generation: 1, creationTimestamp: '2000-01-01T00:00:00Z' };
const ROOT_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** Whether an object is of our group, right or wrong. */
export function isOurs({ object }: Loaded): boolean {
  const { apiVersion } = object;
  return typeof apiVersion === 'string' && apiVersion.startsWith(`${GROUP}/`);
}

/** Judges one object by the schema and the rules of its kind, as the API server would. */
export function judge(from: Loaded, namespace: string): { valid?: Valid; findings: Finding[] } {
  const { object } = from;
  const metadata = isFields(object['metadata']) ? object['metadata'] : {};
  const about = {
    kind: typeof object['kind'] === 'string' ? object['kind'] : '',
    namespace: typeof metadata['namespace'] === 'string' ? metadata['namespace'] : namespace,
    name: typeof metadata['name'] === 'string' ? metadata['name'] : '',
  };
  const say: Say = (field, message, severity) => findingAt(from, about, field, message, severity);
  if (object['apiVersion'] !== API_VERSION) {
    return {
      findings: [say('apiVersion', `there is no ${String(object['apiVersion'])}: write ${API_VERSION}`)],
    };
  }
  const definition = KINDS.find(({ kind }) => kind === about.kind);
  if (definition === undefined) {
    const kinds = KINDS.map(({ kind }) => kind);
    const meant = mostSimilar(about.kind, kinds);
    const guess = meant === undefined ? `write one of ${kinds.join(', ')}` : `did you mean ${meant}?`;
    return { findings: [say('kind', `${API_VERSION} has no kind ${about.kind}: ${guess}`)] };
  }
  const findings: Finding[] = [];
  if (!NAME.test(about.name) || about.name.length > 253) {
    findings.push(
      say(
        'metadata.name',
        about.name === ''
          ? 'metadata.name is required'
          : 'metadata.name must be lower-case letters, digits, - and .',
      ),
    );
  }
  for (const field of ['labels', 'annotations'] as const) {
    findings.push(...textFindings(`metadata.${field}`, metadata[field], say));
  }
  findings.push(...annotationFindings(metadata['annotations'], say));
  const shape: StructuralSchema = {
    type: 'object',
    properties: Object.fromEntries(
      ROOT_FIELDS.map((field) => [field, definition.structural().properties?.[field] ?? { type: 'object' }]),
    ),
  };
  for (const { path, name, known } of unknownFields(shape, object, '')) {
    const meant = mostSimilar(name, known);
    findings.push(
      say(path, `unknown field "${path}"${meant === undefined ? '' : `; did you mean ${meant}?`}`),
    );
  }
  const { status: _, ...rest } = object;
  const named = {
    ...STORED,
    ...metadata,
    name: about.name === '' ? '-' : about.name,
    namespace: about.namespace || '-',
  };
  const parsed = definition.parse({ ...rest, metadata: named });
  if (!parsed.ok) findings.push(...parsed.problems.map(({ path, message }) => say(path, message)));
  if (!parsed.ok || about.name === '') return { findings };
  const resource: AnyResource = parsed.resource;
  return {
    findings,
    valid: {
      resource: { ...resource, metadata: { ...resource.metadata, namespace: about.namespace } },
      from,
    },
  };
}

type Say = (field: string, message: string, severity?: Finding['severity']) => Finding;

/** Values that are no text: kubectl does not even send them. */
function textFindings(field: string, values: unknown, say: Say): Finding[] {
  if (!isFields(values)) return [];
  return Object.entries(values)
    .filter(([, value]) => typeof value !== 'string' && value !== null)
    .map(([key]) => say(field, `${field}: the value of ${key} must be of type string: put it in quotes`));
}

function annotationFindings(annotations: unknown, say: Say): Finding[] {
  if (!isFields(annotations)) return [];
  const keys = Object.keys(ANNOTATIONS) as (keyof typeof ANNOTATIONS)[];
  const written = keys
    .filter(
      (key) => ANNOTATION_NOTES[key].writtenBy === 'operator' && annotations[ANNOTATIONS[key]] !== undefined,
    )
    .map((key) =>
      say(
        'metadata.annotations',
        `the operator writes the annotation ${ANNOTATIONS[key]}: leave it out`,
        'warning',
      ),
    );
  return [
    ...unknownAnnotations(annotations).map((key) => say('metadata.annotations', unknownAnnotationText(key))),
    ...written,
  ];
}

interface UnknownField {
  path: string;
  name: string;
  known: string[];
}

/** Fields that the schema does not know, which the API server drops or refuses. */
function unknownFields(shape: StructuralSchema | undefined, value: unknown, path: string): UnknownField[] {
  if (shape === undefined || shape['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => unknownFields(shape.items, item, `${path}[${index}]`));
  const { properties } = shape;
  if (!isFields(value) || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(properties, name)) return unknownFields(properties[name], member, here);
    return [
      { path: here, name, known: Object.keys(properties).filter((field) => value[field] === undefined) },
    ];
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
