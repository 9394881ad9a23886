import { createHash, timingSafeEqual } from 'node:crypto'
import { InvalidValue } from '../../stream/errors.ts'

/** Shorter ones could be guessed. */
const SHORTEST = 16
const LONGEST = 1_024
/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const BEARER = /^bearer +([^\s]+) *$/i

/** The bearer tokens that clients may show. Only their hashes are kept. */
export class BearerTokens {
  readonly #hashes: readonly Buffer[]

  private constructor(tokens: readonly string[]) {
    this.#hashes = tokens.map(hashOf)
  }

  /**
   * Reads tokens, one a line: several while one replaces another.
   * @param called where they come from, in errors, which never quote them
   * @throws InvalidValue
   */
  static read(text: string, called: string): BearerTokens {
    const tokens = text.split(/\r?\n/).filter(line => line.trim() !== '')
    if (tokens.length === 0) throw new InvalidValue(`${called} has no token`)
    for (const token of tokens) {
      const fault = token.length < SHORTEST || token.length > LONGEST ? 'length' : TOKEN.test(token) ? '' : 'characters'
      if (fault === 'length')
        throw new InvalidValue(`${called}: a token of ${token.length} characters: it needs ${SHORTEST} to ${LONGEST}`)
      if (fault !== '')
        throw new InvalidValue(`${called}: a token has a character that is none of A-Z a-z 0-9 . _ ~ + / -`)
    }
    return new BearerTokens(tokens)
  }

  /** Whether an `Authorization` header shows one of them. Takes the same time however much of a token is right. */
  accept(authorization: string | undefined): boolean {
    const shown = BEARER.exec(authorization?.slice(0, LONGEST + 16) ?? '')?.[1]
    if (shown === undefined) return false
    const hash = hashOf(shown)
    let isAccepted = false
    for (const known of this.#hashes) if (timingSafeEqual(known, hash)) isAccepted = true
    return isAccepted
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
