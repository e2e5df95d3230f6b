-- Generated from src/api by scripts/gen-argocd.ts: edit there.
local spec = obj.spec or {}
local status = obj.status or {}
local phase = status.phase
local deleting = obj.metadata.deletionTimestamp ~= nil
local paused = (obj.spec ~= nil and obj.spec.paused == true)
  or ((obj.metadata.annotations or {})["boxwright.dev/paused"] or "false") ~= "false"
  and obj.metadata.annotations["boxwright.dev/paused"] ~= ""
local observed = spec.managementPolicy == "Observe"
-- Up, or about to be: a request waits for the running operation.
local up = phase == "Online" or phase == "PoweringOn" or phase == "Reinstalling" or phase == "Reconfiguring"
local function failed(event)
  return phase == "Failed" and status.operation ~= nil and status.operation.event == event
end

local actions = {}
actions["reconcile"] = {
  ["displayName"] = "Look now",
  ["iconClass"] = "fa fa-fw fa-sync",
  ["disabled"] = paused,
}
actions["pause"] = {
  ["displayName"] = "Pause",
  ["iconClass"] = "fa fa-fw fa-pause",
  ["disabled"] = deleting or paused,
}
actions["resume"] = {
  ["displayName"] = "Resume",
  ["iconClass"] = "fa fa-fw fa-play",
  ["disabled"] = not paused,
}
actions["start"] = {
  ["displayName"] = "Start",
  ["iconClass"] = "fa fa-fw fa-power-off",
  ["disabled"] = deleting or paused or observed or spec.powerState == "Running" or phase == "Terminating" or phase == "Terminated",
}
actions["stop"] = {
  ["displayName"] = "Stop",
  ["iconClass"] = "fa fa-fw fa-stop",
  ["disabled"] = deleting or paused or observed or spec.powerState == "Stopped" or phase == "Terminating" or phase == "Terminated",
}
actions["reinstall"] = {
  ["displayName"] = "Reinstall",
  ["iconClass"] = "fa fa-fw fa-redo",
  ["disabled"] = deleting or paused or observed or not (up or failed("reinstall") or failed("reconfigure")),
}
actions["reconfigure"] = {
  ["displayName"] = "Reconfigure",
  ["iconClass"] = "fa fa-fw fa-redo",
  ["disabled"] = deleting or paused or observed or not (up or failed("reconfigure")),
}
actions["redeploy"] = {
  ["displayName"] = "Redeploy",
  ["iconClass"] = "fa fa-fw fa-redo",
  ["disabled"] = deleting or paused or observed or not (failed("deploy")),
}
actions["renew"] = {
  ["displayName"] = "Renew the lease",
  ["iconClass"] = "fa fa-fw fa-hourglass-start",
  ["disabled"] = deleting or paused or observed or spec.lease == nil or spec.lease.after == nil,
}
return actions
