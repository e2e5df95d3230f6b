{{- define "boxwright.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "boxwright.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- $name := include "boxwright.name" . }}
{{- if ne .Chart.Name "boxwright" }}
{{- /* Of several aliases in one release each keeps its own name, however the release is called. */}}
{{- printf "%s-%s" (.Release.Name | trunc (sub 52 (len $name) | max 1 | int) | trimSuffix "-") $name | trunc 53 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Cluster-wide names carry the namespace: two releases may have the same name. */}}
{{- define "boxwright.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "boxwright.fullname" .) }}
{{- end }}

{{- define "boxwright.serviceAccount" -}}
{{- default (ternary (include "boxwright.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- /*
The leader lease. One name for every release of a namespace, so that two by mistake do not both work. An alias is a
second operator on purpose: it has its own.
*/}}
{{- define "boxwright.leaseName" -}}
boxwright-operator
{{- if ne .Chart.Name "boxwright" }}-{{ .Chart.Name | trunc 44 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "boxwright.instanceLabels" -}}
app.kubernetes.io/name: {{ include "boxwright.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "boxwright.selector" -}}
{{ include "boxwright.instanceLabels" . }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "boxwright.labels" -}}
{{ include "boxwright.instanceLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: boxwright
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* metadata of an object: dict "root" $ "name" … "namespace"? "labels"? "annotations"? */}}
{{- define "boxwright.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "boxwright.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (default dict .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "boxwright.image" -}}
{{- with .Values.image }}
{{- $name := ternary .repository (printf "%s/%s" .registry .repository) (empty .registry) }}
{{- if .digest }}
{{- printf "%s@%s" $name .digest }}
{{- else }}
{{- printf "%s:%s" $name (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The heap in MiB: a share of the memory limit, which Node does not know of by itself. */}}
{{- define "boxwright.heap" -}}
{{- $limit := toString .Values.resources.limits.memory }}
{{- $units := dict "" 1.0 "k" 1e3 "Ki" 1024.0 "M" 1e6 "Mi" 1048576.0 "G" 1e9 "Gi" 1073741824.0 "T" 1e12 "Ti" 1099511627776.0 }}
{{- $unit := regexFind "[A-Za-z]*$" $limit }}
{{- if not (hasKey $units $unit) }}
{{- fail (printf "resources.limits.memory %s: write it as 512Mi or 1Gi" $limit) }}
{{- end }}
{{- $bytes := mulf (trimSuffix $unit $limit | float64) (get $units $unit) }}
{{- divf (mulf $bytes (float64 .Values.heapPercent)) 104857600.0 | floor | int64 }}
{{- end }}

{{- /* Whether the roles that aggregate are wanted; "" means no. */}}
{{- define "boxwright.aggregate" -}}
{{- if or (eq .Values.rbac.aggregateRoles "Always") (and (eq .Values.rbac.aggregateRoles "Auto") (empty .Values.namespaces)) }}yes{{ end }}
{{- end }}

{{- define "boxwright.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- /*
The port of the URL `url`, as the operator reads it. Fails with `name`, that of the value, and without the URL, which
may hold a password: urlParse prints it when it fails, and so does a pattern in the schema.
*/}}
{{- define "boxwright.portOf" -}}
{{- $url := trim .url }}
{{- if and (not .strict) (not (contains "://" $url)) }}
{{- $url = printf "http://%s" $url }}
{{- end }}
{{- $authority := regexReplaceAll `(?s)[/?#\\].*` (regexReplaceAll `^(?i:https?)://[/\\]*` $url "") "" }}
{{- $host := regexReplaceAll `(?s)^.*@` $authority "" }}
{{- $default := ternary "443" "80" (regexMatch `^(?i:https):` $url) }}
{{- $port := regexFind `:[0-9]+$` $host | trimPrefix ":" | default $default | atoi }}
{{- $fits := and (regexMatch `^(?i:https?)://` $url) (regexMatch `^(\[[0-9A-Fa-f:.]+\]|[^\[\]:@\s]+)(:[0-9]*)?$` $host) }}
{{- $login := and .strict (contains "@" $authority) }}
{{- if or (not $fits) $login (lt $port 1) (gt $port 65535) }}
{{- $more := ternary ", without a login" ", and / ? # % in a password as %2F, %3F, %23, %25" (default false .strict) }}
{{- fail (printf "%s: write http://<host>:<port>%s" .name $more) }}
{{- end }}
{{- $port }}
{{- end }}

{{- /* Ports as a policy writes them, each once, of a list of dicts for boxwright.portOf; "" is left out. */}}
{{- define "boxwright.portsOf" -}}
{{- $ports := list }}
{{- range . }}
{{- if trim .url }}
{{- $ports = append $ports (include "boxwright.portOf" .) }}
{{- end }}
{{- end }}
{{- range uniq $ports }}
- {port: {{ . }}, protocol: TCP}
{{- end }}
{{- end }}

{{- /* Of the proxies. */}}
{{- define "boxwright.proxyPorts" -}}
{{- include "boxwright.portsOf" (list (dict "url" .Values.proxy.http "name" "proxy.http") (dict "url" .Values.proxy.https "name" "proxy.https")) }}
{{- end }}

{{- /* Of the collector of traces, whose URL has a scheme and no login. */}}
{{- define "boxwright.tracesPorts" -}}
{{- include "boxwright.portsOf" (list (dict "url" .Values.traces.endpoint "name" "traces.endpoint" "strict" true)) }}
{{- end }}
