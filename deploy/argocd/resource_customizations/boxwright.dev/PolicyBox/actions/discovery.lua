-- Generated from src/api by scripts/gen-argocd.ts: edit there.
local deleting = obj.metadata.deletionTimestamp ~= nil
local paused = (obj.spec ~= nil and obj.spec.paused == true)
  or ((obj.metadata.annotations or {})["boxwright.dev/paused"] or "false") ~= "false"
  and obj.metadata.annotations["boxwright.dev/paused"] ~= ""

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
return actions
