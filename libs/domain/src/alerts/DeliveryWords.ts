/** Why an alert was not sent, as a sentence for people. The board's pages use it, too. */

const sentences: Readonly<Record<string, string>> = {
  "no URL": "What is saved is no address.",
  "not https": "What is saved is no https address.",
  "private address":
    "The address is of a private network, and this board sends to public ones only.",
  "no e-mail": "The board is not set up to send e-mail.",
  "no answer in time": "The server did not answer in time.",
  ETIMEDOUT: "The server did not answer in time.",
  ENOTFOUND: "No server of this name was found.",
  EDNS: "No server of this name was found.",
  EAI_AGAIN: "The name of the server could not be looked up.",
  ECONNREFUSED: "The server takes no connections.",
  ECONNRESET: "The server broke the connection off.",
  EHOSTUNREACH: "The server cannot be reached.",
  ENETUNREACH: "The server cannot be reached.",
  EAUTH: "The server did not accept the board's user and password."
}

const certificates = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/

/** The error as deliveries have it: a status, a word of the board, or a code of Node or OpenSSL. */
export const deliveryWords = (error: string): string => {
  if (/^\d+$/.test(error)) return `The server answered ${error}.`
  if (certificates.test(error)) return `The certificate of the server is not trusted (${error}).`
  return sentences[error] ?? `The connection failed (${error}).`
}
