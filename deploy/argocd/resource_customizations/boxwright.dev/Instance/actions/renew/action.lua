-- Generated from src/api by scripts/gen-argocd.ts: edit there.
-- The global os is not there under Argo CD's limits.
local os = require("os")
if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["boxwright.dev/renew"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
