import type { TSchema } from 'typebox';
import type { Seen } from '../schema/build.ts';
import { defaulted, flag, list, object, oneOf, optional, plainId, text } from '../schema/build.ts';
import { atMostOne, exactlyOne, type Rule } from '../schema/rules.ts';
import { AUTOMATIC_UPDATES } from '../words.ts';
import { keyReference, reference } from './references.ts';

/** Characters of a variable's plain value. */
const VALUE_LIMIT = 4096;
/** Characters of text written into a manifest: scripts and files. */
export const INLINE_LIMIT = 65_536;
/** Variables of one resource. */
const VARIABLES_LIMIT = 100;
/** Overrides of one resource. */
const OVERRIDES_LIMIT = 100;
/** Keys of variables that status can note as ours: all of one declaration, and all of the next. */
export const MANAGED_VARIABLES_LIMIT = 2 * (VARIABLES_LIMIT + OVERRIDES_LIMIT);

const FORBIDDEN_NAMES = ['__proto__', 'constructor', 'prototype'];

interface AnyVariable {
  name: string;
  type: string;
  value?: string;
  options?: string[];
  valueFrom?: unknown;
  file?: unknown;
  boxRef?: unknown;
  boxId?: unknown;
  automaticUpdates?: unknown;
}

const CHANGE = 'Can be changed.';

/** Content of a file: written in the manifest, or taken from a ConfigMap or Secret. */
function fileSource(change: string) {
  return object(
    `Content of a File variable. Absent: no content. The operator applies a change of the ConfigMap or Secret. ${change}`,
    {
      inline: optional(
        text(`The content itself, at most 64 KiB. ${change}`, {
          minLength: 0,
          maxLength: INLINE_LIMIT,
        }),
      ),
      configMapKeyRef: optional(keyReference('ConfigMap', `Takes the content from a ConfigMap. ${change}`)),
      secretKeyRef: optional(keyReference('Secret', `Takes the content from a Secret. ${change}`)),
    },
    {
      rules: [
        exactlyOne(
          ['inline', 'configMapKeyRef', 'secretKeyRef'],
          'set exactly one of inline, configMapKeyRef and secretKeyRef',
        ),
      ],
    },
  );
}

const PLAIN_TYPES = ['Text', 'Port', 'Number', 'Options'] as const;

const NAME_RULE: Rule = {
  rule: `!(self.name in ['${FORBIDDEN_NAMES.join("', '")}'])`,
  message: `name must not be one of ${FORBIDDEN_NAMES.join(', ')}`,
  holds: (v: AnyVariable) => !FORBIDDEN_NAMES.includes(v.name),
};

/** What holds for every variable, whatever it stands on. */
const COMMON_RULES: Rule[] = [
  NAME_RULE,
  {
    rule: `!has(self.value) || self.type != 'Password'`,
    message: 'a Password takes no inline value: store it in a Secret and set valueFrom.secretKeyRef',
    holds: (v: AnyVariable) => v.value === undefined || v.type !== 'Password',
  },
  {
    rule: `!has(self.value) || !(self.type in ['File', 'Box', 'Binding'])`,
    message:
      'value is only for Text, Port, Number and Options: set file for a File, and boxRef or boxId for a Box or a Binding',
    holds: (v: AnyVariable) => v.value === undefined || !['File', 'Box', 'Binding'].includes(v.type),
  },
  {
    rule: `!has(self.valueFrom) || self.type == 'Password'`,
    message: 'valueFrom is only for type Password: use value, or change the type to Password',
    holds: (v: AnyVariable) => v.valueFrom === undefined || v.type === 'Password',
  },
  {
    rule: `!has(self.file) || self.type == 'File'`,
    message: 'file is only for type File: use value, or change the type to File',
    holds: (v: AnyVariable) => v.file === undefined || v.type === 'File',
  },
  {
    rule: `!has(self.options) || self.type == 'Options'`,
    message: 'options is only for type Options: remove it, or change the type to Options',
    holds: (v: AnyVariable) => v.options === undefined || v.type === 'Options',
  },
  {
    rule: `self.type != 'Options' || !has(self.value) || !has(self.options) || self.value in self.options`,
    message: 'value must be one of options',
    holds: (v: AnyVariable) =>
      v.type !== 'Options' || v.value === undefined || v.options === undefined || v.options.includes(v.value),
  },
  {
    rule: `self.type != 'Port' || !has(self.value) || (self.value.matches('^[0-9]{1,5}$') && int(self.value) >= 1 && int(self.value) <= 65535)`,
    message: 'the value of a Port must be a number from 1 to 65535 in quotes, such as "8080"',
    holds: (v: AnyVariable) =>
      v.type !== 'Port' ||
      v.value === undefined ||
      (/^[0-9]{1,5}$/.test(v.value) && Number(v.value) >= 1 && Number(v.value) <= 65_535),
  },
  {
    rule: `self.type != 'Number' || !has(self.value) || self.value.matches('^-?[0-9]+(\\\\.[0-9]+)?$')`,
    message: 'the value of a Number must be a decimal number in quotes, such as "4" or "0.5"',
    holds: (v: AnyVariable) =>
      v.type !== 'Number' || v.value === undefined || /^-?[0-9]+(\.[0-9]+)?$/.test(v.value),
  },
];

const OPTIONS_LISTED: Rule = {
  rule: `self.type != 'Options' || has(self.options)`,
  message: 'a variable of type Options needs options',
  holds: (v: AnyVariable) => v.type !== 'Options' || v.options !== undefined,
};

const HAS_VALUE: Rule = {
  rule: `has(self.value) || has(self.valueFrom) || has(self.file)`,
  message:
    'the value is missing: set value (Text, Port, Number, Options), valueFrom (Password) or file (File)',
  holds: (v: AnyVariable) => v.value !== undefined || v.valueFrom !== undefined || v.file !== undefined,
};

const BOX_NAMES_ONE: Rule[] = [
  {
    rule: `self.type != 'Box' || has(self.boxRef) || has(self.boxId)`,
    message: 'a variable of type Box needs boxRef or boxId',
    holds: (v: AnyVariable) => v.type !== 'Box' || v.boxRef !== undefined || v.boxId !== undefined,
  },
  {
    rule: `self.type in ['Box', 'Binding'] || (!has(self.boxRef) && !has(self.boxId))`,
    message: 'boxRef and boxId are only for types Box and Binding: remove them, or change the type',
    holds: (v: AnyVariable) =>
      v.type === 'Box' || v.type === 'Binding' || (v.boxRef === undefined && v.boxId === undefined),
  },
  atMostOne(['boxRef', 'boxId'], 'set only one of boxRef and boxId'),
  {
    rule: `!has(self.automaticUpdates) || self.type == 'Box'`,
    message: 'automaticUpdates is only for type Box: remove it',
    holds: (v: AnyVariable) => v.automaticUpdates === undefined || v.type === 'Box',
  },
];

/** The fields that every variable has. */
function commonFields(change = CHANGE) {
  return {
    name: text('Name of the variable. Required. Another name is another variable.', {
      maxLength: 64,
      pattern: '^[A-Za-z0-9_-]+$',
    }),
    value: optional(
      text(
        `Value of a Text, Port, Number or Options variable, in quotes where YAML would not read it as text. Absent: no value. ${change}`,
        { minLength: 0, maxLength: VALUE_LIMIT },
      ),
    ),
    options: optional(
      list(
        `Values that a variable of type Options can have; they must not contain commas. ${change}`,
        text('One value.', { maxLength: 128, pattern: '^[^,]+$' }),
        { maxItems: 50, atomic: true },
      ),
    ),
    valueFrom: optional(
      object(
        `Where the value of a Password comes from: UTF-8 text, of which one line break at the end is not part of the value. ${change}`,
        {
          secretKeyRef: keyReference('Secret', `Takes the value from a Secret. ${change}`),
        },
      ),
    ),
    file: optional(fileSource(change)),
  };
}

function declarationFields() {
  return {
    required: defaulted(
      flag('Whether the service rejects a deployment without a value. Default false. Can be changed.'),
      false,
    ),
    visibility: defaulted(
      oneOf('Who can see the variable on the service. Default Public. Can be changed.', [
        'Public',
        'Internal',
        'Private',
      ]),
      'Public',
    ),
  };
}

/** Where the variable that an override speaks of lives. */
function scopeField(change = CHANGE) {
  return text(
    `Which nested box declares the variable: the names of the Box variables that lead to it, joined by dots, such as runtime or runtime.proxy. Required. Another scope is another variable. ${change}`,
    { maxLength: 256, pattern: '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$' },
  );
}

const VALUE_TYPES = [...PLAIN_TYPES, 'Password', 'File'] as const;

/** Variables that a box declares itself. */
export function boxVariables() {
  const variable = object(
    'One variable.',
    {
      ...commonFields(),
      type: oneOf('Type of the variable. Required. Can be changed.', [...VALUE_TYPES, 'Box', 'Binding']),
      ...declarationFields(),
      boxRef: optional(
        reference(
          'Box',
          'The nested box of a variable of type Box, or the box whose instances a Binding may name; absent for a Binding: any. Can be changed.',
        ),
      ),
      boxId: optional(
        plainId('Box', 'The same by its id on the service. Can be changed.', { maxLength: 64 }),
      ),
      automaticUpdates: optional(
        oneOf(
          'Which new versions of the nested box a variable of type Box follows by itself. Absent: None. Can be changed.',
          AUTOMATIC_UPDATES.ours,
        ),
      ),
    },
    { rules: [...COMMON_RULES, OPTIONS_LISTED, ...BOX_NAMES_ONE] },
  );
  return byName('Variables of the box. Unique by name. Default []. Can be changed.', variable);
}

/** Variables that a policy box declares. */
export function policyBoxVariables() {
  const variable = object(
    'One variable.',
    {
      ...commonFields(),
      type: oneOf('Type of the variable. Required. Can be changed.', VALUE_TYPES),
      ...declarationFields(),
    },
    { rules: [...COMMON_RULES, OPTIONS_LISTED] },
  );
  return byName('Variables of the policy box. Unique by name. Default []. Can be changed.', variable);
}

/** Values for variables that a box, or a policy box, declares itself. */
export function variableValues(description: string, change = CHANGE) {
  const variable = object(
    'One value.',
    { ...commonFields(change), type: declaredType(change) },
    { rules: [...COMMON_RULES, HAS_VALUE] },
  );
  return byName(description, variable);
}

/** Values for variables that nested boxes declare. */
export function nestedOverrides(description: string) {
  const override = object(
    'One value.',
    { scope: scopeField(), ...commonFields(), type: declaredType() },
    { rules: [...COMMON_RULES, HAS_VALUE] },
  );
  return defaulted(
    list(description, override, { maxItems: OVERRIDES_LIMIT, mapKeys: ['scope', 'name'] }),
    [],
  );
}

function declaredType(change = CHANGE) {
  return oneOf(`Type of the variable, as the box declares it. Required. ${change}`, VALUE_TYPES);
}

function byName<S extends TSchema>(description: string, variable: S) {
  return defaulted(list(description, variable, { maxItems: VARIABLES_LIMIT, mapKeys: ['name'] }), []);
}

/** A variable of a Box, defaults filled in. */
export type BoxVariable = Seen<ReturnType<typeof boxVariables>>[number];
/** A variable of a PolicyBox, defaults filled in. */
export type PolicyBoxVariable = Seen<ReturnType<typeof policyBoxVariables>>[number];
/** A value on an Instance for a variable of its box, or of its policy box, defaults filled in. */
export type VariableValue = Seen<ReturnType<typeof variableValues>>[number];
/** A value for a variable of a nested box, defaults filled in. */
export type NestedOverride = Seen<ReturnType<typeof nestedOverrides>>[number];
