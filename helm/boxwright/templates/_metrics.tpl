{{- /* Who reads metrics, and what for that is needed in the cluster. */}}

{{- /* Whether the API server is asked about tokens; "" means no. */}}
{{- define "boxwright.metrics.reviews" -}}
{{- if and .Values.metrics.secure (not .Values.metrics.clientCA.secretName) }}yes{{ end }}
{{- end }}

{{- /* Whether this chart grants what that needs; "" means no. */}}
{{- define "boxwright.metrics.grants" -}}
{{- $wanted := or (eq .Values.rbac.metricsReviews "Always") (and (eq .Values.rbac.metricsReviews "Auto") (empty .Values.namespaces)) }}
{{- if and .Values.rbac.create $wanted (include "boxwright.metrics.reviews" .) }}yes{{ end }}
{{- end }}

{{- /* Values that would leave nobody able to read. */}}
{{- define "boxwright.metrics.check" -}}
{{- with .Values.metrics }}
{{- if eq (int .port) (int $.Values.health.port) }}
{{- fail (printf "metrics.port and health.port are both %d: give them different ones" (int .port)) }}
{{- end }}
{{- if and (not .secure) (or .certificate.secretName .clientCA.secretName) }}
{{- fail "metrics.certificate and metrics.clientCA mean nothing with metrics.secure=false" }}
{{- end }}
{{- if and .clientCA.names (not .clientCA.secretName) }}
{{- fail "metrics.clientCA.names means nothing without metrics.clientCA.secretName" }}
{{- end }}
{{- if and (or .serviceMonitor.enabled .podMonitor.enabled) (include "boxwright.metrics.reviews" $) $.Values.rbac.create $.Values.namespaces (eq $.Values.rbac.metricsReviews "Auto") }}
{{- fail "secure metrics need a right that no Role can grant (tokenreviews, subjectaccessreviews): with namespaces set, choose rbac.metricsReviews=Always (a small ClusterRole), or rbac.metricsReviews=Never where an administrator has bound the ServiceAccount to system:auth-delegator, or metrics.clientCA, or metrics.secure=false" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "boxwright.metrics.env" -}}
{{- include "boxwright.metrics.check" . }}
{{- with .Values.metrics }}
{{- if .secure }}
- name: BOXWRIGHT_METRICS_SECURE
  value: "true"
{{- with .certificate.secretName }}
- name: BOXWRIGHT_METRICS_CERT_PATH
  value: /etc/boxwright/metrics-certificate
{{- end }}
{{- if .clientCA.secretName }}
- name: BOXWRIGHT_METRICS_CLIENT_CA
  value: /etc/boxwright/metrics-client-ca/ca.crt
{{- with .clientCA.names }}
- name: BOXWRIGHT_METRICS_CLIENT_NAMES
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "boxwright.metrics.mounts" -}}
{{- if .Values.metrics.certificate.secretName }}
- name: metrics-certificate
  mountPath: /etc/boxwright/metrics-certificate
  readOnly: true
{{- end }}
{{- if .Values.metrics.clientCA.secretName }}
- name: metrics-client-ca
  mountPath: /etc/boxwright/metrics-client-ca
  readOnly: true
{{- end }}
{{- end }}

{{- define "boxwright.metrics.volumes" -}}
{{- with .Values.metrics.certificate.secretName }}
- name: metrics-certificate
  secret:
    secretName: {{ . }}
    items:
      - {key: tls.crt, path: tls.crt}
      - {key: tls.key, path: tls.key}
{{- end }}
{{- with .Values.metrics.clientCA }}
{{- if .secretName }}
- name: metrics-client-ca
  secret:
    secretName: {{ .secretName }}
    items:
      - {key: {{ .key | quote }}, path: ca.crt}
{{- end }}
{{- end }}
{{- end }}

{{- /* How a monitor reads: dict "root" $ "monitor" its values "kind" their name. */}}
{{- define "boxwright.scrape" -}}
{{- $metrics := .root.Values.metrics }}
path: /metrics
scheme: {{ ternary "https" "http" $metrics.secure }}
{{- if $metrics.secure }}
{{- if include "boxwright.metrics.reviews" .root }}
{{- if .monitor.authorization }}
authorization:
  {{- toYaml .monitor.authorization | nindent 2 }}
{{- else if eq .kind "podMonitor" }}
{{- fail "a PodMonitor cannot show Prometheus’s own token: name a Secret with one in metrics.podMonitor.authorization, or use metrics.serviceMonitor" }}
{{- else }}
bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
{{- end }}
{{- else if not (and .monitor.tlsConfig (or .monitor.tlsConfig.cert .monitor.tlsConfig.certFile)) }}
{{- fail (printf "with metrics.clientCA Prometheus needs a certificate: name it in metrics.%s.tlsConfig (cert and keySecret)" .kind) }}
{{- end }}
tlsConfig:
  {{- $tls := default dict .monitor.tlsConfig }}
  {{- with $tls }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- /* Who says more than who Prometheus is has said how the operator is checked. */}}
  {{- if not (omit $tls "cert" "certFile" "keySecret" "keyFile") }}
  {{- with $metrics.certificate.secretName }}
  ca:
    secret:
      name: {{ . }}
      key: ca.crt
  serverName: {{ printf "%s-metrics.%s.svc" (include "boxwright.fullname" $.root) $.root.Release.Namespace }}
  {{- else }}
  # It is self-signed, by each pod for itself.
  insecureSkipVerify: true
  {{- end }}
  {{- end }}
{{- end }}
interval: {{ .monitor.interval }}
scrapeTimeout: {{ .monitor.scrapeTimeout }}
# The alerts and the dashboard look for this job.
relabelings:
  - targetLabel: job
    replacement: boxwright
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
