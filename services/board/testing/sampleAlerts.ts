/** The alerts of the user, for the pages with fixed answers. */
import { instant } from "./sampleMigrations.ts"

export const alerts = (now: number) => ({
  kinds: ["stuck", "failing", "wave_finished"],
  failing_share: 5,
  import_suppliers: null,
  email: "maria.keller@example.com",
  webhook: "https://hooks.slack.com/…",
  sends_email: true,
  told: [
    {
      way: "email",
      title: "DELTA_LEGACY: wave-1 is finished",
      reason: "58,464 accounts are imported, 96 failed.",
      path: "/board/migrations/DELTA_LEGACY/go-no-go/?cohort=wave-1",
      at: instant(now - 3_600_000),
      state: "SENT",
      error: null
    },
    {
      way: "webhook",
      title: "ACME is stuck",
      reason: "1,204 accounts wait, and none was imported for 26 hours.",
      path: "/board/migrations/ACME/",
      at: instant(now - 86_400_000),
      state: "FAILED",
      error: "404"
    }
  ]
})
