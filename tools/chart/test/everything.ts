/** A release for the tests of the chart. */
export const name = "example"

/** Values with which the chart makes everything that it can. */
export const everything = {
  image: { pullSecrets: [{ name: "registry" }], tag: "1.2.3" },
  documents: { endpoint: "https://store.example", publicEndpoint: "https://files.example" },
  secrets: { vendors: "vendors" },
  settings: { RATE_LIMIT: "600" },
  metrics: { serviceMonitor: true },
  services: {
    board: { secret: "board", settings: { LOG_LEVEL: "debug", MAX_REQUESTS_WAITING: "10" } },
    gateway: { digest: `sha256:${"a".repeat(12)}` },
    "batch-worker": { serviceAccount: "documents" }
  },
  operator: { replicas: 1, serviceAccount: "documents" },
  ingress: {
    enabled: true,
    className: "nginx",
    host: "import.example",
    tlsSecret: "import-tls",
    annotations: { "nginx.ingress.kubernetes.io/proxy-body-size": "0" }
  },
  networkPolicy: {
    gatewayFrom: [{ namespaceSelector: { matchLabels: { name: "ingress" } } }],
    databaseTo: [{ ipBlock: { cidr: "10.0.0.0/8" } }],
    egress: [{ ports: [{ port: 4318 }], to: [{ podSelector: { matchLabels: { app: "tempo" } } }] }]
  },
  cluster: { enabled: true, spec: { plugins: [{ name: "backup", isWALArchiver: true }] } }
}
