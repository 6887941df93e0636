/**
 * Alerts as messages: e-mails of plain text, and the bodies that chat systems take. Names of
 * suppliers and cohorts come from clients, so nothing in them is taken as markup.
 * Source: docs/contract/board.md#messages.
 */
import { pathOf, titleOf, type Told } from "./Alert.ts"
import type { Mail } from "./Mailer.ts"

export interface Message {
  readonly subject: string
  readonly paragraphs: ReadonlyArray<{
    readonly title: string
    readonly text: string
    readonly url: string | null
  }>
}

const urlOf = (publicUrl: URL | null, path: string): string | null =>
  publicUrl && new URL(path, publicUrl).href

const settingsPath = "/board/alerts/"

/** One message for all these alerts. Without a public URL there are no links. */
export const messageOf = (alerts: ReadonlyArray<Told>, publicUrl: URL | null): Message => {
  const titles = alerts.map(titleOf)
  return {
    subject: titles.length === 1 ? `${titles[0]}` : `${titles.length} alerts: ${titles[0]}, …`,
    paragraphs: alerts.map((alert) => ({
      title: titleOf(alert),
      text: alert.reason,
      url: urlOf(publicUrl, pathOf(alert))
    }))
  }
}

export const testMessage = (publicUrl: URL | null): Message => {
  const title = "Test of the migration board"
  const text = "Alerts about migrations will arrive here."
  return { subject: title, paragraphs: [{ title, text, url: urlOf(publicUrl, settingsPath) }] }
}

const blocksOf = ({ paragraphs }: Message): ReadonlyArray<string> =>
  paragraphs.map(({ text, title, url }) =>
    [`${title}.`, text, ...(url === null ? [] : [url])].join("\n")
  )

export const mailOf = (message: Message, to: string, publicUrl: URL | null): Mail => {
  const where = urlOf(publicUrl, settingsPath) ?? "the page Alerts of the migration board"
  const why = `You chose to be told of this. Change or stop it: ${where}`
  return {
    to,
    subject: `[Data Import] ${message.subject}`,
    text: `${[...blocksOf(message), why].join("\n\n")}\n`
  }
}

/** Hosts whose webhooks are workflows or connectors of Teams. */
const hostsOfTeams = [
  "powerautomate.com",
  "powerplatform.com",
  "logic.azure.com",
  "flow.microsoft.com",
  "webhook.office.com"
]

/** A text run is shown as it is; a text block would take it for Markdown. */
const card = ({ paragraphs }: Message) => ({
  $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
  type: "AdaptiveCard",
  version: "1.4",
  body: paragraphs.flatMap(({ text, title, url }) => [
    {
      type: "RichTextBlock",
      spacing: "Large",
      inlines: [
        {
          type: "TextRun",
          text: title,
          weight: "Bolder",
          ...(url !== null && { selectAction: { type: "Action.OpenUrl", url } })
        }
      ]
    },
    { type: "RichTextBlock", spacing: "None", inlines: [{ type: "TextRun", text }] }
  ])
})

/** Slack takes these as markup, and no other characters. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** The body of a POST to this webhook. */
export const bodyFor = (url: string, message: Message): string => {
  const hostname = URL.parse(url)?.hostname ?? ""
  const isTeams = hostsOfTeams.some((host) => hostname === host || hostname.endsWith(`.${host}`))
  return JSON.stringify(
    isTeams
      ? {
          type: "message",
          attachments: [
            {
              contentType: "application/vnd.microsoft.card.adaptive",
              contentUrl: null,
              content: card(message)
            }
          ]
        }
      : { text: escaped(blocksOf(message).join("\n\n")) }
  )
}
