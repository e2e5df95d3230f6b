-- Generated from src/api by scripts/gen-argocd.ts: edit there.
local hs = { status = "Progressing", message = "Waiting for the operator to observe the latest generation" }
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then return hs end

local by = {}
for _, condition in ipairs(status.conditions or {}) do by[condition.type] = condition end
local function is(name) return by[name] ~= nil and by[name].status == "True" end
local paused = (obj.spec ~= nil and obj.spec.paused == true)
  or ((obj.metadata.annotations or {})["boxwright.dev/paused"] or "false") ~= "false"
  and obj.metadata.annotations["boxwright.dev/paused"] ~= ""

if obj.metadata.deletionTimestamp ~= nil then
  local told = by["Stalled"] or by["Reconciling"] or by["Ready"]
  hs.message = "Pending deletion"
  if told ~= nil and told.message ~= nil then hs.message = "Pending deletion: " .. told.message end
elseif paused then
  hs.status = "Suspended"
  hs.message = "Paused by spec.paused or the annotation boxwright.dev/paused"
elseif is("Stalled") then
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
