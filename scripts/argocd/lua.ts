import { ANNOTATIONS } from '../../src/api/names.ts';
import type { Action, Traits } from './traits.ts';

/**
 * The scripts of Argo CD's resource customizations, for Lua 5.1 with base, table, package and a cut-down os.
 * Contract: Argo CD operator manual, "Resource Health" and "Resource Actions".
 */
const NOTE = '-- Generated from src/api by scripts/gen-argocd.ts: edit there.\n';

/** As the operator understands it: any annotation but an empty one and `false`. */
const PAUSED = `(obj.spec ~= nil and obj.spec.paused == true)
  or ((obj.metadata.annotations or {})["${ANNOTATIONS.paused}"] or "false") ~= "false"
  and obj.metadata.annotations["${ANNOTATIONS.paused}"] ~= ""`;

/** What a person reads while nothing was observed yet. */
export const NOT_OBSERVED = 'Waiting for the operator to observe the latest generation';
/** What a person reads on a paused resource. */
export const PAUSED_MESSAGE = `Paused by spec.paused or the annotation ${ANNOTATIONS.paused}`;

/** health.lua: does not depend on the order of conditions, and knows objects without status. */
export function health(traits: Traits): string {
  const suspended = `elseif paused then
  hs.status = "Suspended"
  hs.message = "${PAUSED_MESSAGE}"
`;
  return `${NOTE}local hs = { status = "Progressing", message = "${NOT_OBSERVED}" }
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then return hs end

local by = {}
for _, condition in ipairs(status.conditions or {}) do by[condition.type] = condition end
local function is(name) return by[name] ~= nil and by[name].status == "True" end
${traits.pausable ? `local paused = ${PAUSED}\n` : ''}
if obj.metadata.deletionTimestamp ~= nil then
  local told = by["Stalled"] or by["Reconciling"] or by["Ready"]
  hs.message = "Pending deletion"
  if told ~= nil and told.message ~= nil then hs.message = "Pending deletion: " .. told.message end
${traits.pausable ? suspended : ''}elseif is("Stalled") then
  hs.status = "Degraded"
  hs.message = by["Stalled"].message
elseif is("Reconciling") then
  hs.message = by["Reconciling"].message
elseif is("Ready") then
  hs.status = "Healthy"
  hs.message = by["Ready"].message
elseif by["Ready"] ~= nil then
  hs.message = by["Ready"].message
end
return hs
`;
}

/** discovery.lua: which actions there are, and which make no sense now. */
export function discovery(traits: Traits, actions: readonly Action[]): string {
  const usesPhase = traits.powered || traits.requests.length > 0;
  const lines = actions.map(
    ({ name, displayName, icon, disabled }) => `actions["${name}"] = {
  ["displayName"] = "${displayName}",
  ["iconClass"] = "${icon}",
  ["disabled"] = ${disabled},
}
`,
  );
  const names = [
    actions.some(({ disabled }) => disabled.includes('spec.')) ? 'local spec = obj.spec or {}\n' : '',
    usesPhase ? 'local status = obj.status or {}\nlocal phase = status.phase\n' : '',
    actions.some(({ disabled }) => disabled.includes('deleting'))
      ? 'local deleting = obj.metadata.deletionTimestamp ~= nil\n'
      : '',
    traits.pausable ? `local paused = ${PAUSED}\n` : '',
    actions.some(({ disabled }) => disabled.includes('observed'))
      ? 'local observed = spec.managementPolicy == "Observe"\n'
      : '',
    traits.requests.length > 0 ? REQUESTS : '',
  ];
  return `${NOTE}${names.join('')}
local actions = {}
${lines.join('')}return actions
`;
}

const REQUESTS = `-- Up, or about to be: a request waits for the running operation.
local up = phase == "Online" or phase == "PoweringOn" or phase == "Reinstalling" or phase == "Reconfiguring"
local function failed(event)
  return phase == "Failed" and status.operation ~= nil and status.operation.event == event
end
`;

/** action.lua of an action. */
export function action({ change }: Action): string {
  return `${NOTE}${change}return obj
`;
}
