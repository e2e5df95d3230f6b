-- Generated from src/api by scripts/gen-argocd.ts: edit there.
obj.spec.paused = false
if obj.metadata.annotations ~= nil and obj.metadata.annotations["boxwright.dev/paused"] ~= nil then
  obj.metadata.annotations["boxwright.dev/paused"] = nil
  -- Argo CD puts the old map back in the place of an empty one.
  if next(obj.metadata.annotations) == nil then obj.metadata.annotations = nil end
end
return obj
