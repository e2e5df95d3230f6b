-- Generated from src/api by scripts/gen-argocd.ts: edit there.
obj.spec.powerState = "Stopped"
return obj
