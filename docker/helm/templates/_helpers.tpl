{{- define "data-import.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/part-of: data-import
{{- end -}}

{{- define "data-import.image" -}}
{{- if .digest -}}
{{ printf "%s/%s@%s" .root.Values.image.registry .name .digest | quote }}
{{- else -}}
{{ printf "%s/%s:%s" .root.Values.image.registry .name (default .root.Chart.AppVersion .root.Values.image.tag) | quote }}
{{- end -}}
{{- end -}}

{{- define "data-import.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "data-import.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "data-import.databaseUrl" -}}
valueFrom:
  secretKeyRef:
    name: {{ .root.Values.secrets.databaseUrls | quote }}
    key: {{ .key }}
{{- end -}}
