import { stringify } from 'yaml';
import { alerts, JOB, RUNBOOKS, THRESHOLDS, type Alert } from './alerts.ts';

/** Puts values in the place of `$<name>`. */
function fill(text: string, value: (name: string) => string): string {
  return text.replaceAll(/\$([a-z][A-Za-z]*)/g, (whole, name: string) => {
    // `$labels` and `$value` are Prometheus's own, `$ours` is the template's.
    if (name === 'labels' || name === 'value' || name === 'ours') return whole;
    if (name !== 'job' && THRESHOLDS[name] === undefined)
      throw new Error(`an alert names ${whole}: no such threshold`);
    return value(name);
  });
}

/** The alerts as the Prometheus operator takes them, with every threshold at its default, for kustomize. */
export function prometheusRule(): object {
  const rules = alerts.map(({ name, severity, summary, description, ...alert }) => ({
    alert: name,
    expr: withDefaults(alert.expr),
    for: withDefaults(alert.for),
    labels: { severity },
    annotations: { summary, description, runbook_url: `${RUNBOOKS}/${name}.md` },
  }));
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'boxwright-operator', namespace: 'boxwright-system' },
    spec: { groups: [{ name: 'boxwright', rules }] },
  };
}

/**
 * The same as a template of the chart: thresholds come from values, alerts can be left out one by one, and only
 * the pods of the release's own namespace count, so that several operators in a cluster do not hide each other.
 */
export function prometheusRuleTemplate(note: string): string {
  return `{{- /* ${note} */}}
{{- include "boxwright.complete" . }}
{{- with .Values.metrics.rules }}
{{- if .enabled }}
{{- /* How a selector of our series begins. */}}
{{- $ours := printf "{${JOB.replaceAll('"', '\\"')},namespace=\\"%s\\"" $.Release.Namespace }}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  {{- include "boxwright.metadata" (dict "root" $ "name" (include "boxwright.fullname" $) "namespace" $.Release.Namespace "labels" .labels) | nindent 2 }}
spec:
  groups:
    - name: boxwright
      rules:
${alerts.map((alert) => ruleTemplate(alert)).join('')}{{- end }}
{{- end }}
`;
}

function ruleTemplate({ name, severity, summary, description, ...alert }: Alert): string {
  return `        {{- if not (has "${name}" .disabled) }}
        - alert: ${name}
          expr: |-
            ${withValues(alert.expr)}
          for: ${withValues(alert.for)}
          labels:
            severity: ${severity}
            {{- with .alertLabels }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          annotations:
            summary: ${quoted(summary)}
            description: ${quoted(description)}
            runbook_url: {{ printf "%s/${name}.md" .runbookUrl | quote }}
        {{- end }}
`;
}

function withDefaults(text: string): string {
  return fill(text, (name) => (name === 'job' ? JOB : String(THRESHOLDS[name]?.value)));
}

function withValues(text: string): string {
  return fill(text.replaceAll('{$job', '{{ $ours }}'), (threshold) => {
    const number = typeof THRESHOLDS[threshold]?.value === 'number';
    return `{{ .thresholds.${threshold}${number ? ' | int64' : ''} }}`;
  });
}

/** A text of Prometheus's templates within one of Helm's. */
function quoted(text: string): string {
  return stringify(text, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' })
    .trimEnd()
    .replaceAll('{{', '{{ "{{" }}');
}
