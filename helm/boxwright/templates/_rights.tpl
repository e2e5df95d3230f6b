{{- /* Generated from src/controllers/rights.ts by scripts/gen-rbac.ts: edit there. */}}
{{- define "boxwright.rights.watched" -}}
- apiGroups:
    - boxwright.dev
  resources:
    - connections
    - boxes
    - policyboxes
    - instances
    - instanceleases
  verbs:
    - list
    - watch
    - patch
- apiGroups:
    - boxwright.dev
  resources:
    - connections/status
    - boxes/status
    - policyboxes/status
    - instances/status
    - instanceleases/status
  verbs:
    - patch
- apiGroups:
    - ""
  resources:
    - configmaps
  verbs:
    - get
    - list
    - watch
- apiGroups:
    - ""
  resources:
    - secrets
  verbs:
    - get
- apiGroups:
    - events.k8s.io
  resources:
    - events
  verbs:
    - create
    - patch
{{- if .Values.secrets.watch }}
- apiGroups:
    - ""
  resources:
    - secrets
  verbs:
    - list
    - watch
{{- end }}
{{- end }}
{{- define "boxwright.rights.own" -}}
- apiGroups:
    - ""
  resources:
    - secrets
    - configmaps
  verbs:
    - create
- apiGroups:
    - ""
  resources:
    - secrets
  resourceNames:
    - boxwright-digest-key
  verbs:
    - get
    - patch
- apiGroups:
    - ""
  resources:
    - configmaps
  resourceNames:
    - boxwright-installation
  verbs:
    - get
    - patch
- apiGroups:
    - ""
  resources:
    - configmaps
  resourceNames:
    - kube-root-ca.crt
  verbs:
    - get
- apiGroups:
    - coordination.k8s.io
  resources:
    - leases
  verbs:
    - create
- apiGroups:
    - coordination.k8s.io
  resources:
    - leases
  resourceNames:
    - {{ include "boxwright.leaseName" . }}
  verbs:
    - get
    - update
{{- if .Values.secrets.keepForDeletion }}
- apiGroups:
    - ""
  resources:
    - secrets
  resourceNames:
    - boxwright-kept-credentials
  verbs:
    - get
    - patch
{{- end }}
{{- end }}
{{- define "boxwright.rights.reviews" -}}
- apiGroups:
    - authentication.k8s.io
  resources:
    - tokenreviews
  verbs:
    - create
- apiGroups:
    - authorization.k8s.io
  resources:
    - subjectaccessreviews
  verbs:
    - create
{{- end }}
{{- define "boxwright.rights.metricsReader" -}}
- nonResourceURLs:
    - /metrics
  verbs:
    - get
{{- end }}
{{- define "boxwright.rights.view" -}}
- apiGroups:
    - boxwright.dev
  resources:
    - connections
    - boxes
    - policyboxes
    - instances
    - instanceleases
  verbs:
    - get
    - list
    - watch
{{- end }}
{{- define "boxwright.rights.edit" -}}
- apiGroups:
    - boxwright.dev
  resources:
    - connections
    - boxes
    - policyboxes
    - instances
    - instanceleases
  verbs:
    - create
    - delete
    - deletecollection
    - patch
    - update
{{- end }}
{{- define "boxwright.ownAnnotations" -}}
['boxwright.dev/external-id', 'boxwright.dev/claim', 'boxwright.dev/claim-seal', 'boxwright.dev/create-intent', 'boxwright.dev/deployed-lease', 'boxwright.dev/starts']
{{- end }}
