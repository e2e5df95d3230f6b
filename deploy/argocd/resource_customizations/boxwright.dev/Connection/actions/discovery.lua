-- Generated from src/api by scripts/gen-argocd.ts: edit there.

local actions = {}
actions["reconcile"] = {
  ["displayName"] = "Look now",
  ["iconClass"] = "fa fa-fw fa-sync",
  ["disabled"] = false,
}
return actions
