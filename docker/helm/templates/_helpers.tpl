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

{{- define "data-import.documents" -}}
- name: S3_BUCKET
  value: {{ .Values.documents.bucket | quote }}
- name: S3_REGION
  value: {{ .Values.documents.region | quote }}
- name: S3_PATH_STYLE
  value: {{ .Values.documents.pathStyle | quote }}
{{- if .Values.documents.endpoint }}
- name: S3_ENDPOINT
  value: {{ .Values.documents.endpoint | quote }}
{{- end }}
{{- if .Values.documents.publicEndpoint }}
- name: S3_PUBLIC_ENDPOINT
  value: {{ .Values.documents.publicEndpoint | quote }}
{{- end }}
{{- end -}}

{{- define "data-import.nameServers" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end -}}

{{- define "data-import.toDatabase" -}}
- ports:
    - port: {{ .Values.networkPolicy.databasePort }}
  {{- with .Values.networkPolicy.databaseTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "data-import.toPublic" -}}
- ports:
    - port: 443
  {{- with .Values.networkPolicy.publicTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "data-import.hook" -}}
{{- /* A cluster of this chart is not there before the installation. */ -}}
helm.sh/hook: {{ if .Values.cluster.enabled }}post-install{{ else }}pre-install{{ end }},pre-upgrade
{{- end -}}
