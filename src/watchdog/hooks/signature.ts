import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const MIN_BYTES = 16

/**
 * The secret that a webhook's receiver shares, kept where neither logs nor errors can show it.
 * Signs as Standard Webhooks has it: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class SigningSecret {
  readonly #key: Uint8Array

  private constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Reads `whsec_` and base64, or any other text as it is. @returns why not, never with the text in it */
  static read(text: string): SigningSecret | string {
    const trimmed = text.trim()
    if (trimmed === '') return 'it is empty'
    const key = keyOf(trimmed)
    if (key === undefined) return `what follows ${PREFIX} is not base64`
    if (key.length < MIN_BYTES) return `it is too short to be one: at least ${MIN_BYTES} bytes`
    return new SigningSecret(key)
  }

  /** The value of `webhook-signature`. @param timestampS when this try is sent, whole seconds since 1970 */
  sign(id: string, timestampS: number, body: string): string {
    const signed = createHmac('sha256', this.#key).update(`${id}.${timestampS}.${body}`)
    return `v1,${signed.digest('base64')}`
  }
}

function keyOf(text: string): Uint8Array | undefined {
  if (!text.startsWith(PREFIX)) return Buffer.from(text)
  const encoded = text.slice(PREFIX.length)
  return /^[A-Za-z0-9+/_-]+=*$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined
}
