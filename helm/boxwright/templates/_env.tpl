{{- /* Settings of the operator: `boxwright operator --help` tells the variable of each flag. */}}
{{- define "boxwright.env" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: BOXWRIGHT_IN_CLUSTER
  value: "true"
- name: BOXWRIGHT_HEALTH_ADDRESS
  value: {{ printf "%s:%d" .Values.metrics.address (int .Values.health.port) | quote }}
- name: BOXWRIGHT_METRICS_ADDRESS
  value: {{ printf "%s:%d" .Values.metrics.address (int .Values.metrics.port) | quote }}
{{- with include "boxwright.metrics.env" . }}
{{ . }}
{{- end }}
- name: BOXWRIGHT_WORKERS
  value: {{ .Values.workers | toString | quote }}
- name: BOXWRIGHT_LOG_LEVEL
  value: {{ .Values.log.level }}
- name: BOXWRIGHT_LOG_FORMAT
  value: {{ .Values.log.format }}
{{- if ne .Chart.Name "boxwright" }}
- name: BOXWRIGHT_LEADER_LEASE_NAME
  value: {{ include "boxwright.leaseName" . }}
{{- end }}
- name: BOXWRIGHT_LEADER_LEASE_DURATION
  value: {{ .Values.leaderElection.leaseDuration }}
- name: BOXWRIGHT_LEADER_RENEW_DEADLINE
  value: {{ .Values.leaderElection.renewDeadline }}
- name: BOXWRIGHT_LEADER_RETRY_PERIOD
  value: {{ .Values.leaderElection.retryPeriod }}
{{- with .Values.traces.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.allowedHosts }}
- name: BOXWRIGHT_ALLOWED_HOSTS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.namespaces }}
- name: BOXWRIGHT_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.installationId }}
- name: BOXWRIGHT_INSTALLATION_ID
  value: {{ . | quote }}
{{- end }}
{{- if .Values.restore }}
- name: BOXWRIGHT_RESTORE
  value: "true"
{{- end }}
{{- if .Values.secrets.watch }}
- name: BOXWRIGHT_WATCH_SECRETS
  value: "true"
{{- end }}
{{- with .Values.secrets.selector }}
- name: BOXWRIGHT_SECRET_SELECTOR
  value: {{ . | quote }}
{{- end }}
{{- if .Values.secrets.keepForDeletion }}
{{- if ne .Chart.Name "boxwright" }}
{{- fail (printf "secrets.keepForDeletion: %s is an alias: operators of one namespace clear away what the other keeps. Install it as a release in a namespace of its own" .Chart.Name) }}
{{- end }}
- name: BOXWRIGHT_KEEP_CREDENTIALS_FOR_DELETION
  value: "true"
{{- end }}
{{- if .Values.allowInsecure }}
- name: BOXWRIGHT_ALLOW_INSECURE
  value: "true"
{{- end }}
{{- if .Values.allowLoopback }}
- name: BOXWRIGHT_ALLOW_LOOPBACK
  value: "true"
{{- end }}
{{- if (.Values.resources.limits).memory }}
- name: NODE_OPTIONS
  value: --max-old-space-size={{ include "boxwright.heap" . }}
{{- end }}
{{- /* What the operator would refuse is refused here, with a network policy or without. */}}
{{- $_ := list (include "boxwright.proxyPorts" .) (include "boxwright.tracesPorts" .) }}
{{- range $name, $value := dict "HTTP_PROXY" .Values.proxy.http "HTTPS_PROXY" .Values.proxy.https "NO_PROXY" .Values.proxy.exclude }}
{{- if $value }}
- name: {{ $name }}
  value: {{ $value | quote }}
- name: {{ lower $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
